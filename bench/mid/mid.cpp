// SPDX-License-Identifier: MIT
// The suite mid: modelled times of 1 to 64 rows of activations on published shapes, each beside
// that of one row.
#include <fmt/format.h>

#include "bench/product.h"
#include "bench/published.h"
#include "bench/result.h"

namespace nw::bench {

Result run_suite(const Options &o, const Shapes &) {
    const std::string gfx = simulated_gfx(o);
    std::vector<DenseJob> jobs;
    for (const PublishedPrefill &p : read_published_prefill(NW_BENCH_DATA "/prefill_gfx1151.csv"))
        for (DenseJob &job : dense_jobs(o, gfx, {p.model, "", p.n, p.k},
                                        {{Zeros::eight, Zeros::packed}, o.m, o.group}))
            jobs.push_back(std::move(job));
    if (jobs.empty())
        no_row(o, "suite mid");
    return {time_by_m1(o, jobs, gfx)};
}

} // namespace nw::bench
