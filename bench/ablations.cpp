// SPDX-License-Identifier: MIT
#include "ablations.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/half.h"
#include "decode_published.h"
#include "decode_times.h"
#include "formats/row_stride.h"

namespace nw::bench {

namespace {

using Json = nlohmann::json;

// With the idea and without: times of the same product.
struct Ablation {
    std::string idea;
    DecodeJob with, without;
};

// What the variants of gen/kernels.toml have for a product, whatever was tuned.
const Kernel &variant(const ProductShape &p) {
    for (const Kernel &k : kernels())
        if (!k.reference && !k.candidate && k.gfx == published_gfx && k.family == "decode_w4a16" &&
            k.param("dtype") == nw::name(p.dtype) && k.param("group") == "128" &&
            k.param("zeros") == "" && k.param("m") == "1")
            return k;
    throw Error(fmt::format("{} has no variant for {}", published_gfx, name(p)));
}

// Of the kernels that stand beside the chosen one, that with this parameter; null: none is built.
const Kernel *reference(const Kernel &chosen, std::string_view key, std::string_view value) {
    for (const Kernel &k : kernels())
        if (k.reference && k.gfx == chosen.gfx && k.family == chosen.family &&
            k.param("dtype") == chosen.param("dtype") &&
            k.param("group") == chosen.param("group") &&
            k.param("zeros") == chosen.param("zeros") && k.param("m") == chosen.param("m") &&
            k.param(key) == value)
            return &k;
    return nullptr;
}

void add(std::vector<Ablation> &out, const std::string &idea, const DecodeJob &with,
         const Kernel *kernel, u64 w_stride) {
    if (!kernel)
        return;
    DecodeJob without = with;
    without.kernel = kernel;
    without.shape.w_stride = w_stride;
    out.push_back({idea, with, without});
}

std::vector<Ablation> ablations(const std::regex &only) {
    std::vector<Ablation> out;
    for (const auto &[n, k] : {std::pair{2048u, 2048u}, {4096u, 4096u}, {4096u, 14336u}})
        for (Dtype dtype : {Dtype::bf16, Dtype::f16}) {
            const ProductShape p{
                dtype, Zeros::eight, 1, n, k, 128, weight_row_stride(published_gfx, k)};
            if (!std::regex_search(name(p), only))
                continue;
            const Kernel &chosen = variant(p);
            const DecodeJob with{p, "", "", &chosen};
            add(out, "bias correction", with,
                reference(chosen, "dequant", dtype == Dtype::bf16 ? "f32" : "pk"), p.w_stride);
            if (p.w_stride != k / 2)
                add(out, "padding", with, &chosen, k / 2);
        }
    return out;
}

} // namespace

Json decode_ablations(const std::regex &only) {
    const std::vector<Ablation> all = ablations(only);
    Json json = Json::array();
    if (all.empty())
        return json;
    std::vector<DecodeJob> jobs;
    for (const Ablation &a : all) {
        jobs.push_back(a.with);
        jobs.push_back(a.without);
    }
    const std::vector<DecodeTime> times = time_decode(jobs);
    const Bound bound = dram_bound(std::string(published_gfx));
    fmt::print("\nWhat each idea is worth, on sim {}: us and VALU slots per 8 weights with it and "
               "without\n\n{:>12} {:>4} {:<11} {:<24} {:>8} {:>8} {:>7} | {:>6} {:>7}\n",
               published_gfx, "K x N", "g", "type", "idea", "us", "without", "ratio", "slots",
               "without");
    for (u64 i = 0; i < all.size(); ++i) {
        const DecodeTime with = times[2 * i], without = times[2 * i + 1];
        fmt::print("{} {:<24} {:>8.2f} {:>8.2f} {:>7.3f} | {:>6.2f} {:>7.2f}\n",
                   columns(all[i].with.shape), all[i].idea, with.us, without.us,
                   without.us / with.us, with.slots, without.slots);
        Json row = to_json(all[i].without, without, bound);
        row["table"] = "ablations";
        row["without"] = all[i].idea;
        row["time_ratio"] = without.us / with.us;
        row["slots_with"] = with.slots;
        json.push_back(row);
    }
    return json;
}

} // namespace nw::bench
