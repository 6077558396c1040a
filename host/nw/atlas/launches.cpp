// SPDX-License-Identifier: MIT
#include "nw/atlas/launches.h"

#include <fmt/format.h>

#include "base/progress.h"
#include "measure/on_cores.h"
#include "nw/atlas/facts.h"

namespace nw::cli {

namespace {

AtlasTimed time_job(const hip::Device &device, const AtlasJob &job, u32 runs) {
    TimedLaunches of{*job.kernel, job.op()};
    if (job.experts)
        of.routes = job.experts->routes;
    const LaunchTimes times = time_launches(device, of, runs);
    return {.us = {times.convert_us, times.lists_us, times.us}, .stats = {}};
}

// Sorted by the expected run time of a job.
u64 work_of(const AtlasJob &job) {
    const u32 matrices = job.experts ? job.experts->shape.experts : 1;
    return matrices * job.shape.weight_bytes() * (2 + job.shape.m);
}

std::vector<AtlasTimed> time_on_model(const std::vector<AtlasJob> &jobs,
                                      const hip::DeviceInfo &on) {
    std::vector<u64> work;
    for (const AtlasJob &job : jobs)
        work.push_back(work_of(job));
    return on_cores<AtlasTimed>(work, [&](u64 i) {
        const hip::Device device = model_device(on.spec, work.size(), "stats=on");
        AtlasTimed out = time_job(device, jobs[i], 1);
        const std::vector<std::string> lines = device.take_stats();
        for (u32 op = 0; op < atlas_ops.size(); ++op)
            if (const Kernel *const kernel = jobs[i].launches()[op])
                out.stats[op] = last_atlas_stats(lines, *kernel);
        return out;
    });
}

std::vector<AtlasTimed> time_on_card(const std::vector<AtlasJob> &jobs, const hip::DeviceInfo &on,
                                     u32 repeats) {
    const hip::Device device(on.spec);
    Progress progress(jobs.size());
    std::vector<AtlasTimed> out;
    for (const AtlasJob &job : jobs) {
        progress.show(
            fmt::format("{} {}x{}", job.launches().back()->symbol, job.shape.n, job.shape.k));
        out.push_back(time_job(device, job, repeats));
        progress.advance(1);
    }
    return out;
}

} // namespace

std::vector<AtlasTimed> time_jobs(const std::vector<AtlasJob> &jobs, const hip::DeviceInfo &on,
                                  u32 repeats) {
    return on.simulated ? time_on_model(jobs, on) : time_on_card(jobs, on, repeats);
}

} // namespace nw::cli
