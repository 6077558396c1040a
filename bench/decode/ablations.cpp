// SPDX-License-Identifier: MIT
// Gain of each optimization in decode_w4a16.
#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "bench/decode/tables.h"
#include "bench/published.h"
#include "formats/packed/row_stride.h"

namespace nw::bench {

namespace {

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
    DenseJob job;
    u64 with = 0; // the row of the same product with everything
};

// The kernel that differs from the chosen one in this parameter alone; null: none is built.
const Kernel *changed(const Kernel &chosen, std::string_view key, std::string_view value) {
    for (const Kernel &k : kernels(chosen.gfx))
        if (k.family == chosen.family &&
            std::ranges::all_of(k.contract->parameters, [&](const ParameterName &p) {
                return k.param(p.name) == (p.name == key ? value : chosen.param(p.name));
            }))
            return &k;
    return nullptr;
}

void add_product(std::vector<Ablation> &out, const ProductShape &p) {
    const u64 with = out.size();
    // Parameters of the variants of asm/decode_w4a16/family.toml, regardless of tuning.
    const Kernel &chosen = cheapest(published_gfx, p.op());
    out.push_back({"", {p, &chosen}, with});
    const auto add = [&](std::string_view idea, std::string_view key, std::string_view value) {
        if (const Kernel *kernel = changed(chosen, key, value))
            out.push_back({std::string(idea), {p, kernel}, with});
    };
    add("newer unpacking", "dequant", "magic");
    add("bias correction", "dequant", p.dtype == Dtype::bf16 ? "f32" : "pk");
    add("VOPD", "without", "vopd");
    add("sums once per workgroup", "without", "sums");
    add("wide scale loads", "without", "wide");
    add("activations first", "without", "barrier");
    out.push_back({"workgroups that stay", {p, &chosen, Workgroups::one_round}, with});
    if (const u32 row_bytes = p.k / 2; p.w_stride != row_bytes) {
        out.push_back({"padding", {p, &chosen}, with});
        out.back().job.shape.w_stride = row_bytes;
    }
}

// Times them and prints each.
Json rows_of(const std::vector<Ablation> &all, Table &table) {
    std::vector<DenseJob> jobs;
    std::vector<DrawnTime> times;
    for (const Ablation &a : all)
        jobs.push_back(a.job);
    const Bound bound = dram_bound(std::string(published_gfx));
    Json rows = Json::array();
    time_dense(jobs, [&](u64 i, const Timed &time) {
        times.push_back(time.drawn);
        Json row = to_json(jobs[i], time, bound);
        row["_sign"] = all[i].with == i ? "" : agreement(time.drawn, times[all[i].with]);
        if (all[i].with != i && !time.drawn.draws.empty())
            row["draws_with_sign"] = draws_that_agree(time.drawn, times[all[i].with]);
        const Json with = all[i].with == i ? row : rows[all[i].with];
        const f64 ratio = time.us / with["time_us"].get<f64>(), slots = row["valu_slots_per_8w"];
        row.update({{"table", "ablations"},
                    {"without", all[i].idea},
                    {"time_ratio", ratio},
                    {"slots_with", with["valu_slots_per_8w"]}});
        if (all[i].idea.empty())
            row.update(
                {{"_group", row["group"]}, {"_without", "-"}, {"_more", ""}, {"_more_slots", ""}});
        else
            row.update(
                {{"_size", ""},
                 {"_group", ""},
                 {"_type", ""},
                 {"_without", all[i].idea},
                 {"_more", fmt::format("{:+.1f}%", 100 * (ratio - 1))},
                 {"_more_slots", fmt::format("{:+.2f}", slots - row["slots_with"].get<f64>())}});
        rows.push_back(row);
        table.print(row);
    });
    return rows;
}

void print_means(const Json &rows) {
    std::map<std::string, std::vector<f64>> ratios;
    for (const Json &row : rows)
        if (row["without"] != "")
            ratios[fmt::format("m{} without {}", row["m"].get<u32>(),
                               row["without"].get<std::string>())]
                .push_back(row["time_ratio"]);
    fmt::print("\nGeometric means over these sizes and types\n");
    for (const auto &[what, of] : ratios)
        fmt::print("{:<34} {:>+6.1f}% time\n", what, 100 * (geometric_mean(of) - 1));
}

} // namespace

Json decode_ablations(const Options &o, const Pattern &only) {
    std::vector<Ablation> all;
    for (const auto &[k, n] : sizes)
        for (Dtype dtype : {Dtype::bf16, Dtype::f16})
            for (u32 m : {1, 4, 8}) {
                const ProductShape p{
                    dtype, Zeros::eight, m, n, k, 128, weight_row_stride(published_gfx, k)};
                if (only.found_in(name(p)))
                    add_product(all, p);
            }
    if (all.empty())
        return Json::array();
    fmt::print("\nWhat each idea is worth, on sim {}: modelled times, weights cold, with "
               "everything and without\none idea; slots: VALU issue slots per 8 weights and lane\n"
               "{}\n",
               published_gfx, legend);
    Table table("K x N {_size:>11}; group {_group:>5}; type {_type:<11}; without {_without:<23}" +
                time_columns(o, 8) + "; {_more:>8}" + (o.uncertainty ? "; sign {_sign:>4}" : "") +
                "; slots {valu_slots_per_8w:>7.2f}" + (o.uncertainty ? "" : "; {_more_slots:>7}"));
    const Json rows = rows_of(all, table);
    print_means(rows);
    return rows;
}

} // namespace nw::bench
