// SPDX-License-Identifier: MIT
#include "bench/decode/ablations.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>

#include "base/half.h"
#include "bench/decode/published_times.h"
#include "bench/decode_times.h"
#include "formats/row_stride.h"
#include "runtime/choice.h"

namespace nw::bench {

namespace {

using Json = nlohmann::json;

// K and N: start-up counts, bandwidth does, few rows.
constexpr std::pair<u32, u32> sizes[] = {{2048, 2048}, {4096, 4096}, {12288, 4096}, {8192, 512}};

constexpr std::string_view legend =
    "  newer unpacking        v_perm_b32, f16 subnormals; without: magic\n"
    "  bias correction        in what sums start at; without: 8 is taken off each weight (f32, "
    "pk)\n"
    "  activations first      T-023\n"
    "  workgroups that stay   go from rows to rows; without: one for each of their rows\n";

// A product with everything, where `idea` is empty, or without one idea.
struct Ablation {
    std::string idea;
    DecodeJob job;
    DecodeTime time;
    u64 with = 0; // the row of the same product with everything
};

// The kernel that differs from the chosen one in this parameter alone; null: none is built.
const Kernel *changed(const Kernel &chosen, std::string_view key, std::string_view value) {
    const auto fits = [&](const KernelParam &p) {
        return p.value == (p.key == key ? value : chosen.param(p.key));
    };
    for (const Kernel &k : kernels())
        if (k.gfx == chosen.gfx && k.family == chosen.family && std::ranges::all_of(k.params, fits))
            return &k;
    return nullptr;
}

void add_product(std::vector<Ablation> &out, const ProductShape &p) {
    const bool bf16 = p.dtype == Dtype::bf16;
    const u64 with = out.size();
    // What the variants of gen/kernels.toml have, whatever was tuned.
    const Kernel &chosen = choose(published_gfx, p.dtype, p.group, p.m, p.zeros);
    out.push_back({"", {p, "", "", &chosen}, {}, with});
    const auto add = [&](std::string_view idea, std::string_view key, std::string_view value) {
        if (const Kernel *kernel = changed(chosen, key, value))
            out.push_back({std::string(idea), {p, "", "", kernel}, {}, with});
    };
    add("newer unpacking", "dequant", "magic");
    add("bias correction", "dequant", bf16 ? "f32" : "pk");
    add("VOPD", "without", "vopd");
    add("sums once per workgroup", "without", "sums");
    add("wide scale loads", "without", "wide");
    add("activations first", "without", "barrier");
    out.push_back({"workgroups that stay", {p, "", "", &chosen, Workgroups::one_round}, {}, with});
    if (const u32 row_bytes = p.k / 2; p.w_stride != row_bytes) {
        out.push_back({"padding", {p, "", "", &chosen}, {}, with});
        out.back().job.shape.w_stride = row_bytes;
    }
}

std::vector<Ablation> timed(const std::regex &only) {
    std::vector<Ablation> out;
    for (const auto &[k, n] : sizes)
        for (Dtype dtype : {Dtype::bf16, Dtype::f16})
            for (u32 m : {1, 4, 8}) {
                const ProductShape p{
                    dtype, Zeros::eight, m, n, k, 128, weight_row_stride(published_gfx, k)};
                if (std::regex_search(name(p), only))
                    add_product(out, p);
            }
    std::vector<DecodeJob> jobs;
    for (const Ablation &a : out)
        jobs.push_back(a.job);
    const std::vector<DecodeTime> times = time_decode(jobs);
    for (u64 i = 0; i < out.size(); ++i)
        out[i].time = times[i];
    return out;
}

f64 time_ratio(const std::vector<Ablation> &all, const Ablation &a) {
    return a.time.us / all[a.with].time.us;
}

void print_rows(const std::vector<Ablation> &all) {
    fmt::print("\nWhat each idea is worth, on sim {}, weights cold: times and VALU slots per 8 "
               "weights with everything,\nand without one idea\n{}\n"
               "{:>12} {:>4} {:<11} {:<24} {:>8} {:>8}  {:>6} {:>7}\n",
               published_gfx, legend, "K x N", "g", "type", "without", "us", "", "slots", "");
    for (const Ablation &a : all) {
        if (a.idea.empty())
            fmt::print("{} {:<24} {:>8.2f} {:>8}  {:>6.2f}\n", columns(a.job.shape), "-", a.time.us,
                       "", a.time.slots);
        else
            fmt::print("{:>29} {:<24} {:>8.2f} {:>+7.1f}%  {:>6.2f} {:>+7.2f}\n", "", a.idea,
                       a.time.us, 100 * (time_ratio(all, a) - 1), a.time.slots,
                       a.time.slots - all[a.with].time.slots);
    }
}

void print_means(const std::vector<Ablation> &all) {
    std::map<std::string, std::vector<f64>> logs;
    for (const Ablation &a : all)
        if (!a.idea.empty())
            logs[fmt::format("m{} without {}", a.job.shape.m, a.idea)].push_back(
                std::log(time_ratio(all, a)));
    fmt::print("\nGeometric means over these sizes and types\n");
    for (const auto &[what, of] : logs) {
        f64 sum = 0;
        for (f64 log : of)
            sum += log;
        fmt::print("{:<34} {:>+6.1f}% time\n", what,
                   100 * (std::exp(sum / static_cast<f64>(of.size())) - 1));
    }
}

} // namespace

Json decode_ablations(const std::regex &only) {
    const std::vector<Ablation> all = timed(only);
    Json json = Json::array();
    if (all.empty())
        return json;
    print_rows(all);
    print_means(all);
    const Bound bound = dram_bound(std::string(published_gfx));
    for (const Ablation &a : all) {
        Json row = to_json(a.job, a.time, bound);
        row["table"] = "ablations";
        row["without"] = a.idea;
        row["time_ratio"] = time_ratio(all, a);
        row["slots_with"] = all[a.with].time.slots;
        json.push_back(row);
    }
    return json;
}

} // namespace nw::bench
