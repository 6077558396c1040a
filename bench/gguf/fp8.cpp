// SPDX-License-Identifier: MIT
// The table fp8 of the suite gguf: products of activations in fp8 beside those in f16.
#include <algorithm>
#include <fmt/format.h>
#include <iterator>

#include "bench/gguf/tables.h"
#include "measure/quantized_product.h"

namespace nw::bench {

namespace {

bool has_fp8(std::string_view gfx, std::string_view type) {
    return std::ranges::any_of(kernels(gfx), [&](const Kernel &kernel) {
        return kernel.contract->op == OpKind::linear_gguf_fp8 && kernel.param("type") == type;
    });
}

// Products that have kernels for either, with the kernel that the library chooses for f16.
struct Jobs {
    std::vector<GgufJob> jobs;
    Layers of; // each job
};

Jobs jobs_for(const Options &o, const Layers &layers, const std::string &gfx) {
    const Pattern only("--only", o.only);
    Jobs out;
    std::vector<std::string_view> types;
    std::ranges::copy_if(gguf_types, std::back_inserter(types),
                         [&](std::string_view type) { return has_fp8(gfx, type); });
    if (types.empty())
        throw Usage(fmt::format("--table fp8: {} has no such kernels", gfx));
    for (const LinearShape *layer : layers)
        for (const std::string_view type : types)
            for (u32 m : o.m) {
                const GgufShape p{type, m, layer->n, layer->k};
                const Kernel *f16 = choose_unsliced(gfx, p.op());
                if (f16 && only.found_in(name(*layer, p))) {
                    out.jobs.push_back({p, f16});
                    out.of.push_back(layer);
                }
            }
    return out;
}

Json to_json(const LinearShape &layer, const GgufJob &job, const Timed &fp8, const Timed &f16,
             const Peak &peak) {
    const auto &[type, m, n, k] = job.shape;
    const Kernel &kernel = *quantized_kernels(job.kernel->gfx, fp8_product(job.shape)).product;
    Json row = to_json(layer, {job.shape, &kernel}, fp8);
    row.update(to_json(Fp8Gain{2.0 * m * n * k, fp8.us - fp8.before_us, fp8.before_us, *job.kernel,
                               f16.us, f16.before_us},
                       peak));
    return row;
}

} // namespace

Json to_json(const Fp8Gain &g, const Peak &fp8) {
    const f64 flops = g.operations / (g.us * 1e-6), all_us = g.us + g.before_us,
              f16_all_us = g.f16_us + g.f16_before_us;
    return {{"table", "fp8"},
            {"product_us", g.us},
            {"tflops", flops / 1e12},
            {"pct_of_bound", 100 * flops / fp8.flops},
            {"bound", "fp8_wmma"},
            {"other_kernel", g.f16_kernel.symbol},
            {"other_product_us", g.f16_us},
            {"other_us", f16_all_us},
            {"speedup", g.f16_us / g.us},
            {"speedup_with_rows", f16_all_us / all_us}};
}

Json gguf_fp8(const Options &o, const Layers &layers, const std::string &gfx) {
    const auto &[jobs, of] = jobs_for(o, layers, gfx);
    Json rows = Json::array();
    if (jobs.empty())
        return rows;
    const Peak peak = fp8_peak(gfx);
    fmt::print("\nProducts of activations in fp8 (prefill_fp8) on sim {}: modelled times.\n"
               "f16, fp8: the products; rows: quantize_fp8, once for all products of the same "
               "activations;\ntime us: with it; peak: of {}'s {:.1f} TFLOP/s; gain: f16 by fp8, "
               "then each with its conversion.\n\n",
               gfx, peak.by, peak.flops / 1e12);
    const std::vector<Timed> others = time_gguf_prefill(jobs);
    Table table(std::string("N x K {_size:>12}; type {type:<5}; m {m:>5}; "
                            "f16 {other_product_us:>8.1f}; fp8 {product_us:>8.1f}; "
                            "rows {activations_us:>6.1f}") +
                time_columns(o, 9) +
                "; % peak {pct_of_bound:>6.1f}; gain {speedup:>5.2f}; "
                "with rows {speedup_with_rows:>9.2f}");
    std::vector<f64> gains;
    time_fp8(jobs, [&](u64 i, const Timed &time) {
        rows.push_back(to_json(*of[i], jobs[i], time, others[i], peak));
        gains.push_back(rows.back()["speedup"]);
        table.print(rows.back());
    });
    fmt::print("\ngeometric mean of the gain {:.2f}\n", geometric_mean(gains));
    return rows;
}

} // namespace nw::bench
