// SPDX-License-Identifier: MIT
#include "runtime/gguf_prefill.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "runtime/gguf_operands.h"
#include "runtime/kernarg.h"

namespace nw {

namespace {

constexpr std::string_view family = "gguf_prefill";
constexpr Rules rules(family);
constexpr u64 offset_limit = u64{1} << 32, store_limit = u64{1} << 31;
constexpr u32 widest_rows = 256, widest_cols = 128; // of a tile
constexpr u32 stage_k = 32, super_k = 256;
constexpr u32 most_rows = 1u << 24; // their activations are larger than offset_limit, whatever k

bool matches(const Kernel &kernel, std::string_view type) {
    return kernel.family == family && kernel.param("type") == type;
}

u64 workgroups_of(const Kernel &kernel, const GgufPrefill &p, u32 raster) {
    return u64{raster} * ceil_div(p.n, kernel.number("bn")) *
           ceil_div<u64>(ceil_div(p.m, kernel.number("bm")), raster);
}

// Workgroups that begin together on a WGP end together, and the last ones of all then share a few
// WGPs (T-027): half a tile later, the second of two.
void start_later(GgufPrefillOrder &order, const Kernel &kernel, u32 m, u32 n, u32 k, u32 wgps) {
    constexpr u32 simds = 4, lanes = 32;
    const u32 levels = kernel.waves_per_simd * simds * lanes / kernel.block;
    const u64 of_wgp = ceil_div(gguf_prefill_tiles(kernel, m, n), u64{wgps});
    // Of four places that began apart the last ones gain nothing, and lines are fetched more often.
    if (levels != 2 || of_wgp <= levels || of_wgp % levels == 0)
        return;
    // Of one alone on its WGP, whose WMMA is busy 7 of 8 cycles.
    const u64 macs_a_cycle = kernel.gfx.starts_with("gfx12") ? 1024 : 512;
    const u64 cycles = u64{kernel.number("bm")} * kernel.number("bn") * k / macs_a_cycle * 8 / 7;
    order.first = wgps;
    order.levels = levels;
    order.pause = static_cast<u32>(cycles / levels / 64);
}

// In time, to be compared: the WGP with the most tiles is done last. A tile's weights, which are
// unpacked whatever its rows, keep the VALU as long as so many rows keep WMMA (T-054); of as much,
// the largest reads the least.
u64 cost_of(const Kernel &kernel, u32 m, u32 n, u32 wgps) {
    constexpr u32 largest = 1024;
    const u32 unpacking = kernel.gfx.starts_with("gfx12") ? 16 : 8, bm = kernel.number("bm");
    return ceil_div(gguf_prefill_tiles(kernel, m, n), u64{wgps}) * (bm + unpacking) * largest +
           largest - bm;
}

} // namespace

GgufPrefillOrder gguf_prefill_order(const Kernel &kernel, u32 m, u32 n, u32 k, u32 wgps) {
    const u32 rows = ceil_div(m, kernel.number("bm"));
    GgufPrefillOrder order;
    // No more than there are: a workgroup without a tile takes a place for a moment.
    order.raster = std::min(kernel.number("raster"), std::bit_ceil(rows));
    start_later(order, kernel, m, n, k, wgps);
    return order;
}

u64 gguf_prefill_tiles(const Kernel &kernel, u32 m, u32 n) {
    return ceil_div<u64>(m, kernel.number("bm")) * ceil_div<u64>(n, kernel.number("bn"));
}

const Kernel *best_gguf_prefill(std::span<const Kernel *const> among, u32 m, u32 n, u32 wgps) {
    const Kernel *best = nullptr;
    u64 least = 0;
    for (const Kernel *kernel : among) {
        if (kernel->family != family || kernel->reference || kernel->candidate)
            continue;
        const u64 cost = cost_of(*kernel, m, n, wgps);
        if (!best || cost < least)
            best = kernel, least = cost;
    }
    return best;
}

const Kernel *find_gguf_prefill(std::string_view gfx, std::string_view type, u32 m, u32 n,
                                u32 wgps) {
    std::vector<const Kernel *> fitting;
    for (const Kernel &kernel : kernels())
        if (kernel.gfx == gfx && matches(kernel, type))
            fitting.push_back(&kernel);
    return best_gguf_prefill(fitting, m, n, wgps);
}

const Kernel &choose_gguf_prefill(std::string_view gfx, std::string_view type, u32 m, u32 n,
                                  u32 wgps) {
    const Kernel *kernel = find_gguf_prefill(gfx, type, m, n, wgps);
    rules.need(kernel, "gfx = {}, type = {}: no kernel for it", gfx, type);
    return *kernel;
}

void validate(const GgufPrefill &p) {
    const GgufBlocks &blocks = gguf_blocks(rules, p.type);
    rules.need(p.m >= 1, "m = 0: must be at least 1; there is nothing to launch");
    rules.need(p.n >= 1, "n = 0: must be at least 1; there is nothing to launch");
    check_gguf_blocks(rules, blocks, p.k);
    rules.need(gguf_row_bytes(p.type, p.k) * widest_cols < offset_limit,
               "k = {}: {} rows of w must be smaller than 2^32 bytes; split K", p.k, widest_cols);
    // m alone first: no u32 is too large for what follows.
    rules.need(p.m < most_rows && gguf_halves_bytes(p.m, p.k) < offset_limit,
               "m = {}, k = {}: activations must be smaller than 2^32 bytes; split m", p.m, p.k);
    rules.need(u64{4} * widest_rows * p.n < store_limit,
               "n = {}: {} rows of c must be smaller than 2^31 bytes; split N", p.n, widest_rows);
    check_gguf_pointers(rules, p);
    check_gguf_overlap(rules, p, gguf_halves_bytes(p.m, p.k));
}

void launch(Modules &modules, const GgufPrefill &p, const hip::Stream &stream) {
    validate(p);
    const hip::DeviceInfo &device = modules.device().info();
    launch(modules, choose_gguf_prefill(device.gfx, p.type, p.m, p.n, device.wgps), p, stream);
}

void launch(Modules &modules, const Kernel &kernel, const GgufPrefill &p,
            const hip::Stream &stream) {
    validate(p);
    rules.need(matches(kernel, p.type), "{} is not for {}", kernel.symbol, p.type);
    launch(modules, kernel, p,
           gguf_prefill_order(kernel, p.m, p.n, p.k, modules.device().info().wgps), stream);
}

void launch(Modules &modules, const Kernel &kernel, const GgufPrefill &p,
            const GgufPrefillOrder &order, const hip::Stream &stream) {
    validate(p);
    rules.need(matches(kernel, p.type), "{} is not for {}", kernel.symbol, p.type);
    rules.need(std::has_single_bit(order.raster) && order.raster < 1u << 16,
               "raster = {}: must be a power of two below 2^16", order.raster);
    rules.need(!order.rotate ||
                   (p.k % super_k == 0 && u64{order.raster - 1} * order.rotate < p.k / super_k),
               "rotate = {}: must be 0, or k = {} a multiple of {} that is never reached",
               order.rotate, p.k, super_k);
    rules.need(order.first >= 1 && order.levels >= 1, "first = {}, levels = {}: must be at least 1",
               order.first, order.levels);
    rules.need(u64{order.levels} * order.pause < offset_limit,
               "levels = {}, pause = {}: the product must be below 2^32", order.levels,
               order.pause);
    const u64 workgroups = workgroups_of(kernel, p, order.raster);
    // HIP counts a launch's work-items in 32 bits.
    rules.need(workgroups * kernel.block < offset_limit,
               "m = {}, n = {}: {} workgroups of {} are more than 2^32 - 1 work-items; split m",
               p.m, p.n, workgroups, kernel.block);
    const u32 turn = order.raster * ceil_div(p.n, kernel.number("bn"));
    Kernarg out(kernel);
    out.put("a", p.a);
    out.put("w", p.w);
    out.put("c", p.c);
    out.put("m", p.m);
    out.put("n", p.n);
    out.put("stages", p.k / stage_k);
    out.put("tiles", gguf_halves_tiles(p.m));
    out.put("w_stride", static_cast<u32>(gguf_row_bytes(p.type, p.k)));
    out.put("turn", turn);
    out.put("turn_inverse", inverse(turn));
    out.put("raster_shift", static_cast<u32>(std::countr_zero(order.raster)));
    out.put("rotate", order.rotate);
    out.put("first", order.first);
    out.put("levels", order.levels);
    out.put("pause", order.pause);
    modules.device().launch(modules.function(kernel), static_cast<u32>(workgroups), kernel.block, 0,
                            out.bytes(), stream);
}

} // namespace nw
