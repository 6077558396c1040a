// SPDX-License-Identifier: MIT
#include "prefill.h"

#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/half.h"
#include "base/processes.h"
#include "data.h"
#include "decode_published.h"
#include "decode_times.h"
#include "kernels/prefill.h"
#include "part_constants.h"
#include "published.h"
#include "stats.h"

namespace nw::bench {

namespace {

using Json = nlohmann::json;

struct Job {
    PublishedPrefill shape;
    u32 m;
    Dtype dtype;
    Zeros zeros;
    const Kernel *kernel;

    std::string_view zeros_label() const { return zeros == Zeros::eight ? "sym" : "zp"; }
    std::string size() const { return fmt::format("{}x{}", shape.k, shape.n); }
    std::string type() const { return fmt::format("{} {} m{}", nw::name(dtype), zeros_label(), m); }
    std::string name() const { return size() + " " + type(); }
    f64 tera_operations() const { return 2e-12 * m * shape.n * shape.k; }
};

struct Result {
    f64 us = 0;
    u64 valu = 0, wmma = 0; // wave instructions
    f64 tflops(const Job &job) const { return job.tera_operations() / (us * 1e-6); }
};

constexpr u32 group = 128;

// Weights, scales, activations and results of one product; what is in them takes no time.
Result time(const Job &job) {
    StatsFile stats; // first: a device reads where its statistics go when it is opened
    const hip::Device device("sim:" + std::string(job.kernel->gfx));
    const u32 n = job.shape.n, k = job.shape.k;
    const RowLayout layout = layout_for(job.kernel->gfx, n, k, group);
    const u64 z_stride = u64{4} * (k / group);
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
                           group,
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
    Result out;
    out.us = 1000 * device.elapsed_ms(begin, end);
    if (const std::optional<Instructions> counts = stats.next(job.kernel->symbol)) {
        out.wmma = counts->of("wmma");
        out.valu = counts->valu_slots() - out.wmma;
    }
    return out;
}

Json to_json(const Job &job, const Result &r, f64 peak) {
    return {{"table", "published"},
            {"kernel", job.kernel->symbol},
            {"gfx", job.kernel->gfx},
            {"model", job.shape.model},
            {"k", job.shape.k},
            {"n", job.shape.n},
            {"m", job.m},
            {"dtype", name(job.dtype)},
            {"zp", job.zeros_label()},
            {"group", group},
            {"time_us", r.us},
            {"tflops", r.tflops(job)},
            {"pct_of_wmma_peak", 100e12 * r.tflops(job) / peak},
            {"valu_per_wmma", static_cast<f64>(r.valu) / static_cast<f64>(r.wmma)},
            {"published_base_tflops", job.shape.base_tflops},
            {"published_tuned_tflops", job.shape.tuned_tflops}};
}

std::vector<Job> jobs_of(const Options &o, const std::string &gfx) {
    const std::regex only = only_pattern(o);
    std::vector<Job> out;
    for (const PublishedPrefill &p : read_published_prefill(NW_BENCH_DATA "/prefill_gfx1151.csv"))
        for (u32 m : o.m)
            for (Dtype dtype : o.dtypes)
                for (Zeros zeros : {Zeros::eight, Zeros::packed}) {
                    Job job{p, m, dtype, zeros, nullptr};
                    if (!std::regex_search(job.name(), only))
                        continue;
                    job.kernel = &choose_prefill(gfx, dtype, group, zeros, m, p.n);
                    out.push_back(job);
                }
    if (out.empty())
        throw Usage(fmt::format("--only {}: no row of suite prefill has such a name", o.only));
    return out;
}

} // namespace

Json run_prefill(const Options &o) {
    const std::string gfx = simulated_gfx(o);
    const std::vector<Job> jobs = jobs_of(o, gfx);
    setenv("HIPSIM_TIMING", "on", 0); // read when the simulated library is opened
    const f64 peak = wmma_peak(gfx);
    std::vector<u64> work;
    for (const Job &job : jobs)
        work.push_back(u64{job.m} * job.shape.n * job.shape.k);
    const std::vector<Result> results =
        in_processes<Result>(work, [&](u64 i) { return time(jobs[i]); });

    fmt::print("W4A16 products of many tokens on sim {}, TFLOP/s: ours, % of WMMA's peak ({:.1f}), "
               "VALU slots to a WMMA;\nand as published of a Triton kernel on gfx1151 (f16, "
               "asymmetric, m 2048), before and after tuning\n\n"
               "{:>12} {:<13} {:<16} {:>9} {:>8} {:>6} {:>6} {:>6} {:>6}\n",
               gfx, peak / 1e12, "K x N", "type", "tile", "us", "TFLOP/s", "peak", "valu", "base",
               "tuned");
    Json rows = Json::array();
    f64 mean = 0, worst = 1e9;
    std::string worst_name;
    for (u64 i = 0; i < jobs.size(); ++i) {
        const Job &job = jobs[i];
        const Json row = to_json(job, results[i], peak);
        const f64 pct = row.at("pct_of_wmma_peak");
        fmt::print("{:>12} {:<13} {:<16} {:>9.1f} {:>8.2f} {:>5.1f}% {:>6.2f} {:>6.1f} {:>6.1f}\n",
                   job.size(), job.type(),
                   fmt::format("{}x{}", job.kernel->number("bm"), job.kernel->number("bn")),
                   results[i].us, results[i].tflops(job), pct, row.at("valu_per_wmma").get<f64>(),
                   job.shape.base_tflops, job.shape.tuned_tflops);
        mean += std::log(pct) / static_cast<f64>(jobs.size());
        if (pct < worst)
            worst = pct, worst_name = job.name();
        rows.push_back(row);
    }
    fmt::print("\ngeometric mean {:.1f} % of WMMA's peak, worst {:.1f} % ({})\n", std::exp(mean),
               worst, worst_name);
    return rows;
}

} // namespace nw::bench
