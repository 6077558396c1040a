// SPDX-License-Identifier: MIT
#include "prefill_times.h"

#include <cstdlib>
#include <optional>

#include "base/processes.h"
#include "data.h"
#include "kernels/prefill.h"
#include "stats.h"

namespace nw::bench {

namespace {

// Weights, scales, activations and results of one product; what is in them takes no time.
PrefillTime time(const PrefillJob &job) {
    StatsFile stats; // first: a device reads where its statistics go when it is opened
    const hip::Device device("sim:" + std::string(job.kernel->gfx));
    const u32 n = job.shape.n, k = job.shape.k;
    const RowLayout layout = layout_for(job.kernel->gfx, n, k, prefill_group);
    const u64 z_stride = u64{4} * (k / prefill_group);
    const auto filled = [&](u64 bytes, int with) {
        hip::Buffer buffer = device.allocate(bytes);
        buffer.fill(with);
        return buffer;
    };
    const hip::Buffer a = filled(u64{2} * job.m * k, 0), w = filled(layout.weight_bytes(), 0x5a),
                      s = filled(layout.scale_bytes(), 0),
                      z = filled(ceil_div<u64>(n, 8) * z_stride, 0x87),
                      c = filled(u64{2} * job.m * n, 0);
    const W4A16 product = {job.dtype,
                           job.m,
                           n,
                           k,
                           prefill_group,
                           a.data(),
                           w.data(),
                           s.data(),
                           nullptr,
                           c.data(),
                           layout.w_stride,
                           layout.s_stride,
                           job.zeros,
                           job.zeros == Zeros::packed ? z.data() : nullptr,
                           job.zeros == Zeros::packed ? z_stride : 0};
    Modules modules(device);
    modules.function(*job.kernel); // loading is no part of the time
    hip::Event begin = device.event(), end = device.event();
    device.record(begin);
    launch_prefill(modules, *job.kernel, product);
    device.record(end);
    PrefillTime out;
    out.us = 1000 * device.elapsed_ms(begin, end);
    if (const std::optional<Instructions> counts = stats.next(job.kernel->symbol)) {
        out.wmma = counts->of("wmma");
        out.valu = counts->valu_slots() - out.wmma;
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
