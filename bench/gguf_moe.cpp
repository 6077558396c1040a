// SPDX-License-Identifier: MIT
#include "gguf_moe.h"

#include <cstdlib>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <set>

#include "base/processes.h"
#include "data.h"
#include "decode_times.h"
#include "kernels/gguf.h"
#include "kernels/gguf_mid.h"
#include "kernels/gguf_moe.h"
#include "kernels/gguf_prefill.h"
#include "kernels/moe_align.h"

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
    u32 slots_per_row() const { return up() ? shape->top_k : 1; }
    u32 rows() const { return ceil_div(slots(), slots_per_row()); }
    u32 blocks() const {
        return static_cast<u32>(aligned_blocks(slots(), shape->experts, block_size));
    }
    u64 expert_bytes() const { return n() * gguf_row_bytes(type, shape->k); }
    std::string_view layer() const { return up() ? "gate" : "down"; }
    std::string name() const {
        return fmt::format("{} {} {}x{} {} t{} b{}", model, layer(), n(), shape->k, type, tokens,
                           block_size);
    }
};

struct Time {
    f64 us = 0, before_us = 0; // before: activations, lists
    f64 met = 0;               // experts that any token has
};

// The operands, all 0: what is in them takes no time.
class Layer {
public:
    Layer(const hip::Device &device, const Job &job, const std::vector<i32> &experts)
        : job_(job), device_(device), modules_(device),
          w_(device.allocate(job.shape->experts * job.expert_bytes())),
          x_(device.allocate(u64{4} * job.rows() * job.shape->k)),
          a_(device.allocate(job.block_size == 1 ? q8_bytes(job.rows(), job.shape->k)
                                                 : gguf_halves_bytes(job.rows(), job.shape->k))),
          c_(device.allocate(u64{4} * job.slots() * job.n())),
          ids_(device.allocate(4 * experts.size())) {
        x_.fill(0);
        ids_.upload(experts.data(), 4 * experts.size());
        // Loading is no part of the time.
        const std::string_view gfx = device.info().gfx;
        modules_.function(choose_quantize_q8(gfx));
        modules_.function(choose_gguf_halves(gfx));
        modules_.function(choose_moe_align(gfx));
        modules_.function(choose_gguf_moe_decode(gfx, type));
        modules_.function(
            choose_gguf_moe_blocks(gfx, type, job.block_size == 1 ? 16 : job.block_size));
    }

    Time time() {
        const hip::Event start = device_.event(), between = device_.event(), go = device_.event(),
                         stop = device_.event();
        device_.record(start);
        if (job_.block_size == 1)
            before_slots();
        else
            before_blocks();
        device_.record(between);
        const u32 blocks = used_blocks();
        device_.record(go);
        if (job_.block_size == 1)
            launch(modules_, GgufMoeDecode{experts(), a_.data(), ids_.data()});
        else
            launch(modules_, GgufMoeBlocks{experts(), job_.block_size, blocks, a_.data(),
                                           block_experts_.data(), slots_.data()});
        device_.record(stop);
        return {1000 * f64{device_.elapsed_ms(go, stop)},
                1000 * f64{device_.elapsed_ms(start, between)}};
    }

private:
    GgufExperts experts() const {
        return {type,          job_.n(),
                job_.shape->k, job_.shape->experts,
                job_.slots(),  job_.slots_per_row(),
                w_.data(),     job_.expert_bytes(),
                c_.data()};
    }
    void before_slots() {
        const u32 k = job_.shape->k;
        launch(modules_, QuantizeQ8{job_.rows(), k, x_.data(), u64{4} * k, a_.data(), true});
    }
    void before_blocks() {
        const u32 k = job_.shape->k;
        slots_ = device_.allocate(u64{4} * job_.blocks() * job_.block_size);
        block_experts_ = device_.allocate(u64{4} * job_.blocks());
        used_ = device_.allocate(4);
        launch(modules_, GgufHalves{job_.rows(), k, x_.data(), u64{4} * k, a_.data(), true});
        launch(modules_, MoeAlign{job_.slots(), job_.shape->experts, job_.block_size, job_.blocks(),
                                  ids_.data(), slots_.data(), block_experts_.data(), used_.data()});
    }
    // Those that an expert has: simulated times of large grids are extrapolated from the first
    // workgroups, which would stand for others that end at once.
    u32 used_blocks() const {
        if (job_.block_size == 1)
            return 0;
        i32 entries = 0;
        used_.download(&entries, sizeof entries);
        return static_cast<u32>(entries) / job_.block_size;
    }

    const Job job_;
    const hip::Device &device_;
    Modules modules_;
    hip::Buffer w_, x_, a_, c_, ids_, slots_, block_experts_, used_;
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

Time time(const Job &job, const std::string &gfx, u64 seed) {
    const hip::Device device("sim:" + gfx);
    const std::vector<i32> experts =
        make_routes(job.tokens, *job.shape, Rng(seed).fork(job.tokens));
    Time out = Layer(device, job, experts).time();
    out.met = static_cast<f64>(std::set(experts.begin(), experts.end()).size());
    return out;
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
