// SPDX-License-Identifier: MIT
#include "bench/gguf/moe.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/processes.h"
#include "bench/decode_times.h"
#include "measure/gguf_moe_product.h"
#include "measure/routes.h"
#include "runtime/gguf_prefill.h"

namespace nw::bench {

namespace {

constexpr std::string_view model = "Qwen3-30B-A3B", type = "q4_K";

struct Job {
    const LinearShape *shape;
    u32 tokens, block_size; // 1: slot by slot

    // Files have gate and up apart.
    bool up() const { return shape->layer == "gate_up"; }
    u32 n() const { return up() ? shape->n / 2 : shape->n; }
    u32 slots() const { return tokens * shape->top_k; }
    u64 expert_bytes() const { return n() * gguf_row_bytes(type, shape->k); }
    std::string_view layer() const { return up() ? "gate" : "down"; }
    std::string name() const {
        return fmt::format("{} {} {}x{} {} t{} b{}", model, layer(), n(), shape->k, type, tokens,
                           block_size);
    }
};

std::vector<Job> jobs_of(const Options &o, const std::vector<LinearShape> &shapes) {
    const std::regex only = only_pattern(o);
    std::vector<Job> out;
    for (const LinearShape &shape : shapes)
        for (u32 tokens : o.m)
            for (u32 block_size : {1, 16, 64}) {
                const Job job{&shape, tokens, block_size};
                // Slot by slot many would read weights thousands of times; few fill no such block.
                if ((tokens >= gguf_prefill_rows && block_size == 1) ||
                    (tokens < gguf_prefill_rows && block_size == gguf_moe_prefill_block))
                    continue;
                if (shape.moe && shape.model == model && std::regex_search(job.name(), only))
                    out.push_back(job);
            }
    return out;
}

struct Time {
    f64 us = 0, before_us = 0; // before: activations, lists
    f64 met = 0;               // experts that any token has
};

Time time(const Job &job, const std::string &gfx, u64 seed) {
    const LinearShape &of = *job.shape;
    const std::vector<i32> routes =
        random_routes(job.tokens, of.experts, of.top_k, Rng(seed).fork(job.tokens));
    const std::vector<u32> slots = slots_of_experts(routes, of.experts);
    const GgufMoeTimes times =
        time_gguf_moe(hip::Device("sim:" + gfx), gguf_moe_kernels(gfx, type, job.block_size),
                      {type, job.tokens, job.n(), of.k, of.experts, of.top_k, !job.up()}, routes);
    return {times.us, times.convert_us + times.align_us,
            static_cast<f64>(slots.size()) - static_cast<f64>(std::ranges::count(slots, 0u))};
}

} // namespace

nlohmann::json run_gguf_moe(const Options &o, const std::vector<LinearShape> &shapes,
                            const std::string &gfx) {
    const std::vector<Job> jobs = jobs_of(o, shapes);
    nlohmann::json rows = nlohmann::json::array();
    if (jobs.empty())
        return rows;
    setenv("HIPSIM_TIMING", "on", 0); // read when the simulated library is opened
    const Bound bound = dram_bound(gfx);
    std::vector<u64> work;
    for (const Job &job : jobs)
        work.push_back(u64{job.slots()} * job.expert_bytes());
    const std::vector<Time> times =
        in_processes<Time>(work, [&](u64 i) { return time(jobs[i], gfx, o.seed); });
    fmt::print(
        "\nExperts with GGUF weights on sim {}, weights cold, routers at random. b: slots of "
        "a block, 1 without blocks;\nbefore: activations and lists; met: experts that any "
        "token has; GB/s: of their weights; bound: of {:.1f} GB/s\n\n{:<5} {:>10} {:<5} "
        "{:>6} {:>3} {:>4} {:>9} {:>9} {:>7} {:>7}\n",
        gfx, bound.gb_per_s, "layer", "N x K", "type", "tokens", "b", "met", "us", "before us",
        "GB/s", "bound");
    for (u64 i = 0; i < jobs.size(); ++i) {
        const Job &job = jobs[i];
        const Time &t = times[i];
        const f64 gb_per_s = t.met * static_cast<f64>(job.expert_bytes()) / t.us / 1e3;
        const f64 of_bound = t.met * static_cast<f64>(job.expert_bytes()) /
                             (t.us - bound.overhead_us) / 1e3 / bound.gb_per_s;
        fmt::print("{:<5} {:>10} {:<5} {:>6} {:>3} {:>4} {:>9.2f} {:>9.2f} {:>7.1f} {:>6.1f}%\n",
                   job.layer(), fmt::format("{}x{}", job.n(), job.shape->k), type, job.tokens,
                   job.block_size, t.met, t.us, t.before_us, gb_per_s, 100 * of_bound);
        rows.push_back({{"model", model},
                        {"layer", job.layer()},
                        {"gfx", gfx},
                        {"type", type},
                        {"m", job.tokens},
                        {"n", job.n()},
                        {"k", job.shape->k},
                        {"block_size", job.block_size},
                        {"experts_met", t.met},
                        {"time_us", t.us},
                        {"activations_us", t.before_us},
                        {"gb_per_s", gb_per_s},
                        {"pct_of_bound", 100 * of_bound},
                        {"bound", "dram"}});
    }
    return rows;
}

} // namespace nw::bench
