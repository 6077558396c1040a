// SPDX-License-Identifier: MIT
// Bit-exact model of the transcendental unit: fixed-point piecewise cubics that reproduce published
// captures (S-010). Integer selects only: MODE's and the host's rounding don't matter, and loops
// over lanes vectorise. Per host level, as fp.h.
#pragma once
#include "sim/func/alu/fp.h"
#include "sim/func/alu/trans_tables.h"

namespace nw::sim::NW_LEVEL::trans {

using namespace nw::sim::trans;

inline constexpr u32 infinity32 = 0x7f800000;

// x / 2^shift to the nearest, ties to even.
inline u64 round_even(u64 x, unsigned shift) {
    return (x + ((u64{1} << (shift - 1)) - 1) + (x >> shift & 1)) >> shift;
}
// A product kept to 24 bits by the unit: the last bit moves up when the product needs 48.
inline u64 round_product(u64 x) {
    u64 wide = round_even(x, 24) * 2, narrow = round_even(x, 23);
    return x >> 47 ? wide : narrow;
}

// Quadratic and cubic terms of rcp, rsq and sqrt; `f` is the 24-bit offset into the segment.
template <unsigned QuadraticShift, unsigned CubicShift>
inline u64 higher_orders(const Segment &s, u64 f) {
    u64 top = f >> 7, square = (top * top) >> 10;
    u64 cubic = round_even(s.cubic * ((f >> 4) + 1), CubicShift);
    return round_product(((u64{s.quadratic} << QuadraticShift) - cubic) * square);
}

// f64's offset to a segment's constant, in units of f32's: half of one, except in one segment.
enum class Width { f32, f64 };

// 2^35 / 1.m, m having 29 bits.
template <Width W> inline u64 rcp_cubic(u32 m) {
    u32 at = m >> 24;
    u64 f = m & 0xffffff;
    const Segment &s = rcp_segments[at];
    u64 product = s.linear * f;
    u64 wide = round_even(product, 21), narrow = (product + 0x17ffff) >> 21;
    u64 linear = product >> 44 ? wide : narrow;
    u64 half = W == Width::f64 && at != 0 ? 256 : 0;
    return u64{s.constant} * 512 + half - linear * 64 + higher_orders<8, 12>(s, f);
}

// 2^36 / sqrt(1.m * 2^parity), m having 29 bits.
template <Width W> inline u64 rsq_cubic(u32 parity, u32 m) {
    u32 at = m >> 24;
    u64 f = m & 0xffffff;
    const Segment &s = rsq_segments[parity * 32 + at];
    u64 product = s.linear * (at == 31 ? f & ~u64{0x30} : f); // the unit ignores two bits
    u64 linear = (product + (product >> 43 ? 0x17ffff : 0x1bffff)) >> 21;
    u64 half = W == Width::f64 && at != 0 ? 512 : 0;
    return u64{s.constant} * 1024 + half - linear * 128 + higher_orders<9, 11>(s, f);
}

// 2^35 * sqrt(1.m * 2^parity), m having 28 bits.
template <Width W> inline u64 sqrt_cubic(u32 parity, u32 m) {
    u32 at = m >> 24;
    u64 f = m & 0xffffff;
    const Segment &s = sqrt_segments[parity * 16 + at];
    u64 product = s.linear * f;
    u64 wide = round_even(product, 22), narrow = (product + (1 << 20)) >> 22;
    u64 linear = product >> 45 ? wide : narrow;
    u64 half = W == Width::f64 && at != 15 ? 512 : 0;
    return u64{s.constant} * 1024 + half + linear * 128 - higher_orders<8, 11>(s, f);
}

// ---- f32 (2.29): of MODE only the quieting of NaNs applies; subnormals are zero both ways -------

inline u32 quiet(u32 nan, const Mode &m) { return nan | m.quiet32; }

inline u32 rcp(u32 x, const Mode &m) {
    u32 sign = x & 0x80000000, magnitude = x & 0x7fffffff, e = magnitude >> 23;
    u32 unit = static_cast<u32>(round_even(rcp_cubic<Width::f32>((x & 0x7fffff) << 6), 11));
    // 1 / 1.m in units of 2^-24: 2^24 is 1, smaller values have the exponent below.
    u32 scaled = unit + ((252 - e) << 23);
    bool flushed = e >= 254 || (e == 253 && unit < 0x1000000);
    u32 r = flushed ? 0 : scaled;
    r = e == 0 ? infinity32 : r;
    return magnitude > infinity32 ? quiet(x, m) : r | sign;
}

inline u32 rsq(u32 x, const Mode &m) {
    u32 sign = x & 0x80000000, magnitude = x & 0x7fffffff, e = magnitude >> 23;
    u32 parity = ~e & 1; // of the unbiased exponent
    u64 cubic = rsq_cubic<Width::f32>(parity, (x & 0x7fffff) << 6);
    u32 half = (e - 127 - parity + 256) / 2; // of an even number, biased by 128
    u32 r = static_cast<u32>(round_even(cubic, 12)) + ((125 + 128 - half) << 23);
    r = magnitude == infinity32 ? 0 : r;
    r = sign ? fp::default_nan32 : r;
    r = e == 0 ? sign | infinity32 : r;
    return magnitude > infinity32 ? quiet(x, m) : r;
}

inline u32 sqrt(u32 x, const Mode &m) {
    u32 sign = x & 0x80000000, magnitude = x & 0x7fffffff, e = magnitude >> 23;
    u32 parity = ~e & 1;
    u64 cubic = sqrt_cubic<Width::f32>(parity, (x & 0x7fffff) << 5);
    u32 half = (e - 127 - parity + 256) / 2;
    u32 r = static_cast<u32>(round_even(cubic, 12)) + ((half - 128 + 126) << 23);
    r = magnitude == infinity32 ? infinity32 : r;
    r = sign ? fp::default_nan32 : r;
    r = e == 0 ? sign : r;
    return magnitude > infinity32 ? quiet(x, m) : r;
}

// 2^x before its last rounding: significand * 2^(exponent - 36), significand in [2^36, 2^37).
struct WideExp {
    i32 exponent;
    u64 significand;
};

// For 2^-24 <= |x| < 128, from bits. A negative x takes the ones' complement of its fraction.
inline WideExp wide_exp(u32 x) {
    u32 e = x >> 23 & 255, up = e > 121 ? e - 121 : 0, down = e < 121 ? 121 - e : 0;
    u64 mantissa = (x & 0x7fffff) | 0x800000;
    u64 fixed = (mantissa << (up < 12 ? up : 12)) >> (down < 31 ? down : 31); // 29 fraction bits
    u64 phase = x >> 31 ? ~fixed : fixed;
    const Segment &s = exp_segments[phase >> 24 & 31];
    u64 offset = phase & 0xffffff, high = offset >> 6;
    u64 product = s.linear * offset;
    u64 linear = (product + (product >> 47 ? u64{1} << 23 : u64{1} << 22)) >> 24;
    u64 inner = round_even((u64{s.quadratic} << 7) + s.cubic * high, 7);
    u64 curve = inner * ((high * high) >> 12);
    u64 wide = ((curve + (1 << 23)) >> 24) * 2, narrow = (curve + (1 << 22)) >> 23;
    u64 quadratic = curve >> 47 ? wide : narrow;
    return {static_cast<i32>(phase >> 29), ((s.constant + linear) << 8) + quadratic};
}

inline u32 exp(u32 x, const Mode &m) {
    u32 magnitude = x & 0x7fffffff;
    WideExp w = wide_exp(x);
    // A rounding carry propagates into the exponent, as intended.
    i32 scaled = static_cast<i32>(round_even(w.significand, 13)) + (w.exponent + 126) * (1 << 23);
    u32 r = scaled < 0x00800000 ? 0 : static_cast<u32>(scaled);
    r = magnitude >= 0x43000000 ? (x >> 31 ? 0 : infinity32) : r; // from 128 on
    r = magnitude < 0x33800000 ? 0x3f800000 : r;                  // below 2^-24
    return magnitude > infinity32 ? quiet(x, m) : r;
}

// A positive number below 2^52 with `fraction` fraction bits, to f32; `up`: away from zero.
inline u32 fixed_to_f32(u64 value, u32 fraction, bool up) {
    constexpr u64 two52 = u64{0x433} << 52;               // the bits of 2^52 as f64
    u64 u = fp::bits(fp::f64_of(value | two52) - 0x1p52); // exact, and normalised by the host
    u64 sticky = up ? (u64{1} << 29) - 1 : 0;
    return static_cast<u32>((u + sticky) >> 29) - ((896 + fraction) << 23);
}

inline u64 keep25(u64 x) { return x >> 25 ? x & ~u64{1} : x; }

// Near 1, where log2 is small: n is the distance, in units of 2^-23 above and 2^-24 below.
inline u32 log_beside_one(u32 n, bool below) {
    u32 above_at = n < 0x10000 ? 0 : n < 0x20000 ? 1 : 2, below_at = n < 0x20000 ? 3 : 4;
    const NearOneSegment &s = log_near_one[below ? below_at : above_at];
    u32 scale = n >= 1 << 14 ? 0 : n >= 1 << 10 ? 4 : n >= 1 << 6 ? 8 : n >= 1 << 2 ? 12 : 16;
    u64 scaled = u64{n} << scale;
    u64 linear = ((s.linear * scaled) >> 15) << 3;
    u64 square = (scaled * scaled) >> (12 + scale);
    u64 cubic = u64{s.cubic} * n + s.bias;
    u64 plus = keep25(((s.quadratic + (cubic >> 22)) * square) >> 23);
    u64 minus = keep25(((s.quadratic - (cubic >> 23)) * square) >> 22);
    u64 value = static_cast<u64>(i64{s.constant}) + linear + (below ? plus : u64{0} - minus);
    return fixed_to_f32(value, (below ? 37 : 36) + scale, true) | (below ? 0x80000000 : 0);
}

inline u32 log_elsewhere(u32 x) {
    u32 mantissa = x & 0x7fffff;
    const LogSegment &s = log_segments[mantissa >> 17 == 3 ? 32 : mantissa >> 18];
    u64 d = mantissa & 0x3ffff;
    u64 inner = s.quadratic - ((s.cubic * d + s.bias) >> 23);
    u64 minus = keep25((inner * ((d * d) >> 12)) >> 22);
    u64 linear = ((s.linear * d) >> 16) << 6;
    i64 exponent = static_cast<i32>(x >> 23 & 255) - 127;
    i64 sum = exponent * (i64{1} << 36) + static_cast<i64>((u64{s.constant} << 6) + linear - minus);
    bool negative = sum < 0; // rounded towards minus infinity
    u64 magnitude = static_cast<u64>(negative ? -sum : sum);
    return fixed_to_f32(magnitude, 36, negative) | (negative ? 0x80000000 : 0);
}

inline u32 log(u32 x, const Mode &m) {
    u32 magnitude = x & 0x7fffffff;
    bool above = x - 0x3f800000 < 0x40000, below = x - 0x3f7c0001 < 0x3ffff;
    u32 r = log_elsewhere(magnitude);
    u32 n = above ? x - 0x3f800000 : 0x3f800000 - x;
    u32 beside = log_beside_one(n & 0x3ffff, below);
    r = above || below ? beside : r;
    r = x == 0x3f800000 ? 0 : r;
    r = magnitude == infinity32 ? infinity32 : r;
    r = x >> 31 ? fp::default_nan32 : r;
    r = magnitude < 0x00800000 ? 0xff800000 : r;
    return magnitude > infinity32 ? quiet(x, m) : r;
}

// Rows say rcp(a, m) of values.
inline f32 rcp(f32 x, const Mode &m) { return fp::f32_of(rcp(fp::bits(x), m)); }
inline f32 rsq(f32 x, const Mode &m) { return fp::f32_of(rsq(fp::bits(x), m)); }
inline f32 sqrt(f32 x, const Mode &m) { return fp::f32_of(sqrt(fp::bits(x), m)); }
inline f32 exp(f32 x, const Mode &m) { return fp::f32_of(exp(fp::bits(x), m)); }
inline f32 log(f32 x, const Mode &m) { return fp::f32_of(log(fp::bits(x), m)); }

// ---- f64: MODE's denormal field counts, its rounding doesn't (S-011) ----------------------------

f64 rcp(f64 x, const Mode &m);
f64 rsq(f64 x, const Mode &m);
f64 sqrt(f64 x, const Mode &m);

// ---- sine and cosine of turns (2.32)
// -------------------------------------------------------------

u32 sin(u32 x, const Mode &m);
u32 cos(u32 x, const Mode &m);
inline f32 sin(f32 x, const Mode &m) { return fp::f32_of(sin(fp::bits(x), m)); }
inline f32 cos(f32 x, const Mode &m) { return fp::f32_of(cos(fp::bits(x), m)); }

// ---- f16 rows: the f32 result, rounded once to nearest (S-012)
// -----------------------------------

#define NW_TRANS_HALF(name)                                                                        \
    void name(u32 *d, const u32 *a, const u32 *b, const u32 *c, u32 exec, const Mode &m)
NW_TRANS_HALF(rcp_f16);
NW_TRANS_HALF(rsq_f16);
NW_TRANS_HALF(sqrt_f16);
NW_TRANS_HALF(exp_f16);
NW_TRANS_HALF(log_f16);
NW_TRANS_HALF(sin_f16);
NW_TRANS_HALF(cos_f16);
#undef NW_TRANS_HALF

} // namespace nw::sim::NW_LEVEL::trans
