// SPDX-License-Identifier: MIT
// DOT2: the fixed-point model of isa_semantics 2.49 to 2.52, which hardware captures support.
// Products and addend are cut to a common grid and added as integers; one rounding at the end.
#pragma once
#include "sim/func/lanes.h"

namespace nw::sim::NW_LEVEL::dot {

// f16 and bf16 as sources: `room` bits are free below a product, so that product << room counts
// in units of 2^(exponent sum - 24).
struct F16 {
    static constexpr u32 mantissa_bits = 10, exponent_mask = 31, bias = 15, room = 4;
    static constexpr bool gfx11_flushes = false;
};
struct BF16 {
    static constexpr u32 mantissa_bits = 7, exponent_mask = 255, bias = 127, room = 10;
    static constexpr bool gfx11_flushes = true;
};

} // namespace nw::sim::NW_LEVEL::dot

#include "sim/func/dot_tame.h"

namespace nw::sim::NW_LEVEL::dot {

// All of this is integer selects on 32 lanes: signs are 0 or -1, conditions don't branch.

struct Factor {
    i32 mantissa; // with the implicit bit; 0 for a zero (or flushed) value
    i32 exponent;
};

template <class F> inline Factor factor(u32 h, bool gfx12) {
    i32 e = static_cast<i32>(h >> F::mantissa_bits & F::exponent_mask);
    i32 fraction = static_cast<i32>(h & ((1u << F::mantissa_bits) - 1));
    i32 subnormal = F::gfx11_flushes && !gfx12 ? 0 : fraction;
    return {e ? fraction | 1 << F::mantissa_bits : subnormal,
            (e ? e : 1) - static_cast<i32>(F::bias)};
}

template <class F> inline u32 is_special(u32 h) { // inf or NaN
    return (h >> F::mantissa_bits & F::exponent_mask) == F::exponent_mask ? 1 : 0;
}

inline constexpr i32 nothing = -10000; // exponent of a zero: below every grid

struct Product {
    i32 magnitude; // units of 2^(exponent - 24), below 2^26
    i32 exponent;  // sum of the factors' exponents, `nothing` for zero
    i32 sign;
};

template <class F> inline Product product(u32 x, u32 y, bool gfx12) {
    Factor a = factor<F>(x, gfx12), b = factor<F>(y, gfx12);
    i32 p = a.mantissa * b.mantissa;
    i32 sign = static_cast<i32>((x ^ y) << 16) >> 31;
    return {p << F::room, p ? a.exponent + b.exponent : nothing, sign};
}

inline i32 shift_down(i32 x, i32 count) { return x >> (count < 31 ? count : 31); }
inline i32 larger(i32 a, i32 b) { return a > b ? a : b; }
inline i32 with_sign(i32 magnitude, i32 sign) { return (magnitude ^ sign) - sign; }

// The addend: magnitude << 3, below 2^27, in units of 2^(lead - 26).
struct Addend {
    i32 magnitude, lead, sign;
};

inline Addend addend32(u32 c, bool gfx12) {
    i32 e = static_cast<i32>(c >> 23 & 255), fraction = static_cast<i32>(c & 0x7fffff);
    i32 m = e ? fraction | 0x800000 : gfx12 ? fraction : 0;
    i32 lead = (e ? e : 1) - 127; // gfx12 counts C, even 0, as at least 2^-126
    return {m << 3, gfx12 ? lead : m ? lead : nothing, static_cast<i32>(c) >> 31};
}

// sum * 2^grid, to be negated when `sign` is -1 (C's, on gfx11).
struct Sum {
    i32 sum, grid, sign;
};

// 2.49. A term of the other sign than C is complemented: -m - 1, also when m is 0.
inline Sum add_gfx11(Product p, Product q, Addend c) {
    i32 grid = larger(larger(p.exponent, q.exponent) - 24, c.lead - 26);
    i32 mp = shift_down(p.magnitude, grid - (p.exponent - 24));
    i32 mq = shift_down(q.magnitude, grid - (q.exponent - 24));
    i32 mc = shift_down(c.magnitude, grid - (c.lead - 26));
    i32 sum = mc + (mp ^ p.sign ^ c.sign) + (mq ^ q.sign ^ c.sign);
    return {(p.magnitude | q.magnitude | c.magnitude) == 0 ? 0 : sum, grid, c.sign};
}

// 2.52. Two's complement floors: each pair of products on its own grid, then pairs and C on the
// common one.
struct PairSum {
    i32 sum, grid;
};

inline PairSum pair_gfx12(Product p, Product q) {
    i32 grid = larger(p.exponent, q.exponent) - 24;
    return {shift_down(with_sign(p.magnitude, p.sign), grid - (p.exponent - 24)) +
                shift_down(with_sign(q.magnitude, q.sign), grid - (q.exponent - 24)),
            grid};
}

inline i32 addend_on(i32 grid, Addend c) { // without a bit on the grid it counts nothing
    i32 down = grid - (c.lead - 26);
    i32 floor = shift_down(with_sign(c.magnitude, c.sign), down);
    return shift_down(c.magnitude, down) ? floor : 0;
}

inline Sum add_gfx12(PairSum p, Addend c) {
    i32 grid = larger(p.grid, c.lead - 26);
    return {shift_down(p.sum, grid - p.grid) + addend_on(grid, c), grid, 0};
}
inline Sum add_gfx12(PairSum p, PairSum q, Addend c) {
    i32 grid = larger(larger(p.grid, q.grid), c.lead - 26);
    return {shift_down(p.sum, grid - p.grid) + shift_down(q.sum, grid - q.grid) +
                addend_on(grid, c),
            grid, 0};
}

// The result where nothing is special.
inline u32 to_f32(Sum s) {
    u32 f = fp::bits(static_cast<f32>(s.sum)); // the one rounding, to nearest even
    i32 e = static_cast<i32>(f >> 23 & 255) + s.grid;
    u32 sign = (f ^ static_cast<u32>(s.sign)) & 0x80000000;
    u32 r = sign | (f & 0x7fffff) | static_cast<u32>(e) << 23;
    r = e >= 255 ? sign | 0x7f800000 : r;
    r = e <= 0 ? 0 : r; // gfx11 has no subnormal results, and its zero is positive
    return s.sum == 0 ? 0 : r;
}

// gfx12's subnormal results need their own rounding.
inline u32 is_subnormal(Sum s) {
    u32 f = fp::bits(static_cast<f32>(s.sum));
    i32 e = static_cast<i32>(f >> 23 & 255) + s.grid;
    return s.sum == 0 ? 0 : e <= 0 ? 1 : 0;
}

enum class Out : u8 { f32, f16, bf16 };

// One lane by the book: NaN and infinities, subnormal results, 16-bit results. `words` pairs of
// factors: one on gfx11, one or two (a DOT4 step of WMMA) on gfx12.
template <class F>
u32 exact(const u32 *a, const u32 *b, unsigned words, u32 c, Out out, const Mode &m);

// Every active lane of the row tame? Then the short way.
template <class F, bool Gfx12>
inline bool run_tame(u32 *d, const u32 *a, const u32 *b, const u32 *c, u32 exec) {
    u32 wild = 0;
    auto tame = [&](unsigned l) {
        return Gfx12 ? tame_gfx12<F>(a[l], b[l], c[l]) : tame_gfx11<F>(a[l], b[l], c[l]);
    };
    auto wild_bit = [&](unsigned l) {
        return wild_bits<F>(a[l]) | wild_bits<F>(b[l]) | wild_addend_bit(c[l]);
    };
    if (exec == ~0u) {
        for (unsigned l = 0; l < row_lanes; ++l)
            wild |= wild_bit(l);
        if (wild)
            return false;
#pragma GCC ivdep
        for (unsigned l = 0; l < row_lanes; ++l)
            d[l] = tame(l);
        return true;
    }
    for (unsigned l = 0; l < row_lanes; ++l)
        wild |= exec >> l & 1 ? wild_bit(l) : 0;
    if (wild)
        return false;
    alignas(64) u32 r[row_lanes];
    for (unsigned l = 0; l < row_lanes; ++l)
        r[l] = tame(l);
    blend(d, r, exec, 1);
    return true;
}

template <class F, bool Gfx12>
inline void run_on(u32 *d, const u32 *a, const u32 *b, const u32 *c, u32 exec, const Mode &m) {
    if (run_tame<F, Gfx12>(d, a, b, c, exec)) [[likely]]
        return;
    alignas(64) u32 r[row_lanes], redo[row_lanes];
    u32 any = 0;
#pragma GCC ivdep
    for (unsigned l = 0; l < row_lanes; ++l) {
        u32 x = a[l], y = b[l], z = c[l];
        Product p = product<F>(x & 0xffff, y & 0xffff, Gfx12);
        Product q = product<F>(x >> 16, y >> 16, Gfx12);
        Addend addend = addend32(z, Gfx12);
        Sum s = Gfx12 ? add_gfx12(pair_gfx12(p, q), addend) : add_gfx11(p, q, addend);
        r[l] = to_f32(s);
        redo[l] = is_special<F>(x) | is_special<F>(x >> 16) | is_special<F>(y) |
                  is_special<F>(y >> 16) | ((z >> 23 & 255) == 255 ? 1 : 0) |
                  (Gfx12 ? is_subnormal(s) : 0);
        redo[l] &= exec >> l;
        any |= redo[l];
    }
    if (any) [[unlikely]]
        for (unsigned l = 0; l < row_lanes; ++l)
            if (redo[l] & 1)
                r[l] = exact<F>(&a[l], &b[l], 1, c[l], Out::f32, m);
    blend(d, r, exec, 1);
}

template <class F>
inline void run(u32 *d, const u32 *a, const u32 *b, const u32 *c, u32 exec, const Mode &m) {
    if (m.gfx12)
        run_on<F, true>(d, a, b, c, exec, m);
    else
        run_on<F, false>(d, a, b, c, exec, m);
}

template <class F>
inline void run16(u32 *d, const u32 *a, const u32 *b, const u32 *c, u32 exec, const Mode &m,
                  Out out) {
    for (unsigned l = 0; l < row_lanes; ++l)
        if (exec >> l & 1)
            d[l] = (d[l] & 0xffff0000) | exact<F>(&a[l], &b[l], 1, c[l] & 0xffff, out, m);
}

// gfx12's DOT4 step: a0, a1 and b0, b1 are the low and high pairs of factors.
template <class F>
inline void run4(u32 *d, const u32 *a0, const u32 *a1, const u32 *b0, const u32 *b1, const u32 *c,
                 const Mode &m) {
    alignas(64) u32 r[row_lanes], redo[row_lanes];
    u32 any = 0;
#pragma GCC ivdep
    for (unsigned l = 0; l < row_lanes; ++l) {
        u32 x = a0[l], y = b0[l], u = a1[l], v = b1[l], z = c[l];
        PairSum p = pair_gfx12(product<F>(x & 0xffff, y & 0xffff, true),
                               product<F>(x >> 16, y >> 16, true));
        PairSum q = pair_gfx12(product<F>(u & 0xffff, v & 0xffff, true),
                               product<F>(u >> 16, v >> 16, true));
        Sum s = add_gfx12(p, q, addend32(z, true));
        r[l] = to_f32(s);
        redo[l] = is_special<F>(x) | is_special<F>(x >> 16) | is_special<F>(y) |
                  is_special<F>(y >> 16) | is_special<F>(u) | is_special<F>(u >> 16) |
                  is_special<F>(v) | is_special<F>(v >> 16) | ((z >> 23 & 255) == 255 ? 1 : 0) |
                  is_subnormal(s);
        any |= redo[l];
    }
    if (any) [[unlikely]]
        for (unsigned l = 0; l < row_lanes; ++l)
            if (redo[l]) {
                u32 a[] = {a0[l], a1[l]}, b[] = {b0[l], b1[l]};
                r[l] = exact<F>(a, b, 2, c[l], Out::f32, m);
            }
    blend(d, r, ~0u, 1);
}

} // namespace nw::sim::NW_LEVEL::dot