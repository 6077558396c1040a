// SPDX-License-Identifier: MIT
#include <algorithm>
#include <fmt/format.h>
#include <set>

#include "bench/data.h"
#include "bench/moe/tables.h"
#include "check/ops.h"
#include "formats/packed/row_stride.h"
#include "measure/routes.h"

namespace nw::bench {

namespace {

constexpr std::string_view model = "Qwen3-30B-A3B";
constexpr u32 group = 128;

// Tokens, and the slots of a block that suit them.
constexpr std::pair<u32, u32> sizes[] = {{64, 16}, {512, 32}, {2048, 64}};

// SiLU(gate) * up; the other product has router weights. Neither is part of the name.
std::string name_of(MoeJob job) {
    job.silu = false;
    return job.name();
}

std::vector<MoeJob> jobs_of(const Options &o, const Shapes &shapes) {
    const Pattern only("--only", o.only);
    std::vector<MoeJob> out;
    for (const LinearShape &shape : shapes)
        for (Dtype dtype : o.dtypes)
            for (const auto &[tokens, block_size] : sizes) {
                MoeJob job{shape, dtype, group, tokens, block_size, false};
                job.silu = job.up();
                if (shape.model == model && shape.moe && only.found_in(name_of(job)))
                    out.push_back(job);
            }
    return out;
}

struct Times {
    f64 align_us;
    DrawnTime drawn;
    u64 bytes; // of DRAM: weights of the experts in use, activations and results, once each
};

hip::Buffer filled(const hip::Device &device, u64 bytes, u8 with) {
    hip::Buffer buffer = device.allocate(bytes);
    buffer.fill(with);
    return buffer;
}

// Largest number of blocks for any routes.
u32 most_blocks(std::string_view gfx, u32 slots, u32 experts, u32 block_size) {
    Op op{.kind = OpKind::moe_align};
    op.slots = slots, op.experts = experts, op.block_size = block_size;
    const Kernel &kernel = choose(gfx, op);
    kernel.contract->derive(op, kernel, usual_machine(gfx));
    return static_cast<u32>(op.blocks);
}

// Times do not depend on values, so weights and activations are filled with one.
Times time(const MoeJob &job, const Kernel &kernel, const hip::Device &device, u64 seed) {
    const auto &[shape, dtype, g, tokens, block_size, silu] = job;
    const u32 slots = job.slots(),
              blocks = most_blocks(kernel.gfx, slots, shape.experts, block_size);
    const RowLayout layout = layout_for(kernel.gfx, shape.n, shape.k, group);
    const std::vector<i32> experts =
        random_routes(tokens, shape.experts, shape.top_k, Rng(seed).fork(tokens));
    const u64 met = std::set(experts.begin(), experts.end()).size();
    const u64 a_bytes = u64{2} * job.rows() * shape.k, c_bytes = u64{2} * slots * job.columns();
    const hip::Buffer topk = upload(device, experts), a = filled(device, a_bytes, 0),
                      w = filled(device, shape.experts * layout.weight_bytes(), 0x5a),
                      s = filled(device, shape.experts * layout.scale_bytes(), 0),
                      c = filled(device, c_bytes, 0), weights = filled(device, u64{4} * slots, 0),
                      sorted = device.allocate(u64{4} * blocks * block_size),
                      ids = device.allocate(u64{4} * blocks), used = device.allocate(4);
    Modules modules(device);
    modules.function(kernel); // loading is no part of the time
    const Op lists = MoeAlign{slots,       shape.experts, block_size, blocks,
                              topk.data(), sorted.data(), ids.data(), used.data()};
    modules.function(choose(kernel.gfx, lists));
    const hip::Event start = device.event(), between = device.event(), stop = device.event();
    device.record(start);
    launch(modules, lists);
    device.record(between);
    // Only blocks that an expert has: simulated times of large grids are extrapolated from the
    // first workgroups, which would stand for others that end at once.
    i32 entries = 0;
    used.download(&entries, sizeof entries);
    const hip::Event go = device.event();
    device.record(go);
    LaunchCounts stats(device);
    stats.skip();
    MoeW4A16 p = arguments(job, layout);
    p.experts = shape.experts;
    p.blocks = static_cast<u32>(entries) / block_size;
    p.a = a.data(), p.w = w.data(), p.s = s.data(), p.c = c.data();
    p.expert_ids = ids.data();
    p.sorted_token_ids = sorted.data();
    p.topk_weights = silu ? nullptr : weights.data();
    p.num_tokens_post_padded = used.data();
    launch(modules, kernel, p);
    device.record(stop);
    DrawnTime drawn{1000 * f64{device.elapsed_ms(go, stop)}, {}};
    if (const std::optional<LaunchStats> counted = stats.next_launch(kernel.symbol))
        drawn.draws = counted->time.draws;
    return {1000 * f64{device.elapsed_ms(start, between)}, drawn,
            met * shape.n * (layout.row_bytes() + layout.scale_row_bytes()) + a_bytes + c_bytes};
}

} // namespace

Json moe_prefill(const Options &o, const Shapes &shapes, const hip::Device &device) {
    const std::vector<MoeJob> jobs = jobs_of(o, shapes);
    Json rows = Json::array();
    if (jobs.empty())
        return rows;
    const std::string &gfx = device.info().gfx;
    const Bound dram = dram_bound(gfx);
    const f64 peak = product_peak(gfx).flops;
    Table table("moe_prefill_w4a16 {_name:<51}; time us {time_us:>8.1f}" + range_column(o) +
                "; TFLOP/s {tflops:>7.2f}; "
                "% WMMA {pct_of_wmma_peak:>6.1f}; % DRAM {pct_of_dram_bound:>6.1f}; "
                "bound {bound:>5}; align us {align_us:>8.1f}");
    fmt::print(
        "\nExperts of many tokens on {}{}: {} of {} drawn at random for each token.\n"
        "% WMMA: of its peak, {:.1f} TFLOP/s; % DRAM: the time to move weights of the experts "
        "that are met,\nactivations and results once, by that of the kernel; align: the "
        "launch before, of lists of slots.\n\n",
        device.info().label, device.info().simulated ? ", modelled times" : "", jobs[0].shape.top_k,
        jobs[0].shape.experts, peak / 1e12);
    for (const MoeJob &job : jobs) {
        const Kernel &kernel = choose_moe(gfx, job);
        const Times t = time(job, kernel, device, o.seed);
        const f64 tera = 2e-12 * job.slots() * job.shape.n * job.shape.k,
                  wmma_us = 1e18 * tera / peak, dram_us = dram.us(t.bytes);
        Json row = to_json(job, kernel, t.drawn);
        row.update({{"row_stride", weight_row_stride(gfx, job.shape.k)},
                    {"align_us", t.align_us},
                    {"tflops", tera / (t.drawn.us * 1e-6)},
                    {"gb_per_s", static_cast<f64>(t.bytes) / t.drawn.us / 1e3},
                    {"pct_of_wmma_peak", 100 * wmma_us / t.drawn.us},
                    {"pct_of_bound", 100 * std::max(wmma_us, dram_us) / t.drawn.us},
                    {"pct_of_dram_bound", 100 * dram_us / t.drawn.us},
                    {"bound", dram_us > wmma_us ? "dram" : "wmma"},
                    {"_name", name_of(job)}});
        table.print(row);
        rows.push_back(row);
    }
    return rows;
}

} // namespace nw::bench
