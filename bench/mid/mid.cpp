// SPDX-License-Identifier: MIT
#include "bench/mid/mid.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "bench/decode/sized.h"
#include "bench/published.h"
#include "formats/row_stride.h"

namespace nw::bench {

namespace {

std::vector<DecodeJob> jobs_of(const Options &o, const std::string &gfx) {
    const std::regex only = only_pattern(o);
    std::vector<DecodeJob> out;
    for (const PublishedPrefill &of : read_published_prefill(NW_BENCH_DATA "/prefill_gfx1151.csv"))
        for (Dtype dtype : o.dtypes)
            for (Zeros zeros : {Zeros::eight, Zeros::packed})
                for (u32 m : o.m) {
                    const ProductShape p{
                        dtype, zeros, m, of.n, of.k, o.group, weight_row_stride(gfx, of.k)};
                    if (std::regex_search(name(p), only))
                        out.push_back({p, of.model, "", &chosen_kernel(gfx, p)});
                }
    if (out.empty())
        throw Usage(fmt::format("--only {}: no row of suite mid has such a name", o.only));
    return out;
}

} // namespace

nlohmann::json run_mid(const Options &o) {
    const std::string gfx = simulated_gfx(o);
    const std::vector<Sized> rows = time_sized(jobs_of(o, gfx));
    const Bound bound = dram_bound(gfx);
    print_sized(rows, gfx, bound);
    std::vector<Goal> goals;
    for (const auto &[m, most] : {std::pair{16u, 1.2}, {32u, 1.5}})
        add_goal(goals, rows, fmt::format("{} rows by one, weights of 8 MiB and more", m), most,
                 true, [m](const Sized &r) {
                     return r.job.shape.m == m && is_large(r.job.shape) ? r.of_m1 : 0;
                 });
    print(goals);
    nlohmann::json json = nlohmann::json::array();
    for (const Sized &r : rows)
        json.push_back(to_json(r, bound));
    for (const Goal &g : goals)
        json.push_back(to_json(g));
    return json;
}

} // namespace nw::bench
