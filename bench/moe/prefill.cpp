// SPDX-License-Identifier: MIT
#include "bench/moe/prefill.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <set>

#include "base/half.h"
#include "bench/data.h"
#include "bench/decode_times.h"
#include "bench/part_constants.h"
#include "formats/row_stride.h"
#include "measure/routes.h"
#include "runtime/moe.h"
#include "runtime/moe_align.h"

namespace nw::bench {

namespace {

constexpr std::string_view model = "Qwen3-30B-A3B";
constexpr u32 group = 128;

// Tokens, and the slots of a block that suit them.
constexpr std::pair<u32, u32> sizes[] = {{64, 16}, {512, 32}, {2048, 64}};

struct Job {
    LinearShape shape;
    Dtype dtype;
    u32 tokens, block_size;

    u32 slots() const { return tokens * shape.top_k; }
    u32 blocks() const {
        return static_cast<u32>(aligned_blocks(slots(), shape.experts, block_size));
    }
    bool up() const { return shape.layer == "gate_up"; } // SiLU(gate) * up; the other has weights
    u32 slots_per_row() const { return up() ? shape.top_k : 1; }
    u32 columns() const { return up() ? shape.n / 2 : shape.n; }
    f64 tera_operations() const { return 2e-12 * slots() * shape.n * shape.k; }
    std::string name() const {
        return fmt::format("{} {} {}x{} g{} {} t{} b{}", shape.model, shape.layer, shape.n, shape.k,
                           group, nw::name(dtype), tokens, block_size);
    }
};

std::vector<Job> jobs_of(const Options &o, const std::vector<LinearShape> &shapes) {
    const std::regex only = only_pattern(o);
    std::vector<Job> out;
    for (const LinearShape &shape : shapes)
        for (Dtype dtype : o.dtypes)
            for (const auto &[tokens, block_size] : sizes) {
                const Job job{shape, dtype, tokens, block_size};
                if (shape.model == model && shape.moe && std::regex_search(job.name(), only))
                    out.push_back(job);
            }
    return out;
}

struct Times {
    f64 align_us, us;
    u64 bytes; // of DRAM: the weights of experts that are met, activations and results, once
};

hip::Buffer filled(const hip::Device &device, u64 bytes, int with) {
    hip::Buffer buffer = device.allocate(bytes);
    buffer.fill(with);
    return buffer;
}

// What is in weights and activations takes no time.
Times time(const Job &job, const Kernel &kernel, const hip::Device &device, u64 seed) {
    const auto &[shape, dtype, tokens, block_size] = job;
    const RowLayout layout = layout_for(kernel.gfx, shape.n, shape.k, group);
    const std::vector<i32> experts =
        random_routes(tokens, shape.experts, shape.top_k, Rng(seed).fork(tokens));
    const u64 met = std::set(experts.begin(), experts.end()).size();
    const u64 rows_of_a = ceil_div(job.slots(), job.slots_per_row()),
              a_bytes = 2 * rows_of_a * shape.k, c_bytes = u64{2} * job.slots() * job.columns();
    hip::Buffer topk = device.allocate(experts.size() * sizeof(i32));
    topk.upload(experts.data(), experts.size() * sizeof(i32));
    const hip::Buffer a = filled(device, a_bytes, 0),
                      w = filled(device, shape.experts * layout.weight_bytes(), 0x5a),
                      s = filled(device, shape.experts * layout.scale_bytes(), 0),
                      c = filled(device, c_bytes, 0),
                      weights = filled(device, u64{4} * job.slots(), 0),
                      sorted = device.allocate(u64{4} * job.blocks() * block_size),
                      ids = device.allocate(u64{4} * job.blocks()), used = device.allocate(4);
    Modules modules(device);
    modules.function(kernel); // loading is no part of the time
    modules.function(choose_moe_align(kernel.gfx));
    const hip::Event start = device.event(), between = device.event(), stop = device.event();
    device.record(start);
    launch(modules, MoeAlign{job.slots(), shape.experts, block_size, job.blocks(), topk.data(),
                             sorted.data(), ids.data(), used.data()});
    device.record(between);
    // Only blocks that an expert has: simulated times of large grids are extrapolated from the
    // first workgroups, which would stand for others that end at once.
    i32 entries = 0;
    used.download(&entries, sizeof entries);
    const hip::Event go = device.event();
    device.record(go);
    launch(modules, kernel,
           MoeW4A16{.dtype = dtype,
                    .n = shape.n,
                    .k = shape.k,
                    .group = group,
                    .experts = shape.experts,
                    .block_size = block_size,
                    .blocks = static_cast<u32>(entries) / block_size,
                    .slots = job.slots(),
                    .top_k = job.slots_per_row(),
                    .silu_gate_up = job.up(),
                    .a = a.data(),
                    .w = w.data(),
                    .s = s.data(),
                    .bias = nullptr,
                    .c = c.data(),
                    .expert_ids = ids.data(),
                    .sorted_token_ids = sorted.data(),
                    .topk_weights = job.up() ? nullptr : weights.data(),
                    .num_tokens_post_padded = used.data(),
                    .w_stride = layout.w_stride,
                    .w_expert = layout.weight_bytes(),
                    .s_stride = layout.s_stride,
                    .s_expert = layout.scale_bytes()});
    device.record(stop);
    return {1000 * f64{device.elapsed_ms(start, between)}, 1000 * f64{device.elapsed_ms(go, stop)},
            met * shape.n * (layout.row_bytes() + layout.scale_row_bytes()) + a_bytes + c_bytes};
}

nlohmann::json to_json(const Job &job, const Kernel &kernel, const Times &t, f64 peak,
                       f64 dram_us) {
    const f64 wmma_us = 1e18 * job.tera_operations() / peak;
    return {{"kernel", kernel.symbol},
            {"gfx", kernel.gfx},
            {"model", job.shape.model},
            {"layer", job.shape.layer},
            {"dtype", nw::name(job.dtype)},
            {"group", group},
            {"zp", "sym"},
            {"tokens", job.tokens},
            {"block_size_m", job.block_size},
            {"silu", job.up()},
            {"m", job.slots()},
            {"n", job.shape.n},
            {"k", job.shape.k},
            {"row_stride", weight_row_stride(kernel.gfx, job.shape.k)},
            {"vgprs", kernel.vgprs},
            {"lds_bytes", kernel.lds_bytes},
            {"waves_per_simd", kernel.waves_per_simd},
            {"time_us", t.us},
            {"align_us", t.align_us},
            {"tflops", job.tera_operations() / (t.us * 1e-6)},
            {"gb_per_s", static_cast<f64>(t.bytes) / t.us / 1e3},
            {"pct_of_wmma_peak", 100 * wmma_us / t.us},
            {"pct_of_bound", 100 * std::max(wmma_us, dram_us) / t.us},
            {"pct_of_dram_bound", 100 * dram_us / t.us},
            {"bound", dram_us > wmma_us ? "dram" : "wmma"}};
}

} // namespace

bool run_moe_prefill(const Options &o, const std::vector<LinearShape> &shapes,
                     const hip::Device &device, nlohmann::json &rows) {
    const std::vector<Job> jobs = jobs_of(o, shapes);
    if (jobs.empty())
        return false;
    const std::string &gfx = device.info().gfx;
    const Bound dram = dram_bound(gfx);
    const f64 peak = wmma_peak(gfx);
    fmt::print("\n{:<56} {:>8} {:>9} {:>8} {:>7} {:>7} {:>6}\n", "moe_prefill_w4a16", "align us",
               "us", "TFLOP/s", "% WMMA", "% DRAM", "bound");
    for (const Job &job : jobs) {
        const Kernel &kernel = choose_moe(gfx, job.dtype, group, job.block_size, Zeros::eight);
        const Times t = time(job, kernel, device, o.seed);
        const nlohmann::json row =
            to_json(job, kernel, t, peak, static_cast<f64>(t.bytes) / dram.gb_per_s / 1e3);
        fmt::print("{:<56} {:>8.1f} {:>9.1f} {:>8.2f} {:>7.1f} {:>7.1f} {:>6}\n", job.name(),
                   t.align_us, t.us, row.at("tflops").get<f64>(),
                   row.at("pct_of_wmma_peak").get<f64>(), row.at("pct_of_dram_bound").get<f64>(),
                   row.at("bound").get<std::string>());
        rows.push_back(row);
    }
    fmt::print("each token at {} of {} experts drawn at random; % WMMA: of its peak, {:.1f} "
               "TFLOP/s; % DRAM: of what it takes to move the weights of the experts that are met, "
               "activations and results once\n",
               jobs[0].shape.top_k, jobs[0].shape.experts, peak / 1e12);
    return true;
}

} // namespace nw::bench
