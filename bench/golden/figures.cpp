// SPDX-License-Identifier: MIT
#include "bench/golden/golden.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

#include "base/error.h"
#include "base/half.h"
#include "bench/product.h"
#include "bench/stats.h"
#include "check/ops.h"
#include "formats/packed/row_stride.h"
#include "measure/on_cores.h"

namespace nw::bench {

namespace {

// Small: slots per 8 weights are those of larger sizes, except work done once per workgroup.
constexpr u32 counted_n = 64, counted_k = 2048;

// The first target to be tuned; more of its kernels are timed.
constexpr std::string_view most_timed = "gfx1151";

bool in_golden(const Kernel &k, const std::string &gfx) {
    return k.gfx == gfx && k.built && !k.reference;
}

ProductShape shape_of(const Kernel &k, u32 m, u32 n, u32 length) {
    return {dtype_of(k), zeros_of(k), m, n, length, group_of(k), weight_row_stride(k.gfx, length)};
}

// ---- decode_w4a16

f64 slots_of(const hip::Device &device, const Kernel &k, LaunchCounts &stats,
             const ProductShape &p) {
    return slots_per_8_weights(count_dense(device, stats, k, p), p);
}

f64 decode_slots(const hip::Device &device, const Kernel &k, LaunchCounts &stats) {
    return slots_of(device, k, stats, shape_of(k, k.number("m"), counted_n, counted_k));
}

// ---- mid_w4a16, prefill_w4a16

// One tile per kernel, WMMA tiles included.
f64 tile_slots(const hip::Device &device, const Kernel &k, LaunchCounts &stats) {
    return slots_of(device, k, stats, shape_of(k, k.number("bm"), k.number("bn"), 512));
}

// ---- moe_w4a16

// Two experts, a full block each.
f64 moe_slots(const hip::Device &device, const Kernel &k, LaunchCounts &stats) {
    const u32 experts = 2, block = k.number("m"), slots = experts * block;
    const ProductShape p = shape_of(k, k.number("m"), counted_n, counted_k); // of an expert
    const auto zeroed = [&](u64 bytes) {
        hip::Buffer buffer = device.allocate(bytes);
        buffer.fill(0);
        return buffer;
    };
    const u64 w_expert = p.weight_bytes(), s_expert = p.scale_bytes(), z_expert = p.zero_bytes();
    const hip::Buffer a = zeroed(u64{2} * slots * p.k), w = zeroed(experts * w_expert),
                      s = zeroed(experts * s_expert), z = zeroed(experts * z_expert + 4),
                      c = zeroed(u64{2} * slots * p.n);
    hip::Buffer ids = device.allocate(4 * experts);
    const u32 expert_ids[experts] = {0, 1};
    ids.upload(expert_ids, sizeof expert_ids);
    MoeW4A16 m{};
    m.dtype = p.dtype, m.n = p.n, m.k = p.k, m.group = p.group;
    m.experts = m.blocks = experts, m.block_size = block, m.slots = slots, m.top_k = 1;
    m.a = a.data(), m.w = w.data(), m.s = s.data(), m.c = c.data(), m.expert_ids = ids.data();
    m.w_stride = p.w_stride, m.w_expert = w_expert;
    m.s_stride = p.s_stride(), m.s_expert = s_expert;
    if (p.zeros != Zeros::eight) {
        m.zeros = p.zeros, m.z = z.data();
        m.z_stride = p.z_stride(), m.z_expert = z_expert;
    }
    Modules modules(device);
    launch(modules, k, m);
    device.synchronize();
    return slots_per_8_weights(stats.next(k.symbol).value(), p) / experts;
}

// ---- all families

// Counting of a family's kernels: VALU slots per 8 weights of a small product.
struct Counted {
    std::string_view family;
    f64 (*slots)(const hip::Device &, const Kernel &, LaunchCounts &);
};
constexpr Counted counted_families[] = {{"decode_w4a16", decode_slots},
                                        {"mid_w4a16", tile_slots},
                                        {"prefill_w4a16", tile_slots},
                                        {"moe_w4a16", moe_slots}};

Figures figures_of(const hip::Device &device, const Kernel &k, LaunchCounts &stats) {
    Figures out = {
        {"vgprs", k.vgprs}, {"lds_bytes", k.lds_bytes}, {"waves_per_simd", k.waves_per_simd}};
    for (const Counted &c : counted_families)
        if (c.family == k.family)
            out["slots"] = c.slots(device, k, stats);
    return out;
}

// For most_timed also more rows and zero points, a larger matrix, and tiles: all rows of a mid tile
// against a matrix of 8 MiB, and one tile of prefill_w4a16 for each WGP.
std::vector<DenseJob> timed(const std::string &gfx) {
    const bool all = gfx == most_timed;
    std::vector<DenseJob> out;
    for (const Kernel &k : kernels(gfx)) {
        if (!in_golden(k, gfx) || group_of(k) != 128)
            continue;
        const auto add = [&](u32 m, u32 n, u32 length) {
            out.push_back({shape_of(k, m, n, length), &k});
        };
        if (k.family == "decode_w4a16") {
            const u32 m = k.number("m");
            const std::string zeros = k.param("zeros");
            if ((m == 1 || m == 4 || (all && m == 8)) && (zeros == "" || (all && zeros == "zp"))) {
                add(m, 2048, 2048);
                if (all)
                    add(m, 4096, 4096);
            }
        } else if (k.family == "mid_w4a16" && all) {
            add(k.number("bm"), 4096, 4096);
        } else if (k.family == "prefill_w4a16" && all) {
            add(4 * k.number("bm"), 5 * k.number("bn"), 1024);
        }
    }
    return out;
}

Golden counted(const std::string &gfx) {
    const hip::Device device = hip::Device::own("sim:" + gfx + "?timing=off&stats=on", "threads=1");
    LaunchCounts stats(device);
    Golden out;
    for (const Kernel &k : kernels(gfx))
        if (in_golden(k, gfx))
            out[std::string(k.symbol)] = figures_of(device, k, stats);
    return out;
}

} // namespace

GoldenOfAll measure_golden(const std::vector<std::string> &gfx) {
    const std::vector<Golden> all =
        on_cores<Golden>(std::vector<u64>(gfx.size(), 1), [&](u64 i) { return counted(gfx[i]); });
    GoldenOfAll out;
    std::vector<DenseJob> jobs;
    for (u64 i = 0; i < gfx.size(); ++i) {
        out[gfx[i]] = all[i];
        std::ranges::move(timed(gfx[i]), std::back_inserter(jobs));
    }
    const std::vector<Timed> times = time_dense(jobs);
    for (u64 i = 0; i < jobs.size(); ++i) {
        const DenseJob &job = jobs[i];
        out[std::string(job.kernel->gfx)][std::string(job.kernel->symbol)]
           [fmt::format("us {}", by(job.shape.k, job.shape.n))] = times[i].us;
    }
    return out;
}

} // namespace nw::bench
