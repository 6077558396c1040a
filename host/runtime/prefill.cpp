// SPDX-License-Identifier: MIT
#include "runtime/prefill.h"

#include <algorithm>
#include <bit>
#include <fmt/format.h>
#include <string>

#include "base/error.h"
#include "runtime/kernarg.h"
#include "runtime/operands.h"
#include "runtime/tile.h"

namespace nw {

namespace {

constexpr Rules rules(tile_family);

constexpr u64 offset_limit = u64{1} << 32;
constexpr Reach reach{offset_limit / widest_tile, "as 256 rows share a 32-bit offset"};

// Offsets within a tile are 32 bits, and signed where they are added to by an instruction.
void check_reach(const W4A16 &p) {
    constexpr u64 most = (u64{1} << 31) / (2 * widest_tile);
    rules.need(p.k < most, "k = {}: must be below {}, as {} rows of A share a 31-bit offset", p.k,
               most, widest_tile);
    rules.need(p.n < most, "n = {}: must be below {}, as {} rows of C share a 31-bit offset", p.n,
               most, widest_tile);
    const auto whole = [&](const char *argument, u64 stride, u64 rows, const char *why) {
        rules.need(stride * rows < offset_limit,
                   "{} = {}: {} rows must be smaller than 2^32 bytes together, {}; split N",
                   argument, stride, rows, why);
    };
    if (p.zeros == Zeros::packed)
        whole("z_stride", p.z_stride, ceil_div<u64>(p.n, 8), "which share a 32-bit offset");
    if (p.silu_gate_up) {
        whole("w_stride", p.w_stride, p.n, "as a tile has rows of both halves");
        whole("s_stride", p.s_stride, p.n, "as a tile has rows of both halves");
    }
}

struct Grid {
    u32 turn; // workgroups that go through the same rows of A; mid: the same rows of w
    u64 workgroups;
    u32 raster_shift = 0; // log2 of the tiles of rows that a turn has
};

Grid grid_of(const Kernel &kernel, const W4A16 &p) {
    const u32 bm = kernel.number("bm"), bn = kernel.number("bn");
    const u64 tiles = ceil_div<u64>(p.m, bm);
    if (is_mid(kernel))
        return {static_cast<u32>(tiles), tiles * ceil_div<u64>(p.n, bn)};
    // No more than there are: a workgroup without a tile takes a place for a moment, and the next
    // one another WGP.
    const u32 raster =
        static_cast<u32>(std::min<u64>(kernel.number("raster"), std::bit_ceil(tiles)));
    const u32 turn = raster * ceil_div(p.n, bn);
    return {turn, turn * ceil_div<u64>(tiles, raster), static_cast<u32>(std::countr_zero(raster))};
}

// Stages of 32 k from where one tile of rows of a turn begins to where the next one does: a whole
// number of groups, and of the 256 bytes that a DRAM channel has in a row. How many is by trial.
u32 rotation(u32 raster, u32 k) {
    constexpr u32 unit = 4;
    const u32 far = (k == 4096 ? 13 : 9) * unit;
    const u32 tiles = raster - 1, stages = k / 32;
    return stages > tiles * far ? far : stages > tiles * unit ? unit : 0;
}

// Which workgroups begin later (T-027): `pause` times 64 cycles for each `first` before them.
struct Start {
    u32 first = 1, levels = 1, pause = 0;
};

// Workgroups of a WGP that began together end together, and the last ones of all then share a few
// WGPs. Not where k camps on DRAM's channels (T-026): it wants workgroups in step.
Start start_of(const Kernel &kernel, const W4A16 &p, u64 workgroups, u32 wgps) {
    constexpr u32 simds = 4, lanes = 32, camping = 2048;
    const u32 levels = kernel.waves_per_simd * simds * lanes / kernel.block;
    const u64 of_wgp = ceil_div<u64>(workgroups, wgps);
    if (levels < 2 || of_wgp <= levels || of_wgp % levels == 0 || p.k % camping == 0)
        return {};
    // Of one alone on its WGP, whose WMMA is busy 7 of 8 cycles.
    const u64 macs_a_cycle = kernel.gfx.starts_with("gfx12") ? 1024 : 512;
    const u64 cycles = u64{kernel.number("bm")} * kernel.number("bn") * p.k / macs_a_cycle * 8 / 7;
    return {wgps, levels, static_cast<u32>(cycles / levels / 64)};
}

Kernarg pack(const Kernel &kernel, const W4A16 &p, const Grid &grid, u32 wgps) {
    const u32 turn = grid.turn;
    Kernarg out(kernel);
    put_operands(out, p);
    out.put("m", p.m);
    out.put(is_mid(kernel) ? "blocks" : "turn", turn);
    out.put(is_mid(kernel) ? "blocks_inverse" : "turn_inverse", inverse(turn));
    out.put("silu", u32{p.silu_gate_up});
    if (!is_mid(kernel)) {
        out.put("raster_shift", grid.raster_shift);
        out.put("rotate", rotation(1u << grid.raster_shift, p.k));
        const Start start = start_of(kernel, p, grid.workgroups, wgps);
        out.put("first", start.first);
        out.put("levels", start.levels);
        out.put("pause", start.pause);
    }
    return out;
}

} // namespace

void validate_prefill_shape(const W4A16 &p) {
    rules.need(p.m >= 1, "m = 0: must be at least 1; there is nothing to launch");
    rules.need(p.n >= 1, "n = 0: must be at least 1; there is nothing to launch");
    rules.need(p.group != per_row,
               "groups are per row: that form is for m = 1..{}; repeat each scale for groups of "
               "128, or split the batch",
               decode_rows);
    check_groups(rules, p.k, p.group, "32, 64 or 128");
    rules.need(p.zeros != Zeros::typed,
               "zeros are typed: that form is for m = 1..{}; pack the zero points, 4 bits each, "
               "or split the batch",
               decode_rows);
    rules.need(!p.silu_gate_up || p.n % 2 == 0,
               "n = {}: gate and up must have as many rows as each other", p.n);
}

void validate_prefill(const W4A16 &p) {
    validate_prefill_shape(p);
    check_operands(rules, p, reach);
    check_reach(p);
}

void launch_prefill(Modules &modules, const W4A16 &p, const hip::Stream &stream) {
    validate_prefill(p);
    launch_prefill(
        modules,
        choose_prefill(modules.device().info().gfx, p.dtype, p.group, p.zeros, p.m, p.n, p.k), p,
        stream);
}

void launch_prefill(Modules &modules, const Kernel &kernel, const W4A16 &p,
                    const hip::Stream &stream) {
    validate_prefill(p);
    if (!fits(kernel, kernel.gfx, p.dtype, p.group, p.zeros))
        throw Error(fmt::format("{}: {} is not for {}", tile_family, kernel.symbol,
                                tile_label(p.dtype, p.group, p.zeros)));
    const Grid grid = grid_of(kernel, p);
    const u64 workgroups = grid.workgroups;
    // HIP counts a launch's work-items in 32 bits.
    rules.need(workgroups * kernel.block < u64{1} << 32,
               "m = {}, n = {}: {} workgroups of {} are more than 2^32 - 1 work-items; split the "
               "batch",
               p.m, p.n, workgroups, kernel.block);
    check_overlap(rules, p);
    modules.device().launch(modules.function(kernel), static_cast<u32>(workgroups), kernel.block, 0,
                            pack(kernel, p, grid, modules.device().info().wgps).bytes(), stream);
}

} // namespace nw
