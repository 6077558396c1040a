// SPDX-License-Identifier: MIT
// Float WMMA where every element is tame (dot_tame.h): values that depend on one factor are
// computed once per instruction, not per product. A step is then about thirty operations on 16
// columns. test_sim_dot checks that it equals the slow model.
#pragma once
#include "sim/func/alu/dot.h"
#include "sim/func/alu/matrix_operands.h"

namespace nw::sim::NW_LEVEL::dot {

// All factors of A by row, or of B by column, in ascending k.
struct Terms {
    alignas(64) f32 value[2 * max_words][side];
    // Negated exponent: a row's plus a column's is 2^-grid of their product (f32 bits).
    alignas(64) u32 down[2 * max_words][side];
};

// Shares of product_base. Tame exponents are 96..159 units, so shares are 43 to 108 and sums of two
// 86 to 216; a zero's share lifts any sum above `least_scale`.
inline constexpr u32 share_a = 203 * unit, share_b = product_base - share_a;
inline constexpr u32 zero_share = 202 * unit, least_scale = product_base - no_product;

template <class F> void decompose(const Factor &f, unsigned words, u32 share, Terms &t) {
    for (unsigned n = 0; n < words; ++n)
#pragma GCC ivdep
        for (unsigned l = 0; l < side; ++l) {
            Wide low = widen<F>(f.word[n][l] << 16), high = widen<F>(f.word[n][l] & 0xffff0000);
            t.value[2 * n][l] = low.value;
            t.value[2 * n + 1][l] = high.value;
            t.down[2 * n][l] = low.value == 0 ? zero_share : share - low.exponent;
            t.down[2 * n + 1][l] = high.value == 0 ? zero_share : share - high.exponent;
        }
}

// One half of 32 words.
template <class F> void any_halves(f32 *out, const u32 *words, unsigned shift) {
    alignas(64) u32 half[row_lanes];
    for (unsigned l = 0; l < row_lanes; ++l)
        half[l] = words[l] >> shift & 0xffff;
    if constexpr (F::bias == 15)
        return widen_row(out, half);
    for (unsigned l = 0; l < row_lanes; ++l)
        out[l] = fp::f32_of(half[l] << 16);
}

// Values of any factors, without exponents. Two words of all columns are a row of lanes.
template <class F> void values(const Factor &f, unsigned words, Terms &t) {
    for (unsigned n = 0; n < words; n += 2)
        for (unsigned high = 0; high < 2; ++high) {
            alignas(64) f32 v[row_lanes];
            any_halves<F>(v, f.word[n], 16 * high);
            std::memcpy(t.value[2 * n + high], v, sizeof v / 2);
            std::memcpy(t.value[2 * n + 2 + high], v + side, sizeof v / 2);
        }
}

template <class F> bool is_wild(const Factor &f, unsigned words) {
    u32 wild = 0;
    for (unsigned n = 0; n < words; ++n)
        for (unsigned l = 0; l < side; ++l)
            wild |= wild_bits<F>(f.word[n][l]);
    return wild;
}

// 16 columns of one row of D: c += a pair of products, as tame_gfx11.
inline void tame_step_gfx11(u32 *acc, const Terms &a, unsigned row, const Terms &b, unsigned k) {
    const f32 x0 = a.value[k][row], x1 = a.value[k + 1][row];
    const u32 d0 = a.down[k][row], d1 = a.down[k + 1][row];
#pragma GCC ivdep
    for (unsigned l = 0; l < side; ++l) {
        u32 c = acc[l], sign = c & 0x80000000;
        f32 p0 = x0 * b.value[k][l], p1 = x1 * b.value[k + 1][l];
        u32 products = smaller(d0 + b.down[k][l], d1 + b.down[k + 1][l]);
        u32 scale = smaller(smaller(products, addend_base - (c & exponent_field)), least_scale);
        f32 s = fp::f32_of(scale);
        // Products relative to C's sign: those of the other sign count one less (2.49).
        u32 q0 = fp::bits(p0) ^ sign, q1 = fp::bits(p1) ^ sign;
        i32 t0 = static_cast<i32>(fp::f32_of(q0) * s) + (static_cast<i32>(q0) >> 31);
        i32 t1 = static_cast<i32>(fp::f32_of(q1) * s) + (static_cast<i32>(q1) >> 31);
        i32 sum = static_cast<i32>(fp::f32_of(c ^ sign) * s) + t0 + t1;
        sum = ((fp::bits(p0) | fp::bits(p1) | c) & 0x7fffffff) == 0 ? 0 : sum;
        u32 r = fp::bits(static_cast<f32>(sum) * fp::f32_of(254 * unit - scale));
        acc[l] = sum == 0 ? 0 : r ^ sign;
    }
}

inline i32 floor_scaled(f32 v) { // |v| < 2^28
#if defined(__SSE4_1__)
    return static_cast<i32>(__builtin_floorf(v));
#else
    return static_cast<i32>(floor_int(v));
#endif
}

// Four products, as two pairs with grids of their own (2.52).
inline void tame_step_gfx12(u32 *acc, const Terms &a, unsigned row, const Terms &b, unsigned k) {
    const f32 *x[4];
    const u32 *d[4];
    for (unsigned n = 0; n < 4; ++n)
        x[n] = &a.value[k + n][row], d[n] = &a.down[k + n][row];
    const f32 x0 = *x[0], x1 = *x[1], x2 = *x[2], x3 = *x[3];
    const u32 d0 = *d[0], d1 = *d[1], d2 = *d[2], d3 = *d[3];
#pragma GCC ivdep
    for (unsigned l = 0; l < side; ++l) {
        u32 c = acc[l];
        u32 low = smaller(smaller(d0 + b.down[k][l], d1 + b.down[k + 1][l]), least_scale);
        u32 high = smaller(smaller(d2 + b.down[k + 2][l], d3 + b.down[k + 3][l]), least_scale);
        u32 scale = smaller(smaller(low, high), addend_base - larger(c & exponent_field, unit));
        f32 s = fp::f32_of(low), t = fp::f32_of(high), v = fp::f32_of(c) * fp::f32_of(scale);
        i32 pair = floor_scaled(x0 * b.value[k][l] * s) + floor_scaled(x1 * b.value[k + 1][l] * s);
        i32 next =
            floor_scaled(x2 * b.value[k + 2][l] * t) + floor_scaled(x3 * b.value[k + 3][l] * t);
        i32 counts = -static_cast<i32>((fp::bits(v) & 0x7fffffff) >= 127 * unit);
        i32 sum = (pair >> smaller((low - scale) >> 23, 31)) +
                  (next >> smaller((high - scale) >> 23, 31)) + (floor_scaled(v) & counts);
        acc[l] = fp::bits(static_cast<f32>(sum) * fp::f32_of(254 * unit - scale));
    }
}

// HIPSIM_MATH=fast: a chain of fused multiply-adds.
inline void fast_step(u32 *acc, const Terms &a, unsigned row, const Terms &b, unsigned k) {
    const f32 x0 = a.value[k][row], x1 = a.value[k + 1][row];
#pragma GCC ivdep
    for (unsigned l = 0; l < side; ++l)
        acc[l] = fp::bits(
            fp::fma(x1, b.value[k + 1][l], fp::fma(x0, b.value[k][l], fp::f32_of(acc[l]))));
}

} // namespace nw::sim::NW_LEVEL::dot
