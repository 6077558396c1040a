// SPDX-License-Identifier: MIT
// The exact fixed-point DOT model. Integer selects on 32 lanes: signs are 0 or -1 and conditions
// don't branch, so that the loops vectorise.
#include "sim/func/alu/dot.h"

namespace nw::sim::NW_LEVEL::dot {

namespace {

struct Factor {
    i32 mantissa; // with the implicit bit; 0 for a zero (or flushed) value
    i32 exponent;
};

template <class F, bool Gfx12> inline Factor factor(u32 h) {
    i32 e = static_cast<i32>(h >> F::mantissa_bits & F::exponent_mask);
    i32 fraction = static_cast<i32>(h & ((1u << F::mantissa_bits) - 1));
    i32 subnormal = F::gfx11_flushes && !Gfx12 ? 0 : fraction;
    return {e ? fraction | 1 << F::mantissa_bits : subnormal,
            (e ? e : 1) - static_cast<i32>(F::bias)};
}

constexpr i32 nothing = -10000; // exponent of a zero: below every grid

struct Product {
    i32 magnitude; // units of 2^(exponent - 24), below 2^26
    i32 exponent;  // sum of the factors' exponents, `nothing` for zero
    i32 sign;
};

template <class F, bool Gfx12> inline Product product(u32 x, u32 y) {
    Factor a = factor<F, Gfx12>(x), b = factor<F, Gfx12>(y);
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

template <Out out, bool Gfx12> inline Addend addend(u32 c) { // C as f32
    i32 e = static_cast<i32>(c >> 23 & 255), fraction = static_cast<i32>(c & 0x7fffff);
    i32 m = e ? fraction | 0x800000 : Gfx12 ? fraction : 0;
    i32 lead = (e ? e : 1) - 127; // gfx12: exponent of C, even 0, is at least -126
    lead = Gfx12 || out == Out::f16 || m ? lead : nothing;
    m <<= 3;
    if constexpr (out == Out::f16) {
        // 2.51: an f16 C, even 0, has an exponent of at least -14. Bits shift with the lead.
        i32 down = lead > nothing && lead < -14 ? -14 - lead : 0;
        m = shift_down(m, down);
        lead += down;
    }
    return {m, lead, static_cast<i32>(c) >> 31};
}

// sum * 2^grid, negated when `sign` is -1 (C's, on gfx11).
struct Sum {
    i32 sum, grid, sign;
};

// 2.49. A term whose sign differs from C's is complemented: -m - 1, even when m is 0.
inline Sum add_gfx11(Product p, Product q, Addend c) {
    i32 grid = larger(larger(p.exponent, q.exponent) - 24, c.lead - 26);
    i32 mp = shift_down(p.magnitude, grid - (p.exponent - 24));
    i32 mq = shift_down(q.magnitude, grid - (q.exponent - 24));
    i32 mc = shift_down(c.magnitude, grid - (c.lead - 26));
    i32 sum = mc + (mp ^ p.sign ^ c.sign) + (mq ^ q.sign ^ c.sign);
    return {(p.magnitude | q.magnitude | c.magnitude) == 0 ? 0 : sum, grid, c.sign};
}

// 2.52. Two's complement floors: each pair of products on its own grid, then the pairs and C on the
// common grid.
struct PairSum {
    i32 sum, grid;
};

inline PairSum pair_gfx12(Product p, Product q) {
    i32 grid = larger(p.exponent, q.exponent) - 24;
    return {shift_down(with_sign(p.magnitude, p.sign), grid - (p.exponent - 24)) +
                shift_down(with_sign(q.magnitude, q.sign), grid - (q.exponent - 24)),
            grid};
}

// A C with no bit on the grid is dropped, unless the grid is as fine as C can be (S-004).
template <Out out> inline i32 addend_on(i32 grid, Addend c) {
    constexpr i32 least = out == Out::f16 ? -14 : -126;
    i32 down = grid - (c.lead - 26);
    i32 floor = shift_down(with_sign(c.magnitude, c.sign), down);
    return (shift_down(c.magnitude, down) != 0) | (grid <= least) ? floor : 0;
}

template <Out out> inline Sum add_gfx12(PairSum p, PairSum q, Addend c) {
    i32 grid = larger(larger(p.grid, q.grid), c.lead - 26);
    return {shift_down(p.sum, grid - p.grid) + shift_down(q.sum, grid - q.grid) +
                addend_on<out>(grid, c),
            grid, 0};
}

// ---- the one rounding, to nearest even ----------------------------------------------------------

template <bool Gfx12> inline u32 to_f32(Sum s) {
    u32 f = fp::bits(static_cast<f32>(s.sum));
    i32 e = static_cast<i32>(f >> 23 & 255) + s.grid;
    u32 sign = (f ^ static_cast<u32>(s.sign)) & 0x80000000;
    u32 r = sign | (f & 0x7fffff) | static_cast<u32>(e) << 23;
    r = e >= 255 ? sign | 0x7f800000 : r;
    u32 tiny = 0; // gfx11 has no subnormal results, and its zero is positive
    if constexpr (Gfx12) {
        // In units of 2^-149; the grid is never below 2^-152.
        u32 magnitude = static_cast<u32>(s.sum < 0 ? -s.sum : s.sum);
        i32 down = larger(-149 - s.grid, 0), up = larger(s.grid + 149, 0);
        u32 half = (1u << down) >> 1, odd = magnitude >> down & (down ? 1 : 0);
        u32 units = (magnitude + (half ? half - 1 : 0) + odd) >> down << (up < 31 ? up : 31);
        tiny = units ? sign | units : 0; // results that underflow to zero are +0
    }
    r = e <= 0 ? tiny : r;
    return s.sum == 0 ? 0 : r;
}

inline u32 to_f16(Sum s, const Mode &m) {
    u32 magnitude = static_cast<u32>(s.sum < 0 ? -s.sum : s.sum);
    // More bits than an f32 has: keep fewer, with a sticky last bit, which is enough for an f16.
    u32 odd = magnitude >> 6 | (magnitude & 63 ? 1 : 0);
    bool long_sum = magnitude >= 1u << 24;
    f32 units = static_cast<f32>(static_cast<i32>(long_sum ? odd : magnitude));
    i32 exponent = s.grid + (long_sum ? 6 : 0); // -64 to 60, for a sum that isn't 0
    exponent = exponent < -100 ? -100 : exponent;
    u32 r = fp::narrow16_nearest(units * fp::f32_of(static_cast<u32>(exponent + 127) << 23));
    r = m.fp16_ovfl && r == 0x7c00 ? 0x7bff : r;
    u32 sign = static_cast<u32>(s.sum ^ s.sign) >> 16 & 0x8000;
    return r ? r | sign : 0; // results that underflow to zero are +0
}

template <Out out, bool Gfx12> inline u32 narrow(Sum s, const Mode &m) {
    if constexpr (out == Out::f16)
        return to_f16(s, m);
    u32 r = to_f32<Gfx12>(s);
    return out == Out::bf16 ? r >> 16 : r; // 2.51: bf16 results are cut, not rounded
}

// ---- infinities and NaN -------------------------------------------------------------------------

struct Specials {
    u32 nan_factor = 0, invalid = 0, plus_inf = 0, minus_inf = 0;
};

template <class F, bool Gfx12> inline void look_at(u32 x, u32 y, Specials &s) {
    constexpr u32 magnitude = 0x7fff, inf = F::exponent_mask << F::mantissa_bits;
    constexpr u32 smallest = F::gfx11_flushes && !Gfx12 ? 1u << F::mantissa_bits : 1;
    u32 p = x & magnitude, q = y & magnitude;
    s.nan_factor |= p > inf || q > inf ? 1 : 0;
    u32 is_inf = p == inf || q == inf ? 1 : 0, negative = (x ^ y) >> 15 & 1;
    s.invalid |= p < smallest || q < smallest ? is_inf : 0; // 0 * inf
    s.minus_inf |= is_inf & negative;
    s.plus_inf |= is_inf & ~negative;
}

// Returns `r` unless an operand is special; `c` as stored.
template <Out out> inline u32 or_special(u32 r, u32 c, u32 c32, Specials s) {
    constexpr u32 n = out == Out::f32 ? 0 : out == Out::f16 ? 1 : 2;
    constexpr u32 nan_word[] = {0xffc00a3d, 0xfe3d, 0xfffd},
                  default_nan[] = {0xffc00000, 0xfe00, 0xffc0};
    constexpr u32 quiet[] = {0x00400000, 0x0200, 0x0040}, inf[] = {0x7f800000, 0x7c00, 0x7f80};
    constexpr u32 sign[] = {0x80000000, 0x8000, 0x8000};
    u32 magnitude = c32 & 0x7fffffff, is_inf = magnitude == 0x7f800000 ? 1 : 0;
    s.minus_inf |= is_inf & c32 >> 31;
    s.plus_inf |= is_inf & ~(c32 >> 31);
    r = s.plus_inf ? inf[n] : r;
    r = s.minus_inf ? inf[n] | sign[n] : r;
    r = magnitude > 0x7f800000 ? c | quiet[n] : r;
    r = s.invalid | (s.plus_inf & s.minus_inf) ? default_nan[n] : r;
    return s.nan_factor ? nan_word[n] : r;
}

// ---- 32 lanes -----------------------------------------------------------------------------------

template <Out out> inline u32 widen(u32 c) { // exact
    return out == Out::f32 ? c : out == Out::bf16 ? c << 16 : fp::bits(fp::widen16(c));
}

template <class F, Out out, bool Gfx12, unsigned Words>
void lanes(u32 *d, const Factors &f, const u32 *c, const Mode &mode) {
    const Mode m = mode;
    const u32 *a0 = f.a[0], *b0 = f.b[0], *a1 = f.a[Words - 1], *b1 = f.b[Words - 1];
    alignas(64) u32 r[row_lanes];
#pragma GCC ivdep
    for (unsigned l = 0; l < row_lanes; ++l) {
        u32 x = a0[l], y = b0[l], stored = out == Out::f32 ? c[l] : c[l] & 0xffff;
        u32 c32 = widen<out>(stored);
        Specials special;
        look_at<F, Gfx12>(x & 0xffff, y & 0xffff, special);
        look_at<F, Gfx12>(x >> 16, y >> 16, special);
        Product p = product<F, Gfx12>(x & 0xffff, y & 0xffff);
        Product q = product<F, Gfx12>(x >> 16, y >> 16);
        Addend z = addend<out, Gfx12>(c32);
        Sum s;
        if constexpr (Gfx12) {
            PairSum low = pair_gfx12(p, q), high = {0, low.grid};
            if constexpr (Words == 2) {
                u32 u = a1[l], v = b1[l];
                look_at<F, Gfx12>(u & 0xffff, v & 0xffff, special);
                look_at<F, Gfx12>(u >> 16, v >> 16, special);
                high = pair_gfx12(product<F, Gfx12>(u & 0xffff, v & 0xffff),
                                  product<F, Gfx12>(u >> 16, v >> 16));
            }
            s = add_gfx12<out>(low, high, z);
        } else {
            s = add_gfx11(p, q, z);
        }
        r[l] = or_special<out>(narrow<out, Gfx12>(s, m), stored, c32, special);
    }
    std::memcpy(d, r, sizeof r);
}

template <class F, Out out> void select(u32 *d, const Factors &f, const u32 *c, const Mode &m) {
    if (!m.gfx12)
        return lanes<F, out, false, 1>(d, f, c, m);
    if (f.words == 1)
        return lanes<F, out, true, 1>(d, f, c, m);
    lanes<F, out, true, 2>(d, f, c, m);
}

} // namespace

template <class F> void book(u32 *d, const Factors &f, const u32 *c, Out out, const Mode &m) {
    switch (out) {
    case Out::f32:
        return select<F, Out::f32>(d, f, c, m);
    case Out::f16:
        return select<F, Out::f16>(d, f, c, m);
    case Out::bf16:
        return select<F, Out::bf16>(d, f, c, m);
    }
}

template void book<F16>(u32 *, const Factors &, const u32 *, Out, const Mode &);
template void book<BF16>(u32 *, const Factors &, const u32 *, Out, const Mode &);

} // namespace nw::sim::NW_LEVEL::dot
