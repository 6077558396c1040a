// SPDX-License-Identifier: MIT
// Vector instructions with effects beyond one value per lane; those with masks: mask_operands.cpp.
// Compiled once per host level.
#include "sim/func/alu/bit.h"
#include "sim/func/alu/fp8.h"
#include "sim/func/alu/mask_operands.h"
#include "sim/func/alu/operands.h"
#include "sim/isa/relative_move.h"

namespace nw::sim::NW_LEVEL {

namespace {

void nop(Wave &, const Inst &) {}

// ---- lanes (3.19 to 3.22): these act at EXEC = 0 too --------------------------------------------

u32 lane_of(Wave &w, const Source &s, unsigned lane) {
    Row room[2];
    return fetch(w, s, lane / row_lanes, room)[lane % row_lanes];
}

void readfirstlane(Wave &w, const Inst &i) {
    u64 exec = w.exec_mask();
    w.s[i.dst] = lane_of(w, i.src[0], exec ? static_cast<unsigned>(__builtin_ctzll(exec)) : 0);
}
void readlane(Wave &w, const Inst &i) {
    u32 lane = lane_of(w, i.src[1], 0) % (row_lanes * w.halves);
    w.s[i.dst] = lane_of(w, i.src[0], lane);
}
void writelane(Wave &w, const Inst &i) {
    u32 lane = lane_of(w, i.src[1], 0) % (row_lanes * w.halves);
    w.row(i.dst, lane / row_lanes)[lane % row_lanes] = lane_of(w, i.src[0], 0);
}

// Bits of the mask in src0 below the own lane, plus src1. Lo counts lanes 0-31, hi 32-63.
void count_below(Wave &w, const Inst &i, unsigned counted_half) {
    for (unsigned half = 0; half < w.halves; ++half) {
        Operands o;
        o.load(w, i, half);
        const u32 own = half == counted_half ? ~0u : 0, all = half > counted_half ? ~0u : 0;
        Row r;
#pragma GCC ivdep
        for (unsigned l = 0; l < row_lanes; ++l) {
            const u32 below = (((1u << l) - 1) & own) | all;
            r.lane[l] = bit::count(o.src[0][l] & below) + o.src[1][l];
        }
        blend(w.row(i.dst, half), r.lane, o.write, 1);
    }
}
void mbcnt_lo(Wave &w, const Inst &i) { count_below(w, i, 0); }
void mbcnt_hi(Wave &w, const Inst &i) { count_below(w, i, 1); }

// A nibble per lane selects the source lane in a row of 16. i.imm is op_sel: bit 0 reads inactive
// lanes, bit 1 makes them 0; with neither, the destination is unchanged (3.20).
template <class F> void permlane(Wave &w, const Inst &i, bool other_row, F nibble) {
    Row out[2];
    u32 write[2] = {};
    for (unsigned half = 0; half < w.halves; ++half) {
        Operands o;
        o.plain(w, i, half);
        write[half] = o.write;
        for (unsigned l = 0; l < row_lanes; ++l) {
            unsigned from = ((l & 16) ^ (other_row ? 16 : 0)) | nibble(o, l);
            bool active = w.exec(half) >> from & 1 || (i.imm & 1);
            out[half].lane[l] = active ? o.src[0][from] : 0;
            if (!active && !(i.imm & 2))
                write[half] &= ~(1u << l);
        }
    }
    for (unsigned half = 0; half < w.halves; ++half)
        blend(w.row(i.dst, half), out[half].lane, write[half], 1);
}
unsigned select16(const Operands &o, unsigned l) {
    return o.src[l & 8 ? 2 : 1][0] >> 4 * (l & 7) & 15; // the selectors are scalars
}
unsigned select_var(const Operands &o, unsigned l) { return o.src[1][l] & 15; }
void permlane16(Wave &w, const Inst &i) { permlane(w, i, false, select16); }
void permlanex16(Wave &w, const Inst &i) { permlane(w, i, true, select16); }
void permlane_var(Wave &w, const Inst &i, bool other_row) {
    Inst as_chosen = i;
    if (choices().permlane_var_inactive == choice::permlane_var_inactive::read) // S-045
        as_chosen.imm |= 1;
    permlane(w, as_chosen, other_row, select_var);
}
void permlane16_var(Wave &w, const Inst &i) { permlane_var(w, i, false); }
void permlanex16_var(Wave &w, const Inst &i) { permlane_var(w, i, true); }

void permlane64(Wave &w, const Inst &i) {
    if (w.halves == 1)
        return; // 3.22
    Row low, high;
    blend(low.lane, w.row(i.src[0].at, 0), ~0u, 1);
    blend(high.lane, w.row(i.src[0].at, 1), ~0u, 1);
    blend(w.row(i.dst, 0), high.lane, w.exec(0), 1);
    blend(w.row(i.dst, 1), low.lane, w.exec(1), 1);
}

void swap_b32(Wave &w, const Inst &i) {
    for (unsigned half = 0; half < w.halves; ++half) {
        Row old;
        u32 *x = w.row(i.dst, half), *y = w.row(i.src[0].at, half);
        blend(old.lane, x, ~0u, 1);
        blend(x, y, w.exec(half), 1);
        blend(y, old.lane, w.exec(half), 1);
    }
}

// Each operand names a half: i.imm bit 0 the destination's, bit 1 the source's.
void swap_b16(Wave &w, const Inst &i) {
    unsigned dx = i.imm & 1 ? 16 : 0, dy = i.imm & 2 ? 16 : 0;
    for (unsigned half = 0; half < w.halves; ++half) {
        u32 *x = w.row(i.dst, half), *y = w.row(i.src[0].at, half);
        for (unsigned l = 0; l < row_lanes; ++l) {
            if (!(w.exec(half) >> l & 1))
                continue;
            u32 a = x[l] >> dx & 0xffff, b = y[l] >> dy & 0xffff;
            x[l] = (x[l] & ~(0xffffu << dx)) | b << dx; // x and y may be the same register
            y[l] = (y[l] & ~(0xffffu << dy)) | a << dy;
        }
    }
}

// ---- registers chosen by M0

RelativeMove::Registers registers_of(const Wave &w, const Inst &i, const RelativeMove &move) {
    return move.registers(w.s[sreg::m0], i.src[0].at, i.dst, 1, vgpr_count);
}

void move_relative(Wave &w, const Inst &i, const RelativeMove &move) {
    const RelativeMove::Registers at = registers_of(w, i, move);
    if (!at.exist)
        return;
    for (unsigned half = 0; half < w.halves; ++half) {
        Row room[2];
        Source from = i.src[0];
        if (from.kind == Source::vgpr)
            from.at = at.source;
        const u32 *x = fetch(w, from, half, room);
        blend(w.row(at.destination, half), x, w.exec(half), 1);
    }
}
void movreld(Wave &w, const Inst &i) { move_relative(w, i, relative::to); }
void movrels(Wave &w, const Inst &i) { move_relative(w, i, relative::from); }
void movrelsd(Wave &w, const Inst &i) { move_relative(w, i, relative::both); }
void movrelsd_2(Wave &w, const Inst &i) { move_relative(w, i, relative::apart); }
void swaprel(Wave &w, const Inst &i) {
    const RelativeMove::Registers at = registers_of(w, i, relative::apart);
    if (!at.exist)
        return;
    for (unsigned half = 0; half < w.halves; ++half) {
        Row old;
        u32 *to = w.row(at.destination, half), *from = w.row(at.source, half);
        blend(old.lane, to, ~0u, 1);
        blend(to, from, w.exec(half), 1);
        blend(from, old.lane, w.exec(half), 1);
    }
}

// ---- FP8 with random rounding: i.imm is the byte that gets the result, the others stay
// ----------

template <class F> void cvt_sr(Wave &w, const Inst &i) {
    const unsigned down = 8 * static_cast<unsigned>(i.imm);
    for (unsigned half = 0; half < w.halves; ++half) {
        Operands o;
        o.load(w, i, half);
        u32 *d = w.row(i.dst, half);
        Row r;
        for (unsigned l = 0; l < row_lanes; ++l)
            r.lane[l] = (d[l] & ~(255u << down)) |
                        fp8::encode_random<F>(fp::f32_of(o.src[0][l]), o.src[1][l], w.mode) << down;
        blend(d, r.lane, o.write, 1);
    }
}
void cvt_sr_fp8(Wave &w, const Inst &i) { cvt_sr<fp8::E4M3>(w, i); }
void cvt_sr_bf8(Wave &w, const Inst &i) { cvt_sr<fp8::E5M2>(w, i); }

// ---- sums of absolute differences: four windows of src0's eight bytes against src1 (2.63).
// i.flag: CLAMP

template <bool Masked, bool Packed> void quad_sad(Wave &w, const Inst &i) {
    const u64 limit = Packed ? 0xffff : 0xffffffff;
    for (unsigned half = 0; half < w.halves; ++half) {
        Operands o;
        o.plain(w, i, half);
        Row r[4] = {};
        for (unsigned l = 0; l < row_lanes; ++l)
            for (unsigned n = 0; n < 4; ++n) {
                u64 bytes = o.src[0][l] | u64{o.src[0][l + row_lanes]} << 32;
                u32 window = static_cast<u32>(bytes >> 8 * n), b = o.src[1][l];
                u32 c = o.src[2][l + row_lanes * (Packed ? n / 2 : n)];
                u64 sum = Masked ? bit::msad8(window, b) : bit::sad8(window, b);
                sum += Packed ? c >> 16 * (n & 1) & 0xffff : c;
                u32 result = static_cast<u32>(i.flag ? bit::min(sum, limit) : sum & limit);
                r[Packed ? n / 2 : n].lane[l] |= result << (Packed ? 16 * (n & 1) : 0);
            }
        blend(w.row(i.dst, half), r[0].lane, o.write, i.dst_rows);
    }
}
void qsad_pk(Wave &w, const Inst &i) { quad_sad<false, true>(w, i); }
void mqsad_pk(Wave &w, const Inst &i) { quad_sad<true, true>(w, i); }
void mqsad_u32(Wave &w, const Inst &i) { quad_sad<true, false>(w, i); }

// ---- v_s_*: EXEC doesn't matter; f16 results have no upper half (2.34, S-012)
// --------------------

void pseudo_scalar(Wave &w, const Inst &i) {
    Operands o;
    o.load(w, i, 0);
    Row r = {};
    MxcsrScope scope(mxcsr_default);
    LaneKernel volatile kernel = i.lane; // a call: nothing moves out of the scope
    kernel(r.lane, o.src[0], o.src[1], o.src[2], ~0u, w.mode);
    if (i.extra)
        scale_and_clamp(&r, i, w.mode);
    w.s[i.dst] = r.lane[0];
}

// ---- integer dot products: i.imm bit 0, 1: src0, src1 are signed; bit 2: clamp
// -------------------

template <unsigned Bits> void dot_int(Wave &w, const Inst &i) {
    auto element = [](u32 x, unsigned at, bool is_signed) {
        u32 raised = x << (32 - Bits - at);
        return is_signed ? static_cast<i32>(raised) >> (32 - Bits)
                         : static_cast<i32>(raised >> (32 - Bits));
    };
    bool sa = i.imm & 1, sb = i.imm & 2, clamp = i.imm & 4;
    for (unsigned half = 0; half < w.halves; ++half) {
        Operands o;
        o.load(w, i, half);
        Row r;
        for (unsigned l = 0; l < row_lanes; ++l) {
            i32 sum = 0;
            for (unsigned at = 0; at < 32; at += Bits)
                sum += element(o.src[0][l], at, sa) * element(o.src[1][l], at, sb);
            i64 total = i64{sum} + static_cast<i32>(o.src[2][l]);
            if (clamp)
                total = bit::clamp(total, i64{-0x80000000ll}, i64{0x7fffffff});
            r.lane[l] = static_cast<u32>(total);
        }
        blend(w.row(i.dst, half), r.lane, o.write, 1);
    }
}
void dot4_iu8(Wave &w, const Inst &i) { dot_int<8>(w, i); }
void dot8_iu4(Wave &w, const Inst &i) { dot_int<4>(w, i); }

} // namespace

void fill_special(Frames &f) {
#define SPECIAL(mn, cls, D, A, B, C, handler) f.special[static_cast<size_t>(Op::mn)] = handler;
#include "sim/isa/tables/special.inc"
}

} // namespace nw::sim::NW_LEVEL
