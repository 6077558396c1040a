// SPDX-License-Identifier: MIT
// Floating point of one lane, shaped like the manual. isa_semantics numbers (2.x) are in comments.
//
// Compiled once per host vector level, in a namespace of that level's name, so that the linker
// can't substitute AVX-512 code on a smaller CPU.
#pragma once
#include <bit>
#include <cmath>

#include "base/types.h"
#include "sim/func/alu/mode.h"
#include "sim/func/choices.h"

#ifndef NW_LEVEL
#define NW_LEVEL base
#endif

namespace nw::sim::NW_LEVEL::fp {

inline u32 bits(f32 x) { return std::bit_cast<u32>(x); }
inline u64 bits(f64 x) { return std::bit_cast<u64>(x); }
inline f32 f32_of(u32 x) { return std::bit_cast<f32>(x); }
inline f64 f64_of(u64 x) { return std::bit_cast<f64>(x); }

inline constexpr u32 default_nan32 = 0xffc00000;
inline constexpr u64 default_nan64 = u64{0xfff8} << 48;
inline constexpr u32 default_nan16 = 0xfe00;

inline bool is_nan(f32 x) { return (bits(x) & 0x7fffffff) > 0x7f800000; }
inline bool is_nan(f64 x) { return (bits(x) & ~(u64{1} << 63)) > u64{0x7ff} << 52; }
inline bool is_nan16(u32 x) { return (x & 0x7fff) > 0x7c00; }

// A subnormal input after MODE's input flushing.
inline f32 in(f32 x, const Mode &m) {
    return f32_of(bits(x) & 0x7f800000 ? bits(x) : bits(x) & m.keep32);
}

inline f32 quiet(f32 x, const Mode &m) { return f32_of(bits(x) | m.quiet32); }
inline f64 quiet(f64 x, const Mode &m) { return f64_of(bits(x) | m.quiet64); }

// 2.1, 2.2: the NaN result of an operation on these operands, in operand order. Selects, so that a
// row with a NaN stays vectorised.
template <class... X> f32 nan_of(const Mode &m, f32 a, X... rest) {
    f32 r = f32_of(default_nan32);
    if constexpr (sizeof...(rest) > 0)
        r = nan_of(m, rest...);
    return is_nan(a) ? quiet(a, m) : r;
}
template <class... X> f64 nan_of(const Mode &m, f64 a, X... rest) {
    f64 r = f64_of(default_nan64);
    if constexpr (sizeof...(rest) > 0)
        r = nan_of(m, rest...);
    return is_nan(a) ? quiet(a, m) : r;
}

// 2.2: if a * b is invalid, its NaN takes precedence over one in c, which then isn't an operand of
// nan_of.
template <class T> T addend(T a, T b, T c) { return is_nan(a * b) ? T(0) : c; }

// A NaN converted to a narrower format becomes quiet even outside IEEE mode: a signalling NaN's
// truncated payload could be an infinity (2.40).
inline f32 always_quiet(f32 x) { return is_nan(x) ? f32_of(bits(x) | 0x00400000) : x; }

// f32 to f64 without the host's quieting.
inline f64 widen_nan(f32 x) {
    u64 u = bits(x);
    return f64_of(u >> 31 << 63 | u64{0x7ff} << 52 | (u & 0x7fffff) << 29);
}

// A subnormal f64 about to be converted to f32, flushed as MODE says: only "tiny, not zero"
// matters, and the host may flush inputs by f32's field.
inline f64 narrowed_in(f64 x, const Mode &m) {
    u64 sign = bits(x) & u64{1} << 63;
    bool subnormal = (bits(x) << 1 >> 53) == 0 && (bits(x) << 1) != 0;
    f64 tiny = m.keep16 == 0xffff ? 0x1p-1000 : 0.0;
    return subnormal ? f64_of(sign | bits(tiny)) : x;
}

inline f32 fma(f32 a, f32 b, f32 c) { return __builtin_fmaf(a, b, c); }
inline f64 fma(f64 a, f64 b, f64 c) { return __builtin_fma(a, b, c); }

// ---- f16 ------------------------------------------------------------------------------------

// Exact, without host subnormals: the host may be flushing them.
inline f32 widen16(u32 h) {
    u32 magnitude = h & 0x7fff, sign = (h & 0x8000) << 16;
    u32 normal = (magnitude << 13) + (112u << 23);
    u32 special = (magnitude << 13) + (224u << 23); // inf, NaN
    u32 tiny = bits(static_cast<f32>(static_cast<i32>(magnitude)) * 0x1p-24f);
    u32 r = magnitude < 0x400 ? tiny : magnitude < 0x7c00 ? normal : special;
    return f32_of(r | sign);
}

inline f32 widen_quiet(u32 h, const Mode &m) { // as v_cvt_f32_f16
    f32 r = widen16(h & 0x7c00 ? h & 0xffff : h & m.keep16);
    return is_nan(r) ? quiet(r, m) : r;
}

// Round to nearest even, overflow to infinity, subnormals kept. 2.40 for NaN.
inline u32 narrow16_nearest(f32 x) {
    u32 u = bits(x) & 0x7fffffff, sign = bits(x) >> 16 & 0x8000;
    u32 normal = ((u + 0xfff + (u >> 13 & 1)) >> 13) - (112u << 10);
    u32 tiny = bits(f32_of(u) + 0.5f) - 0x3f000000; // 0.5 has an ulp of 2^-24, f16's smallest
    u32 nan = 0x7e00 | (u >> 13 & 0x1ff);
    u32 r = u < 0x38800000 ? tiny : u < 0x477ff000 ? normal : u <= 0x7f800000 ? 0x7c00u : nan;
    return r | sign;
}

// Any rounding mode, FP16_OVFL and flushing (2.4, 2.14). `x` may be a double whose last bit is
// sticky ("rounded to odd"): then this is the operation's only rounding.
u32 narrow16(f64 x, const Mode &m);

// a * b + c rounded to odd: an odd last bit marks an inexact result, so that the following rounding
// to f16 is the only one. The product must be exact: f16 products are, in f32 and f64; f32 products
// are in f64.
template <class U, class T> T multiply_add_odd(T a, T b, T c) {
    T p = a * b;
    T s = p + c;
    T t = s - p;
    T error = (p - (s - t)) + (c - t); // Knuth's two-sum
    U u = std::bit_cast<U>(s), e = std::bit_cast<U>(error);
    constexpr unsigned top = sizeof(U) * 8 - 1;
    constexpr U infinity = sizeof(U) == 4 ? U{0x7f800000} : static_cast<U>(u64{0x7ff} << 52);
    U step = (e ^ u) >> top ? ~U{0} : U{1}; // towards the error
    // Neither zero nor NaN (from infinities): one comparison.
    bool inexact = (e & (~U{0} >> 1)) - 1 < infinity;
    step = inexact ? step : 0;
    step = u & 1 ? 0 : step;
    return std::bit_cast<T>(u + step);
}
inline f64 fma_odd(f64 a, f64 b, f64 c) { return multiply_add_odd<u64>(a, b, c); }
inline f32 fma_half(f32 a, f32 b, f32 c) { return multiply_add_odd<u32>(a, b, c); }
inline f64 fma_half(f64 a, f64 b, f64 c) { return multiply_add_odd<u64>(a, b, c); }

// An f64 rounded to odd as an f32 rounded to odd, on a host that rounds to nearest.
inline f32 odd32(f32 x) { return x; }
inline f32 odd32(f64 x) {
    f32 r = static_cast<f32>(x);
    f64 back = f64{r};
    u32 beyond = __builtin_fabs(back) > __builtin_fabs(x) ? 1 : 0;
    return f32_of((bits(r) - beyond) | (back < x || back > x ? 1u : 0u));
}

// 2.5: an exact zero of x + y is -0 when rounding down, unless both were +0. f16 arithmetic rounds
// to nearest on the host, so this may only be asked in f64, as every other mode is.
inline f64 zero_sum(f64 sum, f64 x, f64 y, const Mode &m) {
    bool cancelled = sum == 0 && m.round16_64 == round_down_inf && (bits(x) | bits(y)) != 0;
    return cancelled ? -0.0 : sum;
}
inline f32 sum16(f32 a, f32 b, const Mode &) { return a + b; }
inline f64 sum16(f64 a, f64 b, const Mode &m) { return zero_sum(a + b, a, b, m); }
inline f32 fma16(f32 a, f32 b, f32 c, const Mode &) { return fma_half(a, b, c); }
inline f64 fma16(f64 a, f64 b, f64 c, const Mode &m) {
    return zero_sum(fma_half(a, b, c), a * b, c, m);
}
inline f64 mix16(f64 a, f64 b, f64 c, const Mode &m) {
    return zero_sum(fma_odd(a, b, c), a * b, c, m);
}

// ---- minimum and maximum ---------------------------------------------------------------------

inline bool less(f32 a, f32 b) { // -0 < +0, no NaN
    i32 x = std::bit_cast<i32>(a), y = std::bit_cast<i32>(b);
    x ^= static_cast<i32>(static_cast<u32>(x >> 31) >> 1);
    y ^= static_cast<i32>(static_cast<u32>(y >> 31) >> 1);
    return x < y;
}
inline bool less(f64 a, f64 b) {
    i64 x = std::bit_cast<i64>(a), y = std::bit_cast<i64>(b);
    x ^= static_cast<i64>(static_cast<u64>(x >> 63) >> 1);
    y ^= static_cast<i64>(static_cast<u64>(y >> 63) >> 1);
    return x < y;
}
inline f64 in(f64 x, const Mode &m) {
    bool keep = m.keep16 == 0xffff || (bits(x) << 1 >> 53) != 0;
    return keep ? x : f64_of(bits(x) & u64{1} << 63);
}
// One comparison with the range of signalling NaNs.
inline bool is_signalling(f32 x) { return (bits(x) & 0x7fffffff) - 0x7f800001u < 0x3fffffu; }
inline bool is_signalling(f64 x) {
    return (bits(x) & ~(u64{1} << 63)) - ((u64{0x7ff} << 52) + 1) < (u64{1} << 51) - 1;
}

// 2.15-2.17. gfx11 in IEEE mode lets a signalling NaN win, gfx12's _num never.
template <class T> T min_max(T x, T y, bool pick_less, const Mode &m) {
    T a = in(x, m), b = in(y, m);
    // Selects, not branches: this has to vectorise.
    const bool is_less = less(a, b) & !(m.zeros_equal & (a == b)); // equal: zeros, or no matter
    T low = is_less ? a : b, high = is_less ? b : a;
    T r = pick_less ? low : high;
    T quiet_a = quiet(a, m), quiet_b = quiet(b, m);
    T if_nan_a = is_nan(b) ? quiet_a : b;
    r = is_nan(b) ? a : r;
    r = is_nan(a) ? if_nan_a : r;
    r = is_signalling(b) & m.signalling_wins ? quiet_b : r;
    return is_signalling(a) & m.signalling_wins ? quiet_a : r;
}
template <class T> T min(T a, T b, const Mode &m) { return min_max(a, b, true, m); }
template <class T> T max(T a, T b, const Mode &m) { return min_max(a, b, false, m); }

// 2.18: gfx12's v_minimum, v_maximum: the first NaN in operand order.
template <class T> T minimum(T x, T y, const Mode &m) {
    T a = in(x, m), b = in(y, m);
    return is_nan(a) ? quiet(a, m) : is_nan(b) ? quiet(b, m) : less(a, b) ? a : b;
}
template <class T> T maximum(T x, T y, const Mode &m) {
    T a = in(x, m), b = in(y, m);
    return is_nan(a) ? quiet(a, m) : is_nan(b) ? quiet(b, m) : less(a, b) ? b : a;
}

// 2.20: any NaN gives min3; otherwise the median with -0 < +0.
template <class T> T med3(T x, T y, T z, const Mode &m) {
    if (is_nan(x) || is_nan(y) || is_nan(z))
        return min(min(x, y, m), z, m);
    T a = in(x, m), b = in(y, m), c = in(z, m);
    T low = less(a, b) ? a : b, high = less(a, b) ? b : a;
    return less(c, low) ? low : less(high, c) ? high : c;
}

// f32 as the kernels of f16 see it: the same rules on widened values, whose quiet bit is f16's.
inline u32 nan16(u32 widened) {
    return (widened >> 16 & 0x8000) | 0x7c00 | (widened >> 13 & 0x3ff);
}
// An f16 source as f32, and an f16 value back: for what picks a source and rounds nothing.
inline f32 in16(u32 h, const Mode &m) {
    h &= 0xffff;
    return widen16(h & 0x7c00 ? h : h & m.keep16);
}
inline u32 picked16(f32 v) { return is_nan(v) ? nan16(bits(v)) : narrow16_nearest(v); }

// ---- classes, conversions --------------------------------------------------------------------

// 2.22: mask bits 0 sNaN, 1 qNaN, 2 -inf, 3 -normal, 4 -subnormal, 5 -0, 6..9 the positive ones.
template <class U> bool in_class(U x, u32 mask, unsigned mantissa_bits, unsigned exponent_bits) {
    U magnitude = x & ((U{1} << (mantissa_bits + exponent_bits)) - 1);
    U inf = ((U{1} << exponent_bits) - 1) << mantissa_bits;
    bool negative = x >> (mantissa_bits + exponent_bits) & 1;
    bool signalling = !(magnitude >> (mantissa_bits - 1) & 1);
    unsigned bit = magnitude > inf ? (signalling ? 0u : 1u) : 0;
    if (magnitude <= inf) {
        bool subnormal = magnitude < (U{1} << mantissa_bits);
        unsigned size = magnitude == inf ? 3 : magnitude == 0 ? 0 : subnormal ? 1 : 2;
        bit = negative ? 5 - size : 6 + size;
    }
    return mask >> bit & 1;
}

// 2.39: truncate, saturate, NaN is 0.
inline u32 to_u32(f64 x) {
    return x >= 4294967295.0 ? 0xffffffffu : x > 0 ? static_cast<u32>(static_cast<i64>(x)) : 0u;
}
inline i32 to_i32(f64 x) {
    return x >= 2147483647.0    ? 2147483647
           : x <= -2147483648.0 ? static_cast<i32>(0x80000000)
           : x == x             ? static_cast<i32>(x)
                                : 0;
}
// The same for f32 sources, in operations that vectorise.
inline u32 to_u32(f32 x) { return x >= 0x1p32f ? 0xffffffffu : x > 0 ? static_cast<u32>(x) : 0u; }
inline i32 to_i32(f32 x) {
    return x >= 0x1p31f   ? 2147483647
           : x < -0x1p31f ? static_cast<i32>(0x80000000)
           : x == x       ? static_cast<i32>(x)
                          : 0;
}

// 2.39, last sentence: NaN becomes the largest value of its sign. `rounded` is a's integer part.
inline i32 to_i32_or_sign(f32 a, f64 rounded) {
    if (is_nan(a))
        return bits(a) >> 31 ? static_cast<i32>(0x80000000) : 0x7fffffff;
    return to_i32(rounded);
}

// f32 -> f16 towards zero: overflow gives the largest finite value, infinity stays.
inline u32 narrow16_toward_zero(f32 x) {
    u32 u = bits(x) & 0x7fffffff, sign = bits(x) >> 16 & 0x8000;
    u32 normal = (u >> 13) - (112u << 10);
    u32 drop = 126 - (u >> 23); // of 2^-14's 13 extra bits and the exponent below it
    u32 tiny = ((u & 0x7fffff) | 0x800000) >> (drop < 31 ? drop : 31);
    u32 nan = 0x7e00 | (u >> 13 & 0x1ff);
    u32 r = u < 0x38800000 ? tiny : normal;
    r = u >= 0x47800000 ? 0x7bff : r;
    r = u == 0x7f800000 ? 0x7c00 : r;
    r = u > 0x7f800000 ? nan : r;
    return r | sign;
}

// ---- integer parts (2.37): by bits, so that neither MODE nor the host's instructions matter
// ------

inline f32 trunc(f32 x) {
    u32 u = bits(x), e = u >> 23 & 255;
    u32 below = e < 127 ? 0x7fffffffu : e < 150 ? 0x7fffffu >> (e - 127 < 23 ? e - 127 : 23) : 0u;
    return f32_of(u & ~below);
}
inline f64 trunc(f64 x) {
    u64 u = bits(x), e = u >> 52 & 2047, fraction = (u64{1} << 52) - 1;
    u64 below = e < 1023   ? ~u64{0} >> 1
                : e < 1075 ? fraction >> (e - 1023 < 52 ? e - 1023 : 52)
                           : 0;
    return f64_of(u & ~below);
}
template <class T> T floor(T x) {
    T t = trunc(x);
    return t > x ? t - 1 : t;
}
template <class T> T ceil(T x) {
    T t = trunc(x);
    return t < x ? t + 1 : t;
}
inline bool is_odd(f32 whole) {
    return static_cast<i32>(whole) & 1;
} // |whole| < 2^23 where it matters
inline bool is_odd(f64 whole) { return static_cast<i64>(whole) & 1; }
template <class T> T round_even(T x) {
    T t = trunc(x), rest = x - t; // exact
    T magnitude = rest < 0 ? -rest : rest;
    bool away = magnitude > T(0.5) || (magnitude == T(0.5) && is_odd(t));
    T step = x < 0 ? T(-1) : T(1);
    return away ? t + step : t;
}

// 2.42: v_cvt_pk_u8_f32 (S-042).
inline u32 to_byte(f32 x) {
    bool truncates = choices().pk_u8_rounding == choice::pk_u8_rounding::truncate;
    f32 whole = truncates || !(x < 256) ? x : round_even(x);
    i32 v = to_i32(whole);
    return static_cast<u32>(v < 0 ? 0 : v > 255 ? 255 : v);
}

// ---- parts of a number (2.35 to 2.38) --------------------------------------------------------

inline f32 fract(f32 a) {
    f32 r = a - floor(a);
    r = r > 0x1.fffffep-1f ? 0x1.fffffep-1f : r;
    return r == 0 ? 0.0f : r;
}
inline f64 fract(f64 a) {
    f64 r = a - floor(a);
    r = r > 0x1.fffffffffffffp-1 ? 0x1.fffffffffffffp-1 : r;
    return r == 0 ? 0.0 : r;
}
inline f64 fract16(f64 a) { // of an f16: the largest f16 below 1
    f64 r = a - floor(a);
    r = r > 0x1.ffcp-1 ? 0x1.ffcp-1 : r;
    return r == 0 ? 0.0 : r;
}
inline f64 power_of_two(i32 n) { return f64_of(static_cast<u64>(n + 1023) << 52); } // |n| < 1023
inline f32 ldexp(f32 a, i32 n) {
    n = n < -400 ? -400 : n > 400 ? 400 : n;
    return static_cast<f32>(f64{a} * power_of_two(n)); // the product is exact
}
inline f64 ldexp16(f64 a, f64 n) {
    i32 k = n < -100 ? -100 : n > 100 ? 100 : static_cast<i32>(n);
    return a * power_of_two(k);
}
inline f64 ldexp(f64 a, i32 n) { return __builtin_scalbn(a, n); }
inline i32 frexp_exp(f64 a) {
    u64 magnitude = bits(a) << 1 >> 1;
    if (magnitude == 0 || magnitude >= u64{0x7ff} << 52)
        return 0;
    i32 e = static_cast<i32>(magnitude >> 52);
    return e ? e - 1022 : -1010 - __builtin_clzll(magnitude);
}
inline i32 frexp_exp(f32 a) {
    u32 magnitude = bits(a) & 0x7fffffff;
    if (magnitude == 0 || magnitude >= 0x7f800000)
        return 0;
    i32 e = static_cast<i32>(magnitude >> 23);
    return e ? e - 126 : -117 - __builtin_clz(magnitude);
}
inline f64 frexp_mant(f64 a) {
    u64 magnitude = bits(a) << 1 >> 1, sign = bits(a) >> 63 << 63;
    if (magnitude == 0 || magnitude >= u64{0x7ff} << 52)
        return a;
    if (magnitude >> 52 == 0)
        magnitude <<= __builtin_clzll(magnitude) - 11;
    return f64_of(sign | u64{1022} << 52 | (magnitude & ((u64{1} << 52) - 1)));
}
inline f32 frexp_mant(f32 a) {
    u32 magnitude = bits(a) & 0x7fffffff, sign = bits(a) & 0x80000000;
    if (magnitude == 0 || magnitude >= 0x7f800000)
        return a;
    if (magnitude >> 23 == 0)
        magnitude <<= __builtin_clz(magnitude) - 8;
    return f32_of(sign | 126u << 23 | (magnitude & 0x7fffff));
}

} // namespace nw::sim::NW_LEVEL::fp
