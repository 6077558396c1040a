// SPDX-License-Identifier: MIT
#include "bench/prefill/ladder.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "bench/decode/published_times.h"
#include "bench/part_constants.h"
#include "bench/prefill_times.h"

namespace nw::bench {

namespace {

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
constexpr std::pair<u32, u32> sizes[] = {{2560, 3840}, {4096, 4096}};

const Kernel &kernel_of(const Step &step) {
    const std::string symbol = fmt::format("prefill_w4a16_f16_g{}_{}", prefill_group, step.kernel);
    for (const Kernel &k : kernels())
        if (k.gfx == published_gfx && k.symbol == symbol)
            return k;
    throw Error(fmt::format("{} is not in this build, which the ladder needs: build {}", symbol,
                            published_gfx));
}

} // namespace

nlohmann::json prefill_ladder(const Options &o) {
    const std::regex only = only_pattern(o);
    std::vector<PrefillJob> jobs;
    for (const auto &[k, n] : sizes)
        for (u32 m : o.m)
            for (const Step &step : steps) {
                const PrefillJob job{
                    {k, n, 0, 0, {}}, m, Dtype::f16, Zeros::eight, &kernel_of(step)};
                if (std::regex_search(job.name(), only))
                    jobs.push_back(job);
            }
    if (jobs.empty())
        throw Usage(fmt::format("--only {}: no row of the ladder has such a name", o.only));
    const std::vector<PrefillTime> times = time_prefill(jobs);
    const f64 peak = wmma_peak(published_gfx);
    fmt::print("\nFrom a plain tile to prefill_w4a16 on sim {}, an idea at a time\n\n"
               "{:>12} {:<13} {:>9} {:>8} {:>6}  {}\n",
               published_gfx, "K x N", "type", "us", "TFLOP/s", "peak", "with");
    nlohmann::json rows = nlohmann::json::array();
    for (u64 i = 0; i < jobs.size(); ++i) {
        const PrefillJob &job = jobs[i];
        const auto step =
            std::ranges::find_if(steps, [&](const Step &s) { return &kernel_of(s) == job.kernel; });
        const f64 tflops = times[i].tflops(job), pct = 100e12 * tflops / peak;
        fmt::print("{:>12} {:<13} {:>9.1f} {:>8.2f} {:>5.1f}%  {}\n", job.size(), job.type(),
                   times[i].us, tflops, pct, step->idea);
        rows.push_back({{"table", "ladder"},
                        {"kernel", job.kernel->symbol},
                        {"gfx", job.kernel->gfx},
                        {"k", job.shape.k},
                        {"n", job.shape.n},
                        {"m", job.m},
                        {"dtype", name(job.dtype)},
                        {"zp", job.zeros_label()},
                        {"group", prefill_group},
                        {"with", step->idea},
                        {"time_us", times[i].us},
                        {"tflops", tflops},
                        {"pct_of_wmma_peak", pct}});
    }
    return rows;
}

} // namespace nw::bench
