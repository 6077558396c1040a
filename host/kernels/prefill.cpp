// SPDX-License-Identifier: MIT
#include "kernels/prefill.h"

#include <algorithm>
#include <bit>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "base/error.h"
#include "base/half.h"
#include "kernels/force.h"
#include "kernels/kernarg.h"
#include "kernels/operands.h"

namespace nw {

namespace {

constexpr std::string_view family = "prefill_w4a16", mid_family = "mid_w4a16";
constexpr Rules rules(family);

constexpr u64 offset_limit = u64{1} << 32;
constexpr Reach reach{offset_limit / widest_tile, "as 256 rows share a 32-bit offset"};

using Kind = std::tuple<std::string_view, Dtype, u32, Zeros>; // gfx, dtype, group

Kind kind_of(const Kernel &k) { return {k.gfx, dtype_of(k), group_of(k), zeros_of(k)}; }

std::string label(Dtype dtype, u32 group, Zeros zeros) {
    return fmt::format("{} g{}{}{}", name(dtype), group_name(group),
                       zeros == Zeros::eight ? "" : " ", zeros_name(zeros));
}

bool is_mid(const Kernel &k) { return k.family == mid_family; }
bool is_prefill_family(const Kernel &k) { return k.family == family || is_mid(k); }

// A launch has no time to search the catalogue.
using Tiles = std::vector<const Kernel *>;
std::map<Kind, Tiles> all_choices() {
    std::map<Kind, Tiles> out;
    for (const Kernel &k : kernels())
        if (is_prefill_family(k) && !k.reference && !k.candidate)
            out[kind_of(k)].push_back(&k);
    return out;
}

// How many rows of C the tiles of all workgroups stand for, or columns.
u64 covered(u32 size, u32 tile) { return ceil_div<u64>(size, tile) * tile; }

// Up to mid_rows the family that goes at memory's speed, where it has the form. Then the fewest
// elements outside of C; of as many, the largest tile, which reads the least.
const Kernel &best_tile(const Tiles &tiles, u32 m, u32 n) {
    const auto rank = [&](const Kernel *k) {
        const u32 bm = k->number("bm"), bn = k->number("bn");
        const bool other = is_mid(*k) != (m <= mid_rows);
        return std::tuple{other, is_mid(*k) ? covered(m, bm) : covered(m, bm) * covered(n, bn),
                          -i64{bm} * bn};
    };
    return **std::ranges::min_element(tiles, {}, rank);
}

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
// number of groups, and of the 256 bytes that a DRAM channel has in a row.
u32 rotation(u32 raster, u32 k) {
    constexpr u32 unit = 4, far = 9 * unit;
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

// A kernel of the caller's or the environment's choice.
bool fits(const Kernel &kernel, const Kind &kind) {
    return is_prefill_family(kernel) && kind_of(kernel) == kind;
}

} // namespace

const Kernel &choose_prefill(std::string_view gfx, Dtype dtype, u32 group, Zeros zeros, u32 m,
                             u32 n) {
    static const std::map<Kind, Tiles> choices = all_choices();
    for (std::string_view of : {family, mid_family})
        if (const Kernel *kernel = forced(of, gfx)) {
            if (fits(*kernel, {gfx, dtype, group, zeros}))
                return *kernel;
            throw Error(fmt::format("NIBBLEWAVE_FORCE={}: it is not for {}: unset it, or name a "
                                    "kernel for such products",
                                    kernel->symbol, label(dtype, group, zeros)));
        }
    if (const auto found = choices.find({gfx, dtype, group, zeros}); found != choices.end())
        return best_tile(found->second, m, n);
    std::set<std::string_view> known;
    for (const auto &[kind, tiles] : choices)
        known.insert(std::get<0>(kind));
    rules.need(known.contains(gfx), "gfx = {}: no kernels for it; there are kernels for {}", gfx,
               fmt::join(known, ", "));
    throw Error(fmt::format("{}: no kernel for {} on {}; there are bf16 and f16, groups of 32, 64, "
                            "128, symmetric, with packed zero points and with the carrier",
                            family, label(dtype, group, zeros), gfx));
}

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
    launch_prefill(modules,
                   choose_prefill(modules.device().info().gfx, p.dtype, p.group, p.zeros, p.m, p.n),
                   p, stream);
}

void launch_prefill(Modules &modules, const Kernel &kernel, const W4A16 &p,
                    const hip::Stream &stream) {
    validate_prefill(p);
    if (!fits(kernel, {kernel.gfx, p.dtype, p.group, p.zeros}))
        throw Error(fmt::format("{}: {} is not for {}", family, kernel.symbol,
                                label(p.dtype, p.group, p.zeros)));
    const Grid grid = grid_of(kernel, p);
    const u64 workgroups = grid.workgroups;
    // HIP counts a launch's work-items in 32 bits.
    rules.need(workgroups * kernel.block < u64{1} << 32,
               "m = {}, n = {}: {} workgroups of {} are more than 2^32 - 1 work-items; split the "
               "batch",
               p.m, p.n, workgroups, kernel.block);
    check_overlap(rules, p);
    modules.device().launch(modules.function(kernel), static_cast<u32>(workgroups), kernel.block, 0,
                            pack(kernel, p, grid, modules.device().info().compute_units).bytes(),
                            stream);
}

} // namespace nw
