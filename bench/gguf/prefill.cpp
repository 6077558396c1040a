// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "bench/gguf/tables.h"
#include "runtime/plan.h"

namespace nw::bench {

namespace {

// The cheapest tile of the family for many rows, if there is one for this type.
const Kernel *tile_for(const std::string &gfx, const Op &op) {
    const Kernel *out = nullptr;
    for (const Kernel *kernel : kernels_for(gfx, op))
        if (kernel->family == "gguf_prefill" || kernel->family == "dot_gguf")
            out = cheapest_of_family(*kernel, op);
    return out;
}

// VALU slots of a wave per stage of 32 k; a stage has `of_stage` WMMA, if any.
f64 valu_of_stage(const Kernel &kernel, const GgufShape &p, const Instructions &insts) {
    const u32 bm = kernel.number("bm"), bn = kernel.number("bn"), waves = kernel.number("waves");
    const f64 wmma = static_cast<f64>(insts.of("wmma")),
              valu = static_cast<f64>(insts.valu_slots()) - wmma;
    if (wmma > 0) // two for each of its parts of 16 x 16 of the tile
        return valu / wmma * (bm * bn / 128 / waves);
    const u32 parts = kernel.param("parts").empty() ? 1 : kernel.number("parts");
    const f64 tiles = static_cast<f64>(ceil_div(p.m, bm)) * ceil_div(p.n, bn);
    return valu / (tiles * waves / parts * p.k / 32);
}

} // namespace

Json gguf_prefill(const Options &o, const Layers &layers, const std::string &gfx) {
    const Pattern only("--only", o.only);
    std::vector<GgufJob> jobs;
    Layers of; // each job
    for (const LinearShape *layer : layers)
        for (const std::string_view type : gguf_types)
            for (u32 m : o.m) {
                const GgufShape p{type, m, layer->n, layer->k};
                if (m < many_rows || p.k % find_ggml_type(type)->elements ||
                    !only.found_in(name(*layer, p)))
                    continue;
                if (const Kernel *tile = tile_for(gfx, p.op())) {
                    jobs.push_back({p, tile});
                    of.push_back(layer);
                }
            }
    Json rows = Json::array();
    if (jobs.empty())
        return rows;
    const Peak peak = gguf_peak(gfx);
    const bool wmma = peak.by == "WMMA";
    fmt::print(
        "\nProducts of many rows with GGUF weights on sim {}: modelled times, weights cold.\n"
        "m: rows of activations; convert: a launch before, activations to {}; peak: of "
        "{}'s {:.1f} TFLOP/s.\n{}\n",
        gfx, wmma ? "f16" : "int8", peak.by, peak.flops / 1e12,
        o.verbose ? "wmma: cycles in which it is busy; valu: VALU slots of a wave to a stage "
                    "of 32 k.\n"
                  : "");
    Table table(std::string("model {model:<14}; layer {layer:<9}; N x K {_size:>12}; "
                            "type {type:<4}; m {m:>5}") +
                time_columns(o, 10) +
                ("; convert us {activations_us:>10.2f}; TFLOP/s {tflops:>8.2f}; "
                 "% peak {pct_of_bound:>6.1f}") +
                (o.verbose ? "; tile {_tile:>8}; wmma {pct_wmma_busy:>5.1f}%; "
                             "valu {valu_per_stage:>6.1f}; VGPRs {vgprs:>5}"
                           : ""));
    time_gguf_prefill(jobs, [&](u64 i, const Timed &time) {
        const Kernel &kernel = *jobs[i].kernel;
        const auto &[type, m, n, k] = jobs[i].shape;
        const f64 operations = 2.0 * m * n * k;
        Json row = to_json(*of[i], jobs[i], time);
        row.update({{"tflops", operations / time.us / 1e6},
                    {"pct_of_bound", 100 * (operations / (time.us * 1e-6) / peak.flops)},
                    {"bound", wmma ? "wmma" : "valu"},
                    {"pct_wmma_busy", 100 * time.launch.busy.wmma},
                    {"valu_per_stage", valu_of_stage(kernel, jobs[i].shape, time.launch.insts)},
                    {"_tile", by(kernel.number("bm"), kernel.number("bn"))}});
        rows.push_back(row);
        table.print(row);
    });
    return rows;
}

} // namespace nw::bench
