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

struct Factor {
    i32 mantissa; // with the implicit bit; 0 for a zero (or flushed) value
    i32 exponent;
};

template <class F> inline Factor factor(u32 h, bool flush) {
    i32 e = static_cast<i32>(h >> F::mantissa_bits & F::exponent_mask);
    i32 fraction = static_cast<i32>(h & ((1u << F::mantissa_bits) - 1));
    i32 subnormal = flush ? 0 : fraction;
    return {e ? fraction | 1 << F::mantissa_bits : subnormal,
            (e ? e : 1) - static_cast<i32>(F::bias)};
}

template <class F> inline bool is_special(u32 h) { // inf or NaN
    return (h >> F::mantissa_bits & F::exponent_mask) == F::exponent_mask;
}

inline constexpr i32 nothing = -10000; // exponent of a zero: below every grid

struct Product {
    i32 magnitude; // units of 2^(exponent - 24), below 2^26
    i32 exponent;  // sum of the factors' exponents, `nothing` for zero
    bool negative;
};

template <class F> inline Product product(u32 x, u32 y, bool flush) {
    Factor a = factor<F>(x, flush), b = factor<F>(y, flush);
    i32 p = a.mantissa * b.mantissa;
    return {p << F::room, p ? a.exponent + b.exponent : nothing, ((x ^ y) >> 15 & 1) != 0};
}

inline i32 shift_down(i32 x, i32 count) { return x >> (count < 31 ? count : 31); }
inline i32 larger(i32 a, i32 b) { return a > b ? a : b; }

// The addend: magnitude << 3, below 2^27, in units of 2^(lead - 26).
struct Addend {
    i32 magnitude, lead;
    bool negative;
};

// sum * 2^grid. On gfx11 `sum` is relative to C's sign.
struct Sum {
    i32 sum, grid;
    bool negative; // of C, gfx11
};

// 2.49. A term of the other sign than C is complemented: -m - 1, also when m is 0.
inline Sum add_gfx11(Product p, Product q, Addend c) {
    i32 grid = larger(larger(p.exponent, q.exponent) - 24, c.lead - 26);
    i32 mp = shift_down(p.magnitude, grid - (p.exponent - 24));
    i32 mq = shift_down(q.magnitude, grid - (q.exponent - 24));
    i32 mc = shift_down(c.magnitude, grid - (c.lead - 26));
    i32 sum = mc + (p.negative != c.negative ? ~mp : mp) + (q.negative != c.negative ? ~mq : mq);
    bool nothing_at_all = (p.magnitude | q.magnitude | c.magnitude) == 0;
    return {nothing_at_all ? 0 : sum, grid, c.negative};
}

// 2.52. Two's complement floors: the pair on its own grid, then pair and C on the common one.
inline Sum add_gfx12(Product p, Product q, Addend c) {
    i32 pair_grid = larger(p.exponent, q.exponent) - 24;
    i32 vp = shift_down(p.negative ? -p.magnitude : p.magnitude, pair_grid - (p.exponent - 24));
    i32 vq = shift_down(q.negative ? -q.magnitude : q.magnitude, pair_grid - (q.exponent - 24));
    i32 grid = larger(pair_grid, c.lead - 26);
    i32 pair = shift_down(vp + vq, grid - pair_grid);
    i32 down = grid - (c.lead - 26);
    i32 vc = shift_down(c.negative ? -c.magnitude : c.magnitude, down);
    return {pair + (shift_down(c.magnitude, down) ? vc : 0), grid, false};
}

inline Addend addend32(u32 c, bool gfx12) {
    i32 e = static_cast<i32>(c >> 23 & 255), fraction = static_cast<i32>(c & 0x7fffff);
    i32 m = e ? fraction | 0x800000 : gfx12 ? fraction : 0;
    i32 lead = (e ? e : 1) - 127; // gfx12 counts C, even 0, as at least 2^-126
    return {m << 3, m || gfx12 ? lead : nothing, c >> 31 != 0};
}

// The result where nothing is special. False when it has to be redone by `exact`.
inline bool to_f32(Sum s, bool gfx12, u32 &r) {
    u32 f = fp::bits(static_cast<f32>(s.sum)); // the one rounding, to nearest even
    i32 e = static_cast<i32>(f >> 23 & 255) + s.grid;
    u32 sign = (f & 0x80000000) ^ (s.negative ? 0x80000000 : 0);
    u32 scaled = (f & 0x7fffff) | static_cast<u32>(e) << 23;
    bool zero = s.sum == 0 || e <= 0;
    r = zero ? 0 : sign | (e >= 255 ? 0x7f800000 : scaled);
    return !(gfx12 && s.sum != 0 && e <= 0);
}

enum class Out : u8 { f32, f16, bf16 };

// One lane by the book: NaN and infinities, subnormal results, 16-bit results.
template <class F> u32 exact(u32 a, u32 b, u32 c, Out out, const Mode &m);

template <class F>
inline void run(u32 *d, const u32 *a, const u32 *b, const u32 *c, u32 exec, const Mode &m) {
    bool gfx12 = m.gfx12, flush = F::gfx11_flushes && !gfx12;
    alignas(64) u32 r[row_lanes], redo[row_lanes];
    u32 any = 0;
    auto lanes = [&](auto add) {
#pragma GCC ivdep
        for (unsigned l = 0; l < row_lanes; ++l) {
            u32 x = a[l], y = b[l], z = c[l];
            Sum s = add(product<F>(x & 0xffff, y & 0xffff, flush),
                        product<F>(x >> 16, y >> 16, flush), addend32(z, gfx12));
            bool special = is_special<F>(x) | is_special<F>(x >> 16) | is_special<F>(y) |
                           is_special<F>(y >> 16) | ((z >> 23 & 255) == 255);
            u32 value;
            bool good = to_f32(s, gfx12, value);
            r[l] = value;
            redo[l] = special | !good;
            any |= redo[l];
        }
    };
    if (gfx12)
        lanes([](Product p, Product q, Addend z) { return add_gfx12(p, q, z); });
    else
        lanes([](Product p, Product q, Addend z) { return add_gfx11(p, q, z); });
    if (any) [[unlikely]]
        for (unsigned l = 0; l < row_lanes; ++l)
            if (redo[l])
                r[l] = exact<F>(a[l], b[l], c[l], Out::f32, m);
    blend(d, r, exec, 1);
}

template <class F>
inline void run16(u32 *d, const u32 *a, const u32 *b, const u32 *c, u32 exec, const Mode &m,
                  Out out) {
    for (unsigned l = 0; l < row_lanes; ++l)
        if (exec >> l & 1)
            d[l] = (d[l] & 0xffff0000) | exact<F>(a[l], b[l], c[l] & 0xffff, out, m);
}

} // namespace nw::sim::NW_LEVEL::dot
