// SPDX-License-Identifier: MIT
// The suite gguf: modelled times of products with GGUF weights, on the dense layers of models that
// people run in these types.
#include <algorithm>
#include <fmt/format.h>
#include <set>

#include "bench/gguf/tables.h"
#include "runtime/choose.h"

namespace nw::bench {

namespace {

constexpr u32 crossover_rows[] = {1,  2,  4,  6,  8,  9,  10, 12, 14, 16, 17,
                                  20, 23, 24, 25, 28, 32, 33, 40, 48, 56, 64};

// Dense ones, each once.
Layers dense_layers(const Shapes &shapes) {
    Layers out;
    std::set<std::pair<u32, u32>> seen;
    for (const LinearShape &shape : shapes)
        if (std::ranges::find(gguf_models, shape.model) != gguf_models.end() && !shape.moe &&
            seen.insert({shape.n, shape.k}).second)
            out.push_back(&shape);
    return out;
}

} // namespace

std::string name(const LinearShape &layer, const GgufShape &p) {
    return fmt::format("{} {} {} {} m{}", layer.model, layer.layer, by(p.n, p.k), p.type, p.m);
}

Json to_json(const LinearShape &layer, const GgufJob &job, const Timed &time) {
    Json row = {{"model", layer.model},
                {"layer", layer.layer},
                {"type", job.shape.type},
                {"m", job.shape.m},
                {"n", job.shape.n},
                {"k", job.shape.k},
                {"time_us", time.us},
                {"activations_us", time.before_us},
                {"_size", by(job.shape.n, job.shape.k)}};
    row.update(kernel_facts(*job.kernel));
    add_bounds(row, time.drawn);
    return row;
}

// Its legend, printed, and its columns.
static Table products_table(const Options &o, const std::string &gfx, const Bound &bound) {
    fmt::print(
        "\nProducts with GGUF weights on sim {}: modelled times, weights cold.\n"
        "m: rows of activations; convert: a launch before, of them to int8; from 9 rows on to f16 "
        "for WMMA.\n"
        "GB/s: of the weights; % bound: of {:.1f} GB/s, which DRAM sustains, without the {:.1f} "
        "us of a launch;\n"
        "/m1: time by that of one row.\n",
        gfx, bound.gb_per_s, bound.overhead_us);
    if (o.verbose)
        fmt::print("/256: wave instructions for 256 weights, of them VALU slots, and cycles that "
                   "VALU and WMMA take.\n");
    fmt::print("\n");
    return Table(std::string("model {model:<14}; layer {layer:<9}; N x K {_size:>12}; "
                             "type {type:<4}; m {m:>3}") +
                 time_columns(o, 9) +
                 ("; convert us {activations_us:>10.2f}; GB/s {gb_per_s:>6.1f}; "
                  "% bound {pct_of_bound:>7.1f}; /m1 {of_m1:>6.3f}") +
                 (o.verbose ? "; /256 {insts_per_256w:>6.2f}; VALU {_valu_per_256w:>6.2f}; "
                              "cycles {cycles_per_256w:>6.2f}; VGPRs {vgprs:>5}"
                            : ""));
}

Json gguf_products(const Options &o, const Layers &layers, const std::string &gfx) {
    const Pattern only("--only", o.only);
    std::vector<GgufJob> jobs;
    Layers of; // each job
    for (const LinearShape *layer : layers)
        for (const std::string_view type : gguf_types)
            for (u32 m : o.m) {
                const GgufShape p{type, m, layer->n, layer->k};
                if (m >= many_rows || !only.found_in(name(*layer, p)))
                    continue;
                if (const Kernel *kernel = choose_unsliced(gfx, p.op())) {
                    jobs.push_back({p, kernel});
                    of.push_back(layer);
                }
            }
    Json rows = Json::array();
    if (jobs.empty())
        return rows;
    const Bound bound = dram_bound(gfx);
    Table table = products_table(o, gfx, bound);
    OfM1 of_m1({"model", "layer", "n", "k", "type"});
    time_gguf(jobs, [&](u64 i, const Timed &time) {
        const Instructions &insts = time.launch.insts;
        const Busy &busy = time.launch.busy;
        const f64 bytes = static_cast<f64>(jobs[i].shape.weight_bytes()),
                  blocks = f64{1} * jobs[i].shape.n * jobs[i].shape.k / 256;
        Json row = to_json(*of[i], jobs[i], time);
        row.update(
            {{"gb_per_s", bytes / time.us / 1e3},
             // Without the launch overhead, which bandwidth does not shorten.
             {"pct_of_bound", 100 * (bytes / (time.us - bound.overhead_us) / 1e3 / bound.gb_per_s)},
             {"bound", "dram"},
             {"bound_gb_per_s", bound.gb_per_s},
             {"insts_per_256w", static_cast<f64>(insts.total()) / blocks},
             {"cycles_per_256w", busy.valu_and_wmma_cycles / blocks},
             {"_valu_per_256w", static_cast<f64>(insts.valu_slots()) / blocks}});
        rows.push_back(row);
        of_m1.add(rows.back());
        table.print(rows.back());
    });
    of_m1.add_all(rows);
    return rows;
}

Result run_suite(const Options &options, const Shapes &shapes) {
    Options o = options;
    if (std::ranges::find(o.tables, "crossover") != o.tables.end()) {
        if (o.m.empty())
            o.m.assign(std::begin(crossover_rows), std::end(crossover_rows));
        return {gguf_crossover(o, shapes)};
    }
    const std::string gfx = simulated_gfx(o);
    const Layers dense = dense_layers(shapes);
    if (std::ranges::find(o.tables, "fp8") != o.tables.end()) {
        if (o.m.empty())
            o.m = {2048};
        Result out{gguf_fp8(o, dense, gfx)};
        append(out.rows, gguf_fp8_moe(o, shapes, gfx));
        if (out.rows.empty())
            no_row(o, "table fp8");
        return out;
    }
    if (o.m.empty())
        o.m = {1, 2, 4, 8, 9, 16, 23, 32, 512};
    const Json few = gguf_products(o, dense, gfx);
    Result out{gguf_prefill(o, dense, gfx)};
    append(out.rows, gguf_moe(o, shapes, gfx));
    append(out.rows, few);
    if (out.rows.empty())
        no_row(o, "suite gguf");
    return out;
}

} // namespace nw::bench
