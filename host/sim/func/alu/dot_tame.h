// SPDX-License-Identifier: MIT
// DOT2 where every operand is tame: factors are zero or within 2^-31..2^31, the addend is zero or
// within 2^-60..2^60. There the host's float units compute most of the fixed-point model exactly:
// products of 11-bit significands and scalings by powers of two are exact in f32, and conversion to
// integer truncates. dot.h defines the result; test_sim_dot checks equality.
#pragma once
#include "sim/func/alu/lanes.h"

namespace nw::sim::NW_LEVEL::dot {

inline constexpr u32 exponent_field = 0x7f800000, sign_bit = 0x80000000, no_sign = 0x7fffffff;
inline constexpr u32 unit = 1u << 23; // one step of an f32's exponent

struct Wide {
    f32 value;
    u32 exponent; // max(e, 1) of the source's own encoding, as an f32 exponent field
};

// A source half, moved to bits 31:16.
template <class F> Wide widen(u32 high);
template <> inline Wide widen<BF16>(u32 high) { return {fp::f32_of(high), high & exponent_field}; }
template <> inline Wide widen<F16>(u32 high) {
    u32 t = static_cast<u32>(static_cast<i32>(high) >> 3) & 0x8fffe000;
    u32 magnitude = t & 0x0fffffff, sign = t & 0x80000000;
    bool subnormal = magnitude < unit;
    u32 based = magnitude + 112 * unit + (subnormal ? unit : 0);
    f32 v = fp::f32_of(based);
    v = subnormal ? v - 0x1p-14f : v;
    return {fp::f32_of(fp::bits(v) | sign), based & exponent_field};
}

// A half's top bit is set if it is neither zero nor within 2^-31..2^32. Both halves at once: no sum
// carries over. (m + 0x7fff) has the bit when m > 0, (m + 0x5000) when m >= 0x3000.
template <class F> inline u32 wild_bits(u32 pair);
template <> inline u32 wild_bits<BF16>(u32 pair) {
    u32 m = pair & 0x7fff7fff;
    u32 too_large = m + 0x30803080, too_small = (m + 0x7fff7fff) & ~(m + 0x50005000);
    return (too_large | too_small) & 0x80008000;
}
// F16 has no values outside, except infinities and NaNs.
template <> inline u32 wild_bits<F16>(u32 pair) {
    return ((pair & 0x7c007c00) + 0x04000400) & 0x80008000;
}
// The same for an addend, zero or within 2^-60..2^60.
inline u32 wild_addend_bit(u32 c) {
    u32 m = c & 0x7fffffff;
    u32 too_large = m + (256 - 187) * unit, too_small = (m + 0x7fffffff) & ~(m + (256 - 67) * unit);
    return (too_large | too_small) & 0x80000000;
}

// Sums wrap: results of lanes that aren't tame are discarded.
inline u32 floor_int(f32 v) { // |v| < 2^28
    i32 t = static_cast<i32>(v);
    return static_cast<u32>(t) - (static_cast<f32>(t) > v ? 1 : 0);
}
inline u32 truncated_int(f32 v) { return static_cast<u32>(static_cast<i32>(v)); }
inline u32 larger(u32 a, u32 b) { return a > b ? a : b; }
inline u32 smaller(u32 a, u32 b) { return a < b ? a : b; }

// Exponent sum of a product, biased by 2 * 127; zero products are below `no_product`. For bf16 no
// test is needed: a zero's exponent is 0 and the other's at most 158.
template <class F> inline u32 product_exponent(Wide x, Wide y, f32 p) {
    u32 sum = x.exponent + y.exponent;
    return F::bias == 127 || p != 0 ? sum : 0;
}

// Below the exponent of every tame product, and small enough that 2^-grid stays finite.
inline constexpr u32 no_product = 160 * unit;

// 2^-grid as f32 bits: grid = max(product exponent - 24, addend's exponent - 26).
inline constexpr u32 product_base = (127 + 254 + 24) * unit, addend_base = (127 + 127 + 26) * unit;

template <class F> inline u32 tame_gfx11(u32 a, u32 b, u32 c) {
    Wide x0 = widen<F>(a << 16), x1 = widen<F>(a & 0xffff0000);
    Wide y0 = widen<F>(b << 16), y1 = widen<F>(b & 0xffff0000);
    f32 p0 = x0.value * y0.value, p1 = x1.value * y1.value;
    u32 products = larger(product_exponent<F>(x0, y0, p0), product_exponent<F>(x1, y1, p1));
    u32 scale =
        smaller(product_base - larger(products, no_product), addend_base - (c & exponent_field));
    f32 s = fp::f32_of(scale);
    // Products relative to C's sign: those of the other sign count one less (2.49).
    u32 sign = c & 0x80000000, q0 = fp::bits(p0) ^ sign, q1 = fp::bits(p1) ^ sign;
    u32 t0 = truncated_int(fp::f32_of(q0) * s) - (q0 >> 31);
    u32 t1 = truncated_int(fp::f32_of(q1) * s) - (q1 >> 31);
    auto sum = static_cast<i32>(truncated_int(fp::f32_of(c ^ sign) * s) + t0 + t1);
    sum = ((fp::bits(p0) | fp::bits(p1) | c) & 0x7fffffff) == 0 ? 0 : sum;
    u32 r = fp::bits(static_cast<f32>(sum) * fp::f32_of(254 * unit - scale));
    return sum == 0 ? 0 : r ^ sign;
}

template <class F> inline u32 tame_gfx12(u32 a, u32 b, u32 c) {
    Wide x0 = widen<F>(a << 16), x1 = widen<F>(a & 0xffff0000);
    Wide y0 = widen<F>(b << 16), y1 = widen<F>(b & 0xffff0000);
    f32 p0 = x0.value * y0.value, p1 = x1.value * y1.value, z = fp::f32_of(c);
    u32 products = larger(product_exponent<F>(x0, y0, p0), product_exponent<F>(x1, y1, p1));
    u32 pair_scale = product_base - larger(products, no_product);
    u32 scale = smaller(pair_scale, addend_base - larger(c & exponent_field, unit));
    f32 s = fp::f32_of(pair_scale), v = z * fp::f32_of(scale);
    auto pair = static_cast<i32>(floor_int(p0 * s) + floor_int(p1 * s));
    u32 down = (pair_scale - scale) >> 23;
    // 2.52: a C with no bits on the grid is dropped. A mask, so that it vectorises.
    u32 counts = 0u - ((fp::bits(v) & 0x7fffffff) >= 127 * unit);
    u32 cut = floor_int(v) & counts;
    auto sum = static_cast<i32>(static_cast<u32>(pair >> smaller(down, 31)) + cut);
    return fp::bits(static_cast<f32>(sum) * fp::f32_of(254 * unit - scale));
}

} // namespace nw::sim::NW_LEVEL::dot
