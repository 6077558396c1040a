// SPDX-License-Identifier: MIT
#include "bench/gguf/gguf.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <tuple>

#include "base/processes.h"
#include "bench/decode_times.h"
#include "bench/gguf/moe.h"
#include "bench/gguf/prefill.h"
#include "bench/goals.h"
#include "bench/stats.h"
#include "measure/gguf_product.h"
#include "runtime/gguf_prefill.h"

namespace nw::bench {

namespace {

struct Job {
    const LinearShape *shape;
    GgufKernels kernels;
    std::string_view type;
    u32 m;

    const Kernel *kernel() const { return kernels.product; }
    GgufShape product() const { return {type, m, shape->n, shape->k}; }
    u64 weight_bytes() const { return product().weight_bytes(); }
    std::string name() const { return gguf_name(*shape, type, m); }
};

struct Time {
    f64 us = 0, convert_us = 0;
    f64 per_256 = 0, valu_per_256 = 0; // wave instructions for 256 weights
    f64 cycles_per_256 = 0;            // that VALU and WMMA are busy
};

// Dense ones, each once.
std::vector<const LinearShape *> shapes_of(const std::vector<LinearShape> &shapes) {
    std::vector<const LinearShape *> out;
    std::set<std::pair<u32, u32>> seen;
    for (const LinearShape &shape : shapes)
        if (std::ranges::find(gguf_models, shape.model) != gguf_models.end() && !shape.moe &&
            seen.insert({shape.n, shape.k}).second)
            out.push_back(&shape);
    return out;
}

std::vector<Job> jobs_of(const Options &o, const std::vector<const LinearShape *> &shapes,
                         const std::string &gfx) {
    const std::regex only = only_pattern(o);
    std::vector<Job> out;
    for (const LinearShape *shape : shapes)
        for (const GgufBlocks &blocks : gguf_types())
            for (u32 m : o.m) {
                if (m >= gguf_prefill_rows)
                    continue;
                const GgufKernels kernels =
                    choose_gguf_kernels(gfx, {blocks.type, m, shape->n, shape->k});
                if (!kernels)
                    continue;
                const Job job{shape, kernels, blocks.type, m};
                if (std::regex_search(job.name(), only))
                    out.push_back(job);
            }
    return out;
}

Time time(const Job &job) {
    StatsFile stats; // first: a device reads where its statistics go when it is opened
    const hip::Device device("sim:" + std::string(job.kernel()->gfx));
    std::optional<LaunchStats> counts;
    const GgufTimes times =
        time_gguf_product(device, job.kernels, job.product(), 1, [&](const Kernel &kernel) {
            const auto launch = stats.next_launch(kernel.symbol);
            if (&kernel == job.kernel())
                counts = launch;
        });
    Time out{times.us, times.convert_us};
    if (counts) {
        const f64 blocks = f64{1} * job.shape->n * job.shape->k / 256;
        out.per_256 = static_cast<f64>(counts->insts.total()) / blocks;
        out.valu_per_256 = static_cast<f64>(counts->insts.valu_slots()) / blocks;
        out.cycles_per_256 = counts->busy.valu_and_wmma_cycles / blocks;
    }
    return out;
}

struct Timed {
    Job job;
    Time time;
    f64 of_m1 = 0, of_bound = 0; // time by that of one row; GB/s by what DRAM sustains
};

// Of the time without a launch's own, which no bandwidth shortens.
f64 of_bound(const Job &job, const Time &time, const Bound &bound) {
    return static_cast<f64>(job.weight_bytes()) / (time.us - bound.overhead_us) / 1e3 /
           bound.gb_per_s;
}

std::vector<Timed> time_all(const std::vector<Job> &jobs, const Bound &bound) {
    setenv("HIPSIM_TIMING", "on", 0); // read when the simulated library is opened
    std::vector<u64> work;
    for (const Job &job : jobs)
        work.push_back(job.weight_bytes() * (2 + job.m));
    const std::vector<Time> times = in_processes<Time>(work, [&](u64 i) { return time(jobs[i]); });
    std::map<std::pair<const LinearShape *, std::string_view>, f64> one;
    std::vector<Timed> out;
    for (u64 i = 0; i < jobs.size(); ++i) {
        if (jobs[i].m == 1)
            one[{jobs[i].shape, jobs[i].type}] = times[i].us;
        out.push_back({jobs[i], times[i], 0, of_bound(jobs[i], times[i], bound)});
    }
    for (Timed &t : out)
        if (const auto found = one.find({t.job.shape, t.job.type}); found != one.end())
            t.of_m1 = t.time.us / found->second;
    return out;
}

void print_rows(const std::vector<Timed> &rows, const std::string &gfx, const Bound &bound) {
    fmt::print(
        "\nProducts with GGUF weights on sim {}, weights cold. a: activations to int8, from 9 "
        "rows on to f16, a launch of its own;\nGB/s of the weights; bound: of the {:.1f} "
        "GB/s that the model's DRAM sustains, a launch's own {:.1f} us left out; /256:\n"
        "wave instructions for 256 weights, of them VALU slots, and cycles that VALU and "
        "WMMA take for them; /m1: time by that\nof one row\n\n"
        "{:<14} {:<9} {:>12} {:<4} {:>3} {:>9} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6} {:>5} "
        "{:>6}\n",
        gfx, bound.gb_per_s, bound.overhead_us, "model", "layer", "N x K", "type", "m", "us",
        "a us", "GB/s", "bound", "/256", "VALU", "cycles", "vgprs", "/m1");
    for (const Timed &t : rows)
        fmt::print("{:<14} {:<9} {:>12} {:<4} {:>3} {:>9.2f} {:>6.2f} {:>6.1f} {:>5.1f}% {:>6.2f} "
                   "{:>6.2f} {:>6.2f} {:>5} {:>6}\n",
                   t.job.shape->model, t.job.shape->layer,
                   fmt::format("{}x{}", t.job.shape->n, t.job.shape->k), t.job.type, t.job.m,
                   t.time.us, t.time.convert_us,
                   static_cast<f64>(t.job.weight_bytes()) / t.time.us / 1e3, 100 * t.of_bound,
                   t.time.per_256, t.time.valu_per_256, t.time.cycles_per_256,
                   t.job.kernel()->vgprs, t.of_m1 > 0 ? fmt::format("{:.3f}", t.of_m1) : "-");
}

std::vector<Goal> goals_of(const std::vector<Timed> &rows, const std::string &gfx) {
    std::vector<Goal> goals;
    const auto add = [&](std::string_view type, const std::string &what, f64 goal, bool at_most,
                         u32 m, const auto &value) {
        add_goal(
            goals, rows, fmt::format("{}, {}", type, what), goal, at_most,
            [&](const Timed &t) {
                return t.job.type == type && t.job.m == m && t.job.weight_bytes() >= gguf_goal_bytes
                           ? value(t)
                           : 0;
            },
            [](const Timed &t) { return t.job.name(); });
    };
    for (const auto &[type, elements, bytes] : gguf_types()) {
        add(type, "one row: of sustained bandwidth, 16 MiB and more", 0.95, false, 1,
            [](const Timed &t) { return t.of_bound; });
        add(type, "8 rows by one", 1.10, true, 8, [](const Timed &t) { return t.of_m1; });
        add(type, "one row: instructions for 256 weights", 28, true, 1,
            [](const Timed &t) { return t.time.per_256; });
        if (type != "q4_K")
            continue;
        for (const auto &[m, times, cycles] :
             {std::tuple{16u, 1.15, 45}, {23u, 1.35, 0}, {32u, 1.35, 80}}) {
            add(type, fmt::format("{} rows by one", m), gfx == "gfx1100" ? times : 1.15, true, m,
                [](const Timed &t) { return t.of_m1; });
            if (cycles)
                add(type, fmt::format("{} rows: cycles for 256 weights", m), cycles, true, m,
                    [](const Timed &t) { return t.time.cycles_per_256; });
        }
    }
    return goals;
}

nlohmann::json to_json(const Timed &t, const Bound &bound) {
    nlohmann::json out = {{"kernel", t.job.kernel()->symbol},
                          {"gfx", t.job.kernel()->gfx},
                          {"model", t.job.shape->model},
                          {"layer", t.job.shape->layer},
                          {"type", t.job.type},
                          {"m", t.job.m},
                          {"n", t.job.shape->n},
                          {"k", t.job.shape->k},
                          {"vgprs", t.job.kernel()->vgprs},
                          {"lds_bytes", t.job.kernel()->lds_bytes},
                          {"waves_per_simd", t.job.kernel()->waves_per_simd},
                          {"time_us", t.time.us},
                          {"activations_us", t.time.convert_us},
                          {"gb_per_s", static_cast<f64>(t.job.weight_bytes()) / t.time.us / 1e3},
                          {"pct_of_bound", 100 * t.of_bound},
                          {"bound", "dram"},
                          {"bound_gb_per_s", bound.gb_per_s},
                          {"insts_per_256w", t.time.per_256},
                          {"cycles_per_256w", t.time.cycles_per_256}};
    if (t.of_m1 > 0)
        out["of_m1"] = t.of_m1;
    return out;
}

} // namespace

std::string gguf_name(const LinearShape &shape, std::string_view type, u32 m) {
    return fmt::format("{} {} {}x{} {} m{}", shape.model, shape.layer, shape.n, shape.k, type, m);
}

nlohmann::json run_gguf(const Options &o, const std::vector<LinearShape> &shapes) {
    const std::string gfx = simulated_gfx(o);
    const std::vector<const LinearShape *> dense = shapes_of(shapes);
    const Bound bound = dram_bound(gfx);
    const std::vector<Timed> rows = time_all(jobs_of(o, dense, gfx), bound);
    const std::vector<Goal> goals = goals_of(rows, gfx);
    if (!rows.empty()) {
        print_rows(rows, gfx, bound);
        print(goals);
    }
    nlohmann::json json = run_gguf_prefill(o, dense, gfx);
    for (const nlohmann::json &row : run_gguf_moe(o, shapes, gfx))
        json.push_back(row);
    if (rows.empty() && json.empty())
        throw Usage(fmt::format("--only {}: no row of suite gguf has such a name", o.only));
    for (const Timed &t : rows)
        json.push_back(to_json(t, bound));
    for (const Goal &g : goals)
        json.push_back(to_json(g));
    return json;
}

} // namespace nw::bench
