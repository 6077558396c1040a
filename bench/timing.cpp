// SPDX-License-Identifier: MIT
#include "bench/timing.h"

#include <optional>

#include "measure/cold_gguf.h"
#include "measure/on_cores.h"
#include "runtime/choose.h"

namespace nw::bench {

namespace {

std::string_view gfx_of(const DenseJob &job) { return job.kernel->gfx; }
std::string_view gfx_of(const GgufJob &job) { return job.kernels.product->gfx; }
std::string_view gfx_of(const GgufMoeJob &job) { return job.gfx; }

// time(job, device) of each on a device as new, those with the most work(job) first.
template <class Job, class Work, class Time>
std::vector<Timed> time_each(const std::vector<Job> &jobs, const Work &work, const Time &time) {
    std::vector<u64> sizes;
    for (const Job &job : jobs)
        sizes.push_back(work(job));
    return on_cores<Timed>(sizes, [&](u64 i) {
        const std::string spec = "sim:" + std::string(gfx_of(jobs[i]));
        return time(jobs[i], model_device(spec, jobs.size(), "stats=on"));
    });
}

u64 weights_read(const GgufJob &job) { return job.shape.weight_bytes() * (2 + job.shape.m); }

Timed time_warm(const DenseJob &job, const hip::Device &device) {
    LaunchCounts stats(device);
    ColdProduct product(device, std::span(&job.shape, 1), 1);
    Timed out;
    out.us = product_us(
        product, *job.kernel, job.shape,
        [&] { out.launch = stats.next_launch(job.kernel->symbol).value_or(LaunchStats{}); },
        job.workgroups);
    return out;
}

Timed time_as_new(const DenseJob &job, const hip::Device &device) {
    LaunchCounts stats(device);
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

Timed time_gguf_one(const GgufJob &job, const hip::Device &device) {
    LaunchCounts stats(device);
    Timed out;
    const GgufTimes times =
        time_gguf_product(device, job.kernels, job.shape, 1, [&](const Kernel &kernel) {
            const auto launch = stats.next_launch(kernel.symbol);
            if (&kernel == job.kernels.product)
                out.launch = launch.value_or(LaunchStats{});
        });
    out.us = times.us, out.before_us = times.convert_us;
    return out;
}

// Weights are cold; activations are where the conversion has left them.
Timed time_gguf_as_new(const GgufJob &job, const hip::Device &device) {
    LaunchCounts stats(device);
    const Kernel &kernel = *job.kernels.product, &convert = *job.kernels.convert;
    const auto &[type, m, n, k] = job.shape;
    const Before &before = kernel.contract->before.front();
    Modules modules(device);
    modules.function(kernel); // loading is no part of the time
    modules.function(convert);
    hip::Buffer x = device.allocate(u64{4} * m * k),
                a = device.allocate(gguf_activation_bytes(job.kernels, job.shape)),
                w = device.allocate(job.shape.weight_bytes()), c = device.allocate(u64{4} * m * n);
    x.fill(0);
    w.fill(0);
    const hip::Event begin = device.event(), between = device.event(), end = device.event();
    Op op = job.shape.op();
    op.x = address(x.data()), op.x_stride = u64{4} * k;
    op.a = address(a.data()), op.w = address(w.data()), op.c = address(c.data());
    Op made = before.op(op, kernel, machine_of(device));
    made.*before.gives.front().result = op.a;
    device.record(begin);
    launch(modules, convert, made);
    device.record(between);
    device.synchronize();
    stats.skip(); // to the product
    launch(modules, kernel, op);
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

Instructions count_dense(const hip::Device &device, LaunchCounts &stats, const Kernel &kernel,
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
    return time_each(jobs, weights_read, [](const GgufJob &job, const hip::Device &device) {
        ColdGguf product(device, std::span(&job.shape, 1), 1);
        return Timed{product.us(*job.kernels.product, job.shape)};
    });
}

std::vector<Timed> time_gguf_moe(const std::vector<GgufMoeJob> &jobs) {
    return time_each(
        jobs, [](const GgufMoeJob &job) { return job.shape.slots() * job.shape.expert_bytes(); },
        [](const GgufMoeJob &job, const hip::Device &device) {
            const GgufMoeTimes times =
                time_gguf_moe(device, gguf_moe_kernels(job.gfx, job.shape, job.block_size),
                              job.shape, job.routes);
            return Timed{times.us, times.convert_us + times.align_us};
        });
}

} // namespace nw::bench
