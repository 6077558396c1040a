// SPDX-License-Identifier: MIT
// The table fp8 of the suite gguf: experts of activations in fp8 beside those in f16.
#include <algorithm>
#include <fmt/format.h>

#include "bench/gguf/tables.h"
#include "measure/quantized_product.h"
#include "measure/routes.h"
#include "runtime/choose.h"

namespace nw::bench {

namespace {

// Experts of such weights, in models that have them so.
constexpr std::string_view fp8_model = "gpt-oss-20b", fp8_type = "mxfp4";

struct ExpertJobs {
    std::vector<GgufMoeJob> jobs; // with the kernel that the library chooses for f16
    Layers of;                    // each job
};

ExpertJobs expert_jobs(const Options &o, const Shapes &shapes, const std::string &gfx) {
    const Pattern only("--only", o.only);
    ExpertJobs out;
    for (const LinearShape &layer : shapes)
        for (u32 tokens : o.m) {
            if (!layer.moe || layer.model != fp8_model || tokens < many_rows)
                continue;
            const GgufMoeShape p{fp8_type,
                                 tokens,
                                 layer.n,
                                 layer.k,
                                 layer.experts,
                                 layer.top_k,
                                 layer.layer == "down"};
            const std::string name = fmt::format("{} {} {} {} t{}", layer.model, layer.layer,
                                                 by(p.n, p.k), p.type, tokens);
            if (!only.found_in(name))
                continue;
            out.jobs.push_back(
                {p, &choose(gfx, p.op()),
                 random_routes(tokens, p.experts, p.top_k, Rng(o.seed).fork(tokens))});
            out.of.push_back(&layer);
        }
    return out;
}

Json to_json(const LinearShape &layer, const GgufMoeJob &job, const Timed &fp8, const Timed &f16,
             const Peak &peak) {
    const GgufMoeShape &p = job.shape;
    const Kernel &kernel = *quantized_kernels(job.kernel->gfx, fp8_experts(p)).product;
    Json row = {{"model", layer.model},
                {"layer", layer.layer},
                {"type", p.type},
                {"m", p.tokens},
                {"n", p.n},
                {"k", p.k},
                {"block_size", block_size(kernel)},
                {"activations_us", fp8.before_us},
                {"time_us", fp8.us + fp8.before_us},
                {"_size", by(p.n, p.k)}};
    row.update(to_json(Fp8Gain{2.0 * p.slots() * p.n * p.k, fp8.us, fp8.before_us, *job.kernel,
                               f16.us, f16.before_us},
                       peak));
    row.update(kernel_facts(kernel));
    add_bounds(row, fp8.drawn);
    return row;
}

} // namespace

Json gguf_fp8_moe(const Options &o, const Shapes &shapes, const std::string &gfx) {
    const auto &[jobs, of] = expert_jobs(o, shapes, gfx);
    Json rows = Json::array();
    if (jobs.empty())
        return rows;
    const Peak peak = fp8_peak(gfx);
    fmt::print(
        "\nExperts of activations in fp8 (moe_prefill_fp8) on sim {}: modelled times.\n"
        "Routes are random. f16, fp8: the products; before: quantize_fp8 and lists of slots;\n"
        "time us: with these; peak: of {}'s {:.1f} TFLOP/s; gain: f16 by fp8, then both with "
        "their launches before.\n\n",
        gfx, peak.by, peak.flops / 1e12);
    const std::vector<Timed> others = time_gguf_moe(jobs, {}, Warm::no);
    Table table(std::string("layer {layer:<7}; N x K {_size:>10}; type {type:<5}; tokens {m:>6}; "
                            "f16 {other_product_us:>8.1f}; fp8 {product_us:>8.1f}; "
                            "before {activations_us:>6.1f}") +
                time_columns(o, 9) +
                "; % peak {pct_of_bound:>6.1f}; gain {speedup:>5.2f}; "
                "with before {speedup_with_rows:>11.2f}");
    time_fp8_moe(jobs, [&](u64 i, const Timed &time) {
        rows.push_back(to_json(*of[i], jobs[i], time, others[i], peak));
        table.print(rows.back());
    });
    return rows;
}

} // namespace nw::bench
