// SPDX-License-Identifier: MIT
// Time from the first to the last start of a launch's waves, with workgroups that all fit on the
// part, against thread traces.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "bench/published.h"
#include "bench/validate/tables.h"
#include "sim/timing/run.h"

namespace nw::bench {

namespace {

std::string fact_of(const PublishedDispatch &p) {
    return fmt::format("dispatch {} {} workgroups of {}", p.gfx, p.groups, p.threads);
}

// Waves that stay until all have started, in CU mode as in the traces.
f64 first_to_last(const PublishedDispatch &p) {
    sim::test::KernelText text;
    text.gfx = p.gfx;
    for (u32 n = 0; n < 4; ++n)
        text.body += "s_sleep 127\n"; // of 64 cycles each
    text.vgprs = 8;
    text.descriptor = ".amdhsa_workgroup_processor_mode 0";
    sim::test::TimedLaunch launch;
    launch.grid = {p.groups, 1, 1};
    launch.block = {p.threads, 1, 1};
    time(text, launch);
    const auto [first, last] = std::ranges::minmax(launch.starts);
    return static_cast<f64>(last - first);
}

} // namespace

Json measure_dispatch(ModelRun &run) {
    Json rows = Json::array();
    for (const PublishedDispatch &p : read_published_dispatch(NW_BENCH_DATA "/dispatch.csv")) {
        if (!run.only.found_in(fact_of(p)))
            continue;
        const f64 modelled = first_to_last(p), nearest = std::clamp(modelled, p.low, p.high);
        Json row = validated(fact_of(p), "dispatch", nearest, modelled);
        row.update({{"gfx", p.gfx},
                    {"off_pct", std::abs(row["error_pct"].get<f64>())},
                    {"_groups", p.groups},
                    {"_threads", p.threads},
                    {"_published", fmt::format("{} to {}", p.low, p.high)},
                    {"_source", p.source}});
        rows.push_back(row);
        if (run.done)
            run.done(row);
    }
    return rows;
}

Table begin_dispatch(bool verbose) {
    fmt::print("\nFirst to last start of a wave, cycles (sim), against hardware\n\n");
    return Table(std::string("gfx {gfx:<8}; workgroups {_groups:>10}; threads {_threads:>7}; "
                             "published {_published:>11}; modelled {modelled:>8.0f}; "
                             "error {error_pct:>+8.1f}%") +
                 (verbose ? "; published by {_source}" : ""));
}

void summarize_dispatch(const Json &rows) { fmt::print("\ndispatch: {}\n", summary(rows)); }

} // namespace nw::bench
