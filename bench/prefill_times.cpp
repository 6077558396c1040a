// SPDX-License-Identifier: MIT
#include "prefill_times.h"

#include <optional>

#include "formats/row_stride.h"
#include "measure/cold_product.h"
#include "measure/on_cores.h"

namespace nw::bench {

namespace {

// One of so many jobs.
PrefillTime time(const PrefillJob &job, u64 of) {
    const std::string gfx(job.kernel->gfx);
    const hip::Device device = model_device("sim:" + gfx, of, "stats=on");
    LaunchCounts stats(device);
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
    std::vector<u64> work;
    for (const PrefillJob &job : jobs)
        work.push_back(u64{job.m} * job.shape.n * job.shape.k);
    return on_cores<PrefillTime>(work, [&](u64 i) { return time(jobs[i], jobs.size()); });
}

} // namespace nw::bench
