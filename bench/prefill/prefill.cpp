// SPDX-License-Identifier: MIT
// The suite prefill: modelled times of prefill_w4a16 or dot_w4a16 beside published ones of a Triton
// kernel; from a plain tile to the kernel, an idea at a time; and of activations in int8.
#include <algorithm>
#include <fmt/format.h>

#include "base/error.h"
#include "base/half.h"
#include "base/pattern.h"
#include "base/targets.h"
#include "bench/product.h"
#include "bench/published.h"
#include "bench/result.h"
#include "formats/packed/row_stride.h"
#include "measure/quantized_product.h"
#include "runtime/choose.h"

namespace nw::bench {

namespace {

constexpr u32 group = 128;

std::string name_of(const ProductShape &p) {
    return fmt::format("{} {}", by(p.k, p.n), type_name(p));
}

std::string_view pct_key(std::string_view gfx) {
    return target_of(gfx).wmma.empty() ? "pct_of_peak" : "pct_of_wmma_peak";
}

Json to_json(const DenseJob &job, const Kernel &kernel, const Timed &time) {
    const ProductShape &p = job.shape;
    Json row = {{"kernel", kernel.symbol},
                {"gfx", kernel.gfx},
                {"k", p.k},
                {"n", p.n},
                {"m", p.m},
                {"dtype", name(p.dtype)},
                {"zp", zeros_label(p.zeros)},
                {"group", p.group},
                {"time_us", time.us},
                {"_size", by(p.k, p.n)},
                {"_type", type_name(p)}};
    add_bounds(row, time.drawn);
    return row;
}

Json to_json(const DenseJob &job, const Timed &time) {
    const ProductShape &p = job.shape;
    const f64 tflops = 2e-12 * p.m * p.n * p.k / (time.us * 1e-6);
    Json row = to_json(job, *job.kernel, time);
    row["tflops"] = tflops;
    row[pct_key(job.kernel->gfx)] = 100e12 * tflops / product_peak(job.kernel->gfx, p.dtype).flops;
    return row;
}

// ---- beside published times

// "WMMA's 92.2 TFLOP/s"; one peak per type if they differ.
std::string peak_of(std::string_view gfx) {
    const auto one = [&](Dtype dtype) {
        const Peak peak = product_peak(gfx, dtype);
        return fmt::format("{}'s {:.1f} TFLOP/s", peak.by, peak.flops / 1e12);
    };
    const std::string f16 = one(Dtype::f16), bf16 = one(Dtype::bf16);
    return f16 == bf16 ? f16 : fmt::format("{} (f16), {} (bf16)", f16, bf16);
}

// Its legend, printed, and its columns.
Table published_table(const Options &o, const std::string &gfx) {
    const bool wmma = !target_of(gfx).wmma.empty();
    fmt::print(
        "W4A16 products of many tokens on sim {}: modelled times.\n"
        "type: of activations; sym: no zero points; zp: packed; carrier: with the scale; mM: "
        "tokens.\n"
        "% peak: of {}; base, tuned: TFLOP/s published of a Triton kernel "
        "on gfx1151\n(f16, asymmetric, 2048 tokens), before and after tuning.\n",
        gfx, peak_of(gfx));
    if (o.verbose)
        fmt::print("{}lds: per cent of cycles in which it is busy; confl: cycles of LDS for bank "
                   "conflicts{}.\n",
                   wmma ? "wmma, " : "", wmma ? ";\nvalu: VALU slots to a WMMA" : "");
    fmt::print("\n");
    return Table(std::string("K x N {_size:>11}; type {_type:<18}") + time_columns(o, 9) +
                 fmt::format("; TFLOP/s {{tflops:>8.2f}}; % peak {{{}:>6.1f}}; ", pct_key(gfx)) +
                 "base {published_base_tflops:>6.1f}; "
                 "tuned {published_tuned_tflops:>6.1f}" +
                 (!o.verbose ? ""
                  : wmma     ? "; tile {_tile:<8}; wmma {pct_wmma_busy:>5.1f}%; "
                               "lds {pct_lds_busy:>5.1f}%; confl {lds_conflict_cycles:>5}; "
                               "valu {valu_per_wmma:>6.2f}"
                             : "; tile {_tile:<8}; "
                               "lds {pct_lds_busy:>5.1f}%; confl {lds_conflict_cycles:>5}"));
}

// Products with the sizes of published ones, and groups of `weights` weights.
struct Jobs {
    std::vector<DenseJob> jobs;
    std::vector<PublishedPrefill> of; // each job
};
Jobs jobs_for(const Options &o, const std::string &gfx, const std::vector<Zeros> &zeros,
              u32 weights) {
    Jobs out;
    for (const PublishedPrefill &p : read_published_prefill(NW_BENCH_DATA "/prefill_gfx1151.csv"))
        for (u32 m : o.m)
            for (DenseJob &job :
                 dense_jobs(o, gfx, {p.model, "", p.n, p.k}, {zeros, {m}, weights, name_of})) {
                out.jobs.push_back(std::move(job));
                out.of.push_back(p);
            }
    if (out.jobs.empty())
        no_row(o, "suite prefill");
    return out;
}

Json published(const Options &o, const std::string &gfx) {
    const auto &[jobs, of] = jobs_for(o, gfx, {Zeros::eight, Zeros::packed, Zeros::carrier}, group);
    Table table = published_table(o, gfx);
    Json rows = Json::array();
    std::vector<f64> percents;
    const auto done = [&](u64 i, const Timed &time) {
        const Instructions &insts = time.launch.insts;
        const Busy &busy = time.launch.busy;
        const u64 wmma = insts.of("wmma"), valu = insts.valu_slots() - wmma;
        Json row = to_json(jobs[i], time);
        row.update({{"table", "published"},
                    {"model", jobs[i].model},
                    {"pct_lds_busy", 100 * busy.lds},
                    {"lds_conflict_cycles", busy.lds_conflicts},
                    {"published_base_tflops", of[i].base_tflops},
                    {"published_tuned_tflops", of[i].tuned_tflops},
                    {"_tile", by(jobs[i].kernel->number("bm"), jobs[i].kernel->number("bn"))}});
        if (wmma != 0)
            row.update({{"valu_per_wmma", static_cast<f64>(valu) / static_cast<f64>(wmma)},
                        {"pct_wmma_busy", 100 * busy.wmma}});
        percents.push_back(row[pct_key(gfx)]);
        rows.push_back(row);
        table.print(row);
    };
    time_dense(jobs, done, Warm::no);
    const auto worst = std::ranges::min_element(percents);
    fmt::print("\ngeometric mean {:.1f} % of {} peak, worst {:.1f} % ({})\n",
               geometric_mean(percents), target_of(gfx).wmma.empty() ? "the" : "WMMA's", *worst,
               name_of(jobs[static_cast<u64>(worst - percents.begin())].shape));
    return rows;
}

// ---- the ladder

struct Step {
    std::string_view idea, kernel; // the kernel without the family, dtype and group
};
constexpr Step steps[] = {
    {"plain: two stages in LDS, the next one loaded when it is due",
     "128x128_raster8_without_rotate_ahead_swizzle"},
    {"LDS free of bank conflicts", "128x128_raster8_without_rotate_ahead"},
    {"loads a stage ahead", "128x128_raster8_without_rotate"},
    {"tile 256x128", "256x128_raster8_without_rotate"},
    {"two tiles of rows at a time against many columns", "256x128_without_rotate"},
    {"k that begins elsewhere in each of the two", "256x128"},
};

// K and N: rows of a that share a DRAM channel, and rows that do not.
constexpr std::pair<u32, u32> ladder_sizes[] = {{2560, 3840}, {4096, 4096}};

const Kernel &kernel_of(const Step &step) {
    const std::string symbol = fmt::format("prefill_w4a16_f16_g{}_{}", group, step.kernel);
    if (const Kernel *kernel = find_kernel(published_gfx, symbol))
        return *kernel;
    throw Error(fmt::format("{} is not in this build, which the ladder needs: build {}", symbol,
                            published_gfx));
}

Json ladder(const Options &o) {
    const Pattern only("--only", o.only);
    std::vector<DenseJob> jobs;
    std::vector<std::string_view> ideas;
    for (const auto &[k, n] : ladder_sizes)
        for (u32 m : o.m)
            for (const Step &step : steps) {
                const ProductShape p{
                    Dtype::f16, Zeros::eight, m, n, k, group, weight_row_stride(published_gfx, k)};
                if (!only.found_in(name_of(p)))
                    continue;
                jobs.push_back({p, &kernel_of(step)});
                ideas.push_back(step.idea);
            }
    if (jobs.empty())
        no_row(o, "the ladder");
    fmt::print(
        "\nFrom a plain tile to prefill_w4a16 on sim {}, an idea at a time: modelled times.\n"
        "f16, symmetric; m: tokens; peak: of WMMA's {:.1f} TFLOP/s.\n\n",
        published_gfx, product_peak(published_gfx).flops / 1e12);
    Table table("K x N {_size:>9}; m {m:>4}; time us {time_us:>8.1f}; TFLOP/s {tflops:>7.2f}; "
                "peak {pct_of_wmma_peak:>4.1f}%; with {with}");
    Json rows = Json::array();
    const auto done = [&](u64 i, const Timed &time) {
        rows.push_back(to_json(jobs[i], time));
        rows.back().update({{"table", "ladder"}, {"with", ideas[i]}});
        table.print(rows.back());
    };
    time_dense(jobs, done, Warm::no);
    return rows;
}

// ---- activations in int8

Json to_json(const DenseJob &job, const Timed &int8, f64 other_us) {
    const f64 product_us = int8.us - int8.before_us;
    Json row =
        to_json(job, *quantized_kernels(job.kernel->gfx, int8_product(job.shape)).product, int8);
    row.update({{"table", "int8"},
                {"model", job.model},
                {"rows_us", int8.before_us},
                {"product_us", product_us},
                {"other_kernel", job.kernel->symbol},
                {"other_us", other_us},
                {"speedup", other_us / product_us},
                {"speedup_with_rows", other_us / int8.us}});
    return row;
}

Json in_int8(const Options &o, const std::string &gfx) {
    const std::vector<DenseJob> jobs =
        jobs_for(o, gfx, {Zeros::eight, Zeros::packed}, o.group).jobs;
    if (target_of(gfx).wmma.empty())
        throw Usage(fmt::format("--table int8: {} has no such kernels", gfx));
    fmt::print("\nW4A16 products of activations in int8 (prefill_w4a8) on sim {}, groups of {}: "
               "modelled times.\n"
               "type: of scales; 16 bits: the product of such activations; rows: quantize_rows, "
               "once for all\nproducts of the same activations; time us: with it; gain: 16 bits by "
               "int8, then with rows.\n\n",
               gfx, o.group);
    const std::vector<Timed> others = time_dense(jobs, {}, Warm::no);
    Table table(std::string("K x N {_size:>11}; type {_type:<14}; 16 bits {other_us:>8.1f}; "
                            "int8 {product_us:>8.1f}; rows {rows_us:>6.1f}") +
                time_columns(o, 9) + "; gain {speedup:>5.2f}; with rows {speedup_with_rows:>9.2f}");
    Json rows = Json::array();
    std::vector<f64> gains;
    time_int8(jobs, [&](u64 i, const Timed &time) {
        rows.push_back(to_json(jobs[i], time, others[i].us));
        gains.push_back(rows.back()["speedup"]);
        table.print(rows.back());
    });
    fmt::print("\ngeometric mean of the gain {:.2f}\n", geometric_mean(gains));
    return rows;
}

} // namespace

Result run_suite(const Options &o, const Shapes &) {
    const std::string gfx = simulated_gfx(o);
    Result out;
    if (wanted(o, "published", true))
        append(out.rows, published(o, gfx));
    if (wanted(o, "ladder", false))
        append(out.rows, ladder(o));
    if (wanted(o, "int8", false))
        append(out.rows, in_int8(o, gfx));
    return out;
}

} // namespace nw::bench
