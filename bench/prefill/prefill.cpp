// SPDX-License-Identifier: MIT
#include "bench/prefill/prefill.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/half.h"
#include "bench/decode_times.h"
#include "bench/part_constants.h"
#include "bench/prefill/ladder.h"
#include "bench/prefill_times.h"
#include "bench/published.h"
#include "runtime/tile.h"

namespace nw::bench {

namespace {

using Json = nlohmann::json;

Json to_json(const PrefillJob &job, const PrefillTime &r, f64 peak) {
    return {{"table", "published"},
            {"kernel", job.kernel->symbol},
            {"gfx", job.kernel->gfx},
            {"model", job.shape.model},
            {"k", job.shape.k},
            {"n", job.shape.n},
            {"m", job.m},
            {"dtype", name(job.dtype)},
            {"zp", job.zeros_label()},
            {"group", prefill_group},
            {"time_us", r.us},
            {"tflops", r.tflops(job)},
            {"pct_of_wmma_peak", 100e12 * r.tflops(job) / peak},
            {"valu_per_wmma", static_cast<f64>(r.valu) / static_cast<f64>(r.wmma)},
            {"pct_wmma_busy", 100 * r.busy.wmma},
            {"pct_lds_busy", 100 * r.busy.lds},
            {"lds_conflict_cycles", r.busy.lds_conflicts},
            {"published_base_tflops", job.shape.base_tflops},
            {"published_tuned_tflops", job.shape.tuned_tflops}};
}

std::vector<PrefillJob> jobs_of(const Options &o, const std::string &gfx) {
    const std::regex only = only_pattern(o);
    std::vector<PrefillJob> out;
    for (const PublishedPrefill &p : read_published_prefill(NW_BENCH_DATA "/prefill_gfx1151.csv"))
        for (u32 m : o.m)
            for (Dtype dtype : o.dtypes)
                for (Zeros zeros : {Zeros::eight, Zeros::packed, Zeros::carrier}) {
                    PrefillJob job{p, m, dtype, zeros, nullptr};
                    if (!std::regex_search(job.name(), only))
                        continue;
                    job.kernel = &choose_prefill(gfx, dtype, prefill_group, zeros, m, p.n, p.k);
                    out.push_back(std::move(job));
                }
    if (out.empty())
        throw Usage(fmt::format("--only {}: no row of suite prefill has such a name", o.only));
    return out;
}

Json published(const Options &o, const std::string &gfx) {
    const std::vector<PrefillJob> jobs = jobs_of(o, gfx);
    const f64 peak = wmma_peak(gfx);
    const std::vector<PrefillTime> times = time_prefill(jobs);
    fmt::print("W4A16 products of many tokens on sim {}: TFLOP/s, % of WMMA's peak ({:.1f}), % of "
               "cycles in which WMMA\nand LDS are busy, cycles of LDS for bank conflicts, VALU "
               "slots to a WMMA; and as published of a\nTriton kernel on gfx1151 (f16, asymmetric, "
               "m 2048), before and after tuning\n\n"
               "{:>12} {:<18} {:<8} {:>9} {:>8} {:>6} {:>6} {:>6} {:>5} {:>6} {:>6} {:>6}\n",
               gfx, peak / 1e12, "K x N", "type", "tile", "us", "TFLOP/s", "peak", "wmma", "lds",
               "confl", "valu", "base", "tuned");
    Json rows = Json::array();
    f64 mean = 0, worst = 1e9;
    std::string worst_name;
    for (u64 i = 0; i < jobs.size(); ++i) {
        const PrefillJob &job = jobs[i];
        const Json row = to_json(job, times[i], peak);
        const f64 pct = row.at("pct_of_wmma_peak");
        const PrefillTime &r = times[i];
        fmt::print("{:>12} {:<18} {:<8} {:>9.1f} {:>8.2f} {:>5.1f}% {:>5.1f}% {:>5.1f}% {:>5} "
                   "{:>6.2f} {:>6.1f} {:>6.1f}\n",
                   job.size(), job.type(), job.tile(), r.us, r.tflops(job), pct, 100 * r.busy.wmma,
                   100 * r.busy.lds, r.busy.lds_conflicts, row.at("valu_per_wmma").get<f64>(),
                   job.shape.base_tflops, job.shape.tuned_tflops);
        mean += std::log(pct) / static_cast<f64>(jobs.size());
        if (pct < worst)
            worst = pct, worst_name = job.name();
        rows.push_back(row);
    }
    fmt::print("\ngeometric mean {:.1f} % of WMMA's peak, worst {:.1f} % ({})\n", std::exp(mean),
               worst, worst_name);
    return rows;
}

bool wanted(const Options &o, std::string_view table) {
    return o.tables.empty() ? table == "published"
                            : std::ranges::find(o.tables, table) != o.tables.end();
}

} // namespace

Json run_prefill(const Options &o) {
    const std::string gfx = simulated_gfx(o);
    Json rows = Json::array();
    if (wanted(o, "published"))
        rows = published(o, gfx);
    if (wanted(o, "ladder"))
        for (const Json &row : prefill_ladder(o))
            rows.push_back(row);
    return rows;
}

} // namespace nw::bench
