// SPDX-License-Identifier: MIT
// The suite decode: the chosen kernels of decode_w4a16 in modelled time.
#include <fmt/format.h>
#include <set>

#include "bench/decode/tables.h"
#include "bench/published.h"

namespace nw::bench {

namespace {

// The dense layers of models at several batches.
Json decode_shapes(const Options &o, const Shapes &shapes) {
    const std::string gfx = simulated_gfx(o);
    std::vector<DenseJob> jobs;
    std::set<std::pair<u32, u32>> seen; // only the first layer of each size is timed
    for (const LinearShape &s : shapes)
        if (!s.moe && s.k % o.group == 0 && seen.emplace(s.n, s.k).second)
            for (DenseJob &job :
                 dense_jobs(o, gfx, s, {{Zeros::eight, Zeros::packed}, o.m, o.group}))
                jobs.push_back(std::move(job));
    if (jobs.empty())
        return Json::array();
    Json rows = time_by_m1(o, jobs, gfx);
    const Bound bound = dram_bound(gfx);
    for (u64 i = 0; i < jobs.size(); ++i) {
        rows[i]["table"] = "shapes";
        rows[i]["pct_of_bound_without_launch"] =
            100 * bound.us(jobs[i].shape.bytes_moved()) /
            (rows[i]["time_us"].get<f64>() - bound.overhead_us);
    }
    append(rows, model_view(jobs, rows, shapes));
    return rows;
}

} // namespace

Result run_suite(const Options &o, const Shapes &shapes) {
    const Pattern only("--only", o.only);
    const bool of_published = simulated_gfx(o) == published_gfx;
    Result out;
    const bool all = o.only.empty();
    if (of_published && wanted(o, "published", true))
        append(out.rows, decode_published(o, only));
    if (wanted(o, "shapes", all))
        append(out.rows, decode_shapes(o, o.full ? shapes : layers_of(shapes, o.model)));
    if (of_published && wanted(o, "ablations", all))
        append(out.rows, decode_ablations(o, only));
    if (out.rows.empty())
        no_row(o, "the suite decode");
    return out;
}

} // namespace nw::bench
