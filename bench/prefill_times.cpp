// SPDX-License-Identifier: MIT
#include "bench/prefill_times.h"

#include <cstdlib>
#include <optional>

#include "base/processes.h"
#include "formats/row_stride.h"
#include "measure/cold_product.h"

namespace nw::bench {

namespace {

PrefillTime time(const PrefillJob &job) {
    StatsFile stats; // first: a device reads where its statistics go when it is opened
    const std::string gfx(job.kernel->gfx);
    const hip::Device device("sim:" + gfx);
    const ProductShape p{job.dtype,
                         job.zeros,
                         job.m,
                         job.shape.n,
                         job.shape.k,
                         prefill_group,
                         weight_row_stride(gfx, job.shape.k)};
    ColdProduct product(device, std::span(&p, 1), 1);
    product.modules().function(*job.kernel); // loading is no part of the time
    hip::Event begin = device.event(), end = device.event();
    device.record(begin);
    launch_product(product, *job.kernel, p, product.memory(p));
    device.record(end);
    PrefillTime out;
    out.us = 1000 * device.elapsed_ms(begin, end);
    if (const std::optional<LaunchStats> launch = stats.next_launch(job.kernel->symbol)) {
        out.wmma = launch->insts.of("wmma");
        out.valu = launch->insts.valu_slots() - out.wmma;
        out.busy = launch->busy;
    }
    return out;
}

} // namespace

std::vector<PrefillTime> time_prefill(const std::vector<PrefillJob> &jobs) {
    setenv("HIPSIM_TIMING", "on", 0); // read when the simulated library is opened
    std::vector<u64> work;
    for (const PrefillJob &job : jobs)
        work.push_back(u64{job.m} * job.shape.n * job.shape.k);
    return in_processes<PrefillTime>(work, [&](u64 i) { return time(jobs[i]); });
}

} // namespace nw::bench
