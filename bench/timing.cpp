// SPDX-License-Identifier: MIT
#include "bench/timing.h"

#include <cstdlib>
#include <optional>

#include "base/processes.h"
#include "measure/cold_gguf.h"
#include "runtime/gguf_prefill.h"

namespace nw::bench {

namespace {

// time(job) of each, the one with the most work(job) first.
template <class Job, class Work, class Time>
std::vector<Timed> time_each(const std::vector<Job> &jobs, const Work &work, const Time &time) {
    setenv("HIPSIM_TIMING", "on", 0); // read when the simulated library is opened
    std::vector<u64> sizes;
    for (const Job &job : jobs)
        sizes.push_back(work(job));
    return in_processes<Timed>(sizes, [&](u64 i) { return time(jobs[i]); });
}

u64 weights_read(const GgufJob &job) { return job.shape.weight_bytes() * (2 + job.shape.m); }

hip::Device device_of(const Kernel &kernel) {
    return hip::Device("sim:" + std::string(kernel.gfx));
}

Timed time_warm(const DenseJob &job) {
    StatsFile stats; // first: a device reads where its statistics go when it is opened
    const hip::Device device = device_of(*job.kernel);
    ColdProduct product(device, std::span(&job.shape, 1), 1);
    Timed out;
    out.us = product_us(
        product, *job.kernel, job.shape,
        [&] { out.launch = stats.next_launch(job.kernel->symbol).value_or(LaunchStats{}); },
        job.workgroups);
    return out;
}

Timed time_as_new(const DenseJob &job) {
    StatsFile stats;
    const hip::Device device = device_of(*job.kernel);
    ColdProduct product(device, std::span(&job.shape, 1), 1);
    product.modules().function(*job.kernel); // loading is no part of the time
    hip::Event begin = device.event(), end = device.event();
    device.record(begin);
    launch_product(product, *job.kernel, job.shape, product.memory(job.shape));
    device.record(end);
    Timed out;
    out.us = 1000 * device.elapsed_ms(begin, end);
    out.launch = stats.next_launch(job.kernel->symbol).value_or(LaunchStats{});
    return out;
}

Timed time_gguf_one(const GgufJob &job) {
    StatsFile stats;
    Timed out;
    const GgufTimes times = time_gguf_product(
        device_of(*job.kernels.product), job.kernels, job.shape, 1, [&](const Kernel &kernel) {
            const auto launch = stats.next_launch(kernel.symbol);
            if (&kernel == job.kernels.product)
                out.launch = launch.value_or(LaunchStats{});
        });
    out.us = times.us, out.before_us = times.convert_us;
    return out;
}

// Weights are cold; activations are where the conversion has left them.
Timed time_gguf_as_new(const GgufJob &job) {
    StatsFile stats;
    const Kernel &kernel = *job.kernels.product, &convert = *job.kernels.convert;
    const auto &[type, m, n, k] = job.shape;
    const hip::Device device = device_of(kernel);
    Modules modules(device);
    modules.function(kernel); // loading is no part of the time
    modules.function(convert);
    hip::Buffer x = device.allocate(u64{4} * m * k), a = device.allocate(gguf_halves_bytes(m, k)),
                w = device.allocate(job.shape.weight_bytes()), c = device.allocate(u64{4} * m * n);
    x.fill(0);
    w.fill(0);
    const hip::Event begin = device.event(), between = device.event(), end = device.event();
    device.record(begin);
    launch(modules, convert, GgufHalves{m, k, x.data(), u64{4} * k, a.data()});
    device.record(between);
    device.synchronize();
    stats.skip(); // to the product
    launch(modules, kernel, GgufPrefill{type, m, n, k, a.data(), w.data(), c.data()});
    device.record(end);
    Timed out;
    out.us = 1000 * f64{device.elapsed_ms(between, end)};
    out.before_us = 1000 * f64{device.elapsed_ms(begin, between)};
    out.launch = stats.next_launch(kernel.symbol).value_or(LaunchStats{});
    return out;
}

} // namespace

std::vector<Timed> time_dense(const std::vector<DenseJob> &jobs, Warm warm) {
    return time_each(
        jobs,
        [](const DenseJob &job) { return u64{job.shape.n} * job.shape.k * (2 + job.shape.m); },
        warm == Warm::yes ? time_warm : time_as_new);
}

Instructions count_dense(const hip::Device &device, StatsFile &stats, const Kernel &kernel,
                         const ProductShape &shape) {
    ColdProduct product(device, std::span(&shape, 1), 1);
    launch_product(product, kernel, shape, product.memory(shape));
    device.synchronize();
    return stats.next(kernel.symbol).value();
}

std::vector<Timed> time_gguf(const std::vector<GgufJob> &jobs) {
    return time_each(jobs, weights_read, time_gguf_one);
}

std::vector<Timed> time_gguf_prefill(const std::vector<GgufJob> &jobs) {
    return time_each(
        jobs, [](const GgufJob &job) { return u64{job.shape.m} * job.shape.n * job.shape.k; },
        time_gguf_as_new);
}

std::vector<Timed> time_gguf_ways(const std::vector<GgufJob> &jobs) {
    return time_each(jobs, weights_read, [](const GgufJob &job) {
        const hip::Device device = device_of(*job.kernels.product);
        ColdGguf product(device, std::span(&job.shape, 1), 1);
        return Timed{product.us(*job.kernels.product, job.shape)};
    });
}

std::vector<Timed> time_gguf_moe(const std::string &gfx, const std::vector<GgufMoeJob> &jobs) {
    return time_each(
        jobs, [](const GgufMoeJob &job) { return job.shape.slots() * job.shape.expert_bytes(); },
        [&](const GgufMoeJob &job) {
            const GgufMoeTimes times = time_gguf_moe(
                hip::Device("sim:" + gfx), gguf_moe_kernels(gfx, job.shape.type, job.block_size),
                job.shape, job.routes);
            return Timed{times.us, times.convert_us + times.align_us};
        });
}

} // namespace nw::bench
