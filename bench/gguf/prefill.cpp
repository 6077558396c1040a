// SPDX-License-Identifier: MIT
#include "bench/gguf/prefill.h"

#include <cstdlib>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "base/processes.h"
#include "bench/gguf/gguf.h"
#include "bench/goals.h"
#include "bench/part_constants.h"
#include "bench/stats.h"
#include "runtime/gguf.h"
#include "runtime/gguf_prefill.h"

namespace nw::bench {

namespace {

struct Job {
    const LinearShape *shape;
    std::string_view type;
    u32 m;
    const Kernel *kernel;

    u64 weight_bytes() const { return shape->n * gguf_row_bytes(type, shape->k); }
    f64 operations() const { return 2.0 * m * shape->n * shape->k; }
    std::string name() const { return gguf_name(*shape, type, m); }
};

struct Time {
    f64 us = 0, convert_us = 0;
    f64 valu = 0; // VALU slots of a wave for 16 weights of a thread, all but WMMA
    f64 wmma_busy = 0;
};

struct Timed {
    Job job;
    Time time;
    f64 of_peak;
};

std::vector<Job> jobs_of(const Options &o, std::span<const LinearShape *const> shapes,
                         std::string_view gfx) {
    const std::regex only = only_pattern(o);
    const auto wgps = static_cast<u32>(value_of(part_constants(gfx), "wgps"));
    std::vector<Job> out;
    for (const LinearShape *shape : shapes)
        for (const GgufBlocks &blocks : gguf_types())
            for (u32 m : o.m) {
                if (m < gguf_prefill_rows || shape->k % blocks.elements)
                    continue;
                const Job job{shape, blocks.type, m,
                              &choose_gguf_prefill(gfx, blocks.type, m, shape->n, wgps)};
                if (std::regex_search(job.name(), only))
                    out.push_back(job);
            }
    return out;
}

// Weights are cold; activations are where the conversion has left them.
Time time(const Job &job) {
    StatsFile stats; // first: a device reads where its statistics go when it is opened
    const Kernel &kernel = *job.kernel, &convert = choose_gguf_halves(kernel.gfx);
    const hip::Device device("sim:" + std::string(kernel.gfx));
    const auto &[n, k] = std::pair(job.shape->n, job.shape->k);
    Modules modules(device);
    modules.function(kernel); // loading is no part of the time
    modules.function(convert);
    hip::Buffer x = device.allocate(u64{4} * job.m * k),
                a = device.allocate(gguf_halves_bytes(job.m, k)),
                w = device.allocate(job.weight_bytes()), c = device.allocate(u64{4} * job.m * n);
    x.fill(0);
    w.fill(0);
    const hip::Event begin = device.event(), between = device.event(), end = device.event();
    device.record(begin);
    launch(modules, convert, GgufHalves{job.m, k, x.data(), u64{4} * k, a.data()});
    device.record(between);
    device.synchronize();
    stats.skip(); // to the product
    launch(modules, kernel, GgufPrefill{job.type, job.m, n, k, a.data(), w.data(), c.data()});
    device.record(end);
    Time out;
    out.us = 1000 * f64{device.elapsed_ms(between, end)};
    out.convert_us = 1000 * f64{device.elapsed_ms(begin, between)};
    if (const auto launch = stats.next_launch(kernel.symbol)) {
        const u64 wmma = launch->insts.of("wmma"), valu = launch->insts.valu_slots() - wmma;
        // Of a stage a wave has two WMMA for each of its parts of 16 x 16 of the tile.
        const u32 of_stage =
            kernel.number("bm") * kernel.number("bn") / 128 / kernel.number("waves");
        out.valu = static_cast<f64>(valu) / static_cast<f64>(wmma) * of_stage;
        out.wmma_busy = launch->busy.wmma;
    }
    return out;
}

void print_rows(const std::vector<Timed> &rows, const std::string &gfx, f64 peak) {
    fmt::print("\nProducts of many rows with GGUF weights on sim {}, weights cold. a: activations "
               "to f16, a launch of its own;\npeak: of WMMA's {:.1f} TFLOP/s; wmma: cycles in "
               "which it is busy; valu: VALU slots of a wave to a stage of 32 k\n\n"
               "{:<14} {:<9} {:>12} {:<4} {:>5} {:>8} {:>10} {:>8} {:>8} {:>6} {:>6} {:>6} {:>5}\n",
               gfx, peak / 1e12, "model", "layer", "N x K", "type", "m", "tile", "us", "a us",
               "TFLOP/s", "peak", "wmma", "valu", "vgprs");
    for (const auto &[job, t, of_peak] : rows)
        fmt::print("{:<14} {:<9} {:>12} {:<4} {:>5} {:>8} {:>10.2f} {:>8.2f} {:>8.2f} {:>5.1f}% "
                   "{:>5.1f}% {:>6.1f} {:>5}\n",
                   job.shape->model, job.shape->layer,
                   fmt::format("{}x{}", job.shape->n, job.shape->k), job.type, job.m,
                   fmt::format("{}x{}", job.kernel->number("bm"), job.kernel->number("bn")), t.us,
                   t.convert_us, job.operations() / t.us / 1e6, 100 * of_peak, 100 * t.wmma_busy,
                   t.valu, job.kernel->vgprs);
}

std::vector<Goal> goals_of(const std::vector<Timed> &rows, std::string_view gfx) {
    const f64 goal = gfx == "gfx1151" ? 0.70 : gfx.starts_with("gfx11") ? 0.68 : 0.58;
    std::vector<Goal> goals;
    for (const GgufBlocks &blocks : gguf_types())
        for (u32 m : {512u, 2048u})
            add_goal(
                goals, rows,
                fmt::format("{}, {} rows: of WMMA's peak, 16 MiB and more", blocks.type, m), goal,
                false,
                [&](const Timed &t) {
                    return t.job.type == blocks.type && t.job.m == m &&
                                   t.job.weight_bytes() >= gguf_goal_bytes
                               ? t.of_peak
                               : 0;
                },
                [](const Timed &t) { return t.job.name(); });
    return goals;
}

nlohmann::json to_json(const Timed &row) {
    const auto &[job, t, of_peak] = row;
    return {{"kernel", job.kernel->symbol},
            {"gfx", job.kernel->gfx},
            {"model", job.shape->model},
            {"layer", job.shape->layer},
            {"type", job.type},
            {"m", job.m},
            {"n", job.shape->n},
            {"k", job.shape->k},
            {"vgprs", job.kernel->vgprs},
            {"lds_bytes", job.kernel->lds_bytes},
            {"waves_per_simd", job.kernel->waves_per_simd},
            {"time_us", t.us},
            {"activations_us", t.convert_us},
            {"tflops", job.operations() / t.us / 1e6},
            {"pct_of_bound", 100 * of_peak},
            {"bound", "wmma"},
            {"pct_wmma_busy", 100 * t.wmma_busy},
            {"valu_per_stage", t.valu}};
}

} // namespace

nlohmann::json run_gguf_prefill(const Options &o, std::span<const LinearShape *const> shapes,
                                const std::string &gfx) {
    nlohmann::json json = nlohmann::json::array();
    const std::vector<Job> jobs = jobs_of(o, shapes, gfx);
    if (jobs.empty())
        return json;
    setenv("HIPSIM_TIMING", "on", 0); // read when the simulated library is opened
    std::vector<u64> work;
    for (const Job &job : jobs)
        work.push_back(u64{job.m} * job.shape->n * job.shape->k);
    const std::vector<Time> times = in_processes<Time>(work, [&](u64 i) { return time(jobs[i]); });
    const f64 peak = wmma_peak(gfx);
    std::vector<Timed> rows;
    for (u64 i = 0; i < jobs.size(); ++i)
        rows.push_back({jobs[i], times[i], jobs[i].operations() / (times[i].us * 1e-6) / peak});
    print_rows(rows, gfx, peak);
    const std::vector<Goal> goals = goals_of(rows, gfx);
    print(goals);
    for (const Timed &row : rows)
        json.push_back(to_json(row));
    for (const Goal &goal : goals)
        json.push_back(to_json(goal));
    return json;
}

} // namespace nw::bench
