// SPDX-License-Identifier: MIT
#include "bench/timing.h"

#include <optional>

#include "measure/on_cores.h"
#include "measure/quantized_product.h"
#include "runtime/choose.h"

namespace nw::bench {

namespace {

std::string_view gfx_of(const DenseJob &job) { return job.kernel->gfx; }
std::string_view gfx_of(const GgufJob &job) { return job.kernel->gfx; }
std::string_view gfx_of(const GgufMoeJob &job) { return job.kernel->gfx; }

// time(job, device) for each job, on a new device.
template <class Job, class Work, class Time>
std::vector<Timed> time_each(const std::vector<Job> &jobs, const Done &done, const Work &work,
                             const Time &time) {
    std::vector<u64> sizes;
    for (const Job &job : jobs)
        sizes.push_back(work(job));
    return on_cores<Timed>(
        sizes,
        [&](u64 i) {
            const std::string spec = "sim:" + std::string(gfx_of(jobs[i]));
            return time(jobs[i], model_device(spec, jobs.size(), "stats=on"));
        },
        done);
}

u64 dense_work(const DenseJob &job) { return u64{job.shape.n} * job.shape.k * (2 + job.shape.m); }

u64 weights_read(const GgufJob &job) { return job.shape.weight_bytes() * (2 + job.shape.m); }

Timed time_warm(const DenseJob &job, const hip::Device &device) {
    LaunchCounts stats(device);
    const Op op = job.shape.op();
    Timed out;
    ColdProduct product(device, {&op, 1}, 1);
    const auto keep = [&] {
        out.launch = stats.next_launch(job.kernel->symbol).value_or(LaunchStats{});
    };
    out.us = product.us(*job.kernel, op, keep, job.workgroups);
    out.drawn = {out.us, out.launch.time.draws};
    return out;
}

Timed time_as_new(const DenseJob &job, const hip::Device &device) {
    LaunchCounts stats(device);
    const Op op = job.shape.op();
    Timed out;
    out.us = ColdProduct(device, {&op, 1}, 1).us_as_new(*job.kernel, op);
    out.launch = stats.next_launch(job.kernel->symbol).value_or(LaunchStats{});
    out.drawn = {out.us, out.launch.time.draws};
    return out;
}

Timed time_one(const TimedLaunches &of, const hip::Device &device, Warm warm = Warm::yes) {
    LaunchCounts stats(device);
    Timed out;
    const auto launched = [&](const Kernel &kernel) {
        const auto launch = stats.next_launch(kernel.symbol);
        if (&kernel == &of.product)
            out.launch = launch.value_or(LaunchStats{});
    };
    const LaunchTimes times = time_launches(device, of, 1, launched, warm);
    out.us = times.us, out.before_us = times.convert_us + times.lists_us;
    out.drawn = {out.us, out.launch.time.draws};
    return out;
}

// before_us: of the launch that quantizes activations; us: of both.
Timed time_quantized(const hip::Device &device, const QuantizedProduct &product) {
    const QuantizedTime time = quantized_time(device, product);
    Timed out{.us = time.us(), .before_us = time.rows_us};
    out.drawn = drawn_time(device.take_stats());
    return out;
}

u64 slots_work(const GgufMoeJob &job) { return job.shape.slots() * job.shape.expert_bytes(); }

u64 multiplications(const GgufJob &job) { return u64{job.shape.m} * job.shape.n * job.shape.k; }

} // namespace

std::vector<Timed> time_dense(const std::vector<DenseJob> &jobs, const Done &done, Warm warm) {
    return time_each(jobs, done, dense_work, warm == Warm::yes ? time_warm : time_as_new);
}

std::vector<Timed> time_int8(const std::vector<DenseJob> &jobs, const Done &done) {
    return time_each(jobs, done, dense_work, [](const DenseJob &job, const hip::Device &device) {
        return time_quantized(device, int8_product(job.shape));
    });
}

Instructions count_dense(const hip::Device &device, LaunchCounts &stats, const Kernel &kernel,
                         const ProductShape &shape) {
    const Op op = shape.op();
    ColdProduct(device, {&op, 1}, 1).us_as_new(kernel, op);
    return stats.next(kernel.symbol).value();
}

std::vector<Timed> time_gguf(const std::vector<GgufJob> &jobs, const Done &done) {
    return time_each(jobs, done, weights_read, [](const GgufJob &job, const hip::Device &device) {
        return time_one({*job.kernel, job.shape.op()}, device);
    });
}

std::vector<Timed> time_gguf_prefill(const std::vector<GgufJob> &jobs, const Done &done) {
    return time_each(jobs, done, multiplications,
                     [](const GgufJob &job, const hip::Device &device) {
                         return time_one({*job.kernel, job.shape.op()}, device, Warm::no);
                     });
}

std::vector<Timed> time_fp8(const std::vector<GgufJob> &jobs, const Done &done) {
    return time_each(jobs, done, multiplications,
                     [](const GgufJob &job, const hip::Device &device) {
                         return time_quantized(device, fp8_product(job.shape));
                     });
}

std::vector<Timed> time_gguf_plans(const std::vector<GgufJob> &jobs, const Done &done) {
    return time_each(jobs, done, weights_read, [](const GgufJob &job, const hip::Device &device) {
        const Op op = job.shape.op();
        Timed out;
        const auto keep = [&] { out.drawn = drawn_time(device.take_stats()); };
        out.us = out.drawn.us = ColdProduct(device, {&op, 1}, 1).us(*job.kernel, op, keep);
        return out;
    });
}

std::vector<Timed> time_gguf_moe(const std::vector<GgufMoeJob> &jobs, const Done &done, Warm warm) {
    return time_each(jobs, done, slots_work, [&](const GgufMoeJob &job, const hip::Device &device) {
        return time_one({*job.kernel, job.shape.op(), job.routes}, device, warm);
    });
}

std::vector<Timed> time_fp8_moe(const std::vector<GgufMoeJob> &jobs, const Done &done) {
    return time_each(jobs, done, slots_work, [](const GgufMoeJob &job, const hip::Device &device) {
        const QuantizedProduct p = fp8_experts(job.shape);
        const QuantizedKernels kernels = quantized_kernels(device.info().gfx, p);
        return time_one({*kernels.product, p.product, job.routes, &p.rows}, device, Warm::no);
    });
}

} // namespace nw::bench
