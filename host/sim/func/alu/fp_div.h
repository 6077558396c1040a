// SPDX-License-Identifier: MIT
// The helpers of division and of argument reduction (isa_semantics 2.23 to 2.27, 2.45), the cube
// map and DX9 operations. Shaped like the manual. Per host level, as fp.h.
#pragma once
#include "sim/func/alu/fp.h"

namespace nw::sim::NW_LEVEL::fp {

// f32 or f64 by its fields. S1 is the denominator and S2 the numerator everywhere.
template <class T> struct Fields;
template <> struct Fields<f32> {
    using U = u32;
    static constexpr int mantissa = 23, bias = 127, scale_from = 96, scale = 64,
                         small_numerator = 24;
    static constexpr int underflows = -150;
};
template <> struct Fields<f64> {
    using U = u64;
    static constexpr int mantissa = 52, bias = 1023, scale_from = 768, scale = 128;
    static constexpr int small_numerator = 53, underflows = -1075;
};

template <class T> int exponent_of(T x) {
    using F = Fields<T>;
    return static_cast<int>(std::bit_cast<typename F::U>(x) >> F::mantissa & (2 * F::bias + 1));
}
template <class T> bool is_negative(T x) {
    using U = typename Fields<T>::U;
    return std::bit_cast<U>(x) >> (sizeof(U) * 8 - 1);
}
template <class T> bool is_infinite(T x) {
    return exponent_of(x) == 2 * Fields<T>::bias + 1 && !is_nan(x);
}

template <class T> T with_sign(T x, bool negative) {
    using U = typename Fields<T>::U;
    U top = U{1} << (sizeof(U) * 8 - 1);
    return std::bit_cast<T>(static_cast<U>((std::bit_cast<U>(x) & ~top) | (negative ? top : 0)));
}
template <class T> T infinity() {
    using F = Fields<T>;
    return std::bit_cast<T>(
        static_cast<typename F::U>(typename F::U{2 * F::bias + 1} << F::mantissa));
}

// 2.23. First match decides.
template <class T> T div_scale(T s0_in, T s1_in, T s2_in, bool &flag, const Mode &m) {
    using F = Fields<T>;
    T s0 = in(s0_in, m), den = in(s1_in, m), num = in(s2_in, m);
    auto same_bits = [&](T x) {
        return std::bit_cast<typename F::U>(s0) == std::bit_cast<typename F::U>(x);
    };
    int ed = exponent_of(den), en = exponent_of(num), distance = en - ed;
    flag = distance >= F::scale_from || distance <= -F::scale_from;
    bool is_den = same_bits(den);
    T up = ldexp(s0, F::scale), down = ldexp(s0, -F::scale);
    T kept = m.gfx12 && is_nan(s0) ? quiet(s0, m) : s0; // 2.24
    if (is_nan(s0))
        up = down = kept;
    if (den == 0 || num == 0) // gfx12's f64 NaN is positive in tinygrad's published cases
        return with_sign(nan_of(m, T(0)), sizeof(T) == 4 || !m.gfx12);
    if (distance >= F::scale_from)
        return is_den ? up : kept;
    if (ed == 0)
        return up;
    if (ed >= 2 * F::bias - 1)
        return flag && !is_den ? kept : down;
    if (distance <= -F::scale_from)
        return is_den ? kept : up;
    return en <= F::small_numerator ? up : kept;
}

// A subnormal f32 exactly, even if the host flushes.
inline f64 unflushed(f32 x) {
    u32 magnitude = bits(x) & 0x7fffffff;
    if (magnitude >= 0x00800000)
        return x;
    f64 v = static_cast<f64>(static_cast<i32>(magnitude)) * 0x1p-149;
    return is_negative(x) ? -v : v;
}

// 2.25: the exact sum is scaled by 2^±64 (f64: ±128) before its one rounding.
inline f32 div_fmas(f32 a, f32 b, f32 c, bool scale, const Mode &) {
    f64 s = fma_odd(unflushed(a), unflushed(b), unflushed(c));
    if (!scale)
        return static_cast<f32>(s);
    return static_cast<f32>(s * (exponent_of(c) > 127 ? 0x1p64 : 0x1p-64));
}
// For f64 in binary128, whose 113 bits hold the product exactly, and the sum rounded to odd.
inline f64 div_fmas(f64 a, f64 b, f64 c, bool scale, const Mode &m) {
    if (!scale)
        return fma(a, b, c);
    using Wide = __float128;
    using Bits = unsigned __int128;
    Wide p = static_cast<Wide>(a) * b, s = p + c, t = s - p;
    Wide error = (p - (s - t)) + (c - t); // Knuth's two-sum
    if (error - error != 0)               // infinities and NaNs
        return fma(a, b, c);
    Bits u = std::bit_cast<Bits>(s);
    if (error != 0 && !(u & 1))
        u += (error < 0) == (s < 0) ? Bits{1} : ~Bits{0};
    Wide scaled = std::bit_cast<Wide>(u) * (exponent_of(c) > 1023 ? 0x1p128 : 0x1p-128);
    f64 unbounded = static_cast<f64>(scaled * 0x1p512); // 2.4: as if exponents had no end
    if (m.flush16_out && __builtin_fabs(unbounded) < 0x1p-510)
        return with_sign(0.0, is_negative(unbounded));
    return static_cast<f64>(scaled);
}

// The result of overflow or underflow (rounding up, down, to zero).
template <class T> T overflow(bool negative, u8 round) {
    using F = Fields<T>;
    using U = typename F::U;
    bool to_inf = round == round_nearest || round == (negative ? round_down_inf : round_up_inf);
    U inf = static_cast<U>(U{2 * F::bias + 1} << F::mantissa);
    U sign = static_cast<U>(U{negative} << (sizeof(U) * 8 - 1));
    return std::bit_cast<T>(static_cast<U>(sign | (inf - !to_inf)));
}
template <class T> T underflow(bool negative, u8 round) {
    using U = typename Fields<T>::U;
    bool to_zero = round != (negative ? round_down_inf : round_up_inf);
    U sign = static_cast<U>(U{negative} << (sizeof(U) * 8 - 1));
    return std::bit_cast<T>(static_cast<U>(sign | !to_zero));
}

// 2.26, and 2.27 where exponents are ignored.
template <class T> T div_fixup(T s0, T s1, T s2, bool exponents, u8 round, const Mode &m) {
    T den = in(s1, m), num = in(s2, m);
    bool negative = is_negative(den) != is_negative(num);
    if (is_nan(num))
        return quiet(num, m);
    if (is_nan(den))
        return quiet(den, m);
    if ((den == 0 && num == 0) || (is_infinite(den) && is_infinite(num)))
        return nan_of(m, T(0));
    if (den == 0 || is_infinite(num))
        return with_sign(infinity<T>(), negative);
    if (is_infinite(den) || num == 0)
        return with_sign(T(0), negative);
    if (exponents && exponent_of(num) - exponent_of(den) < Fields<T>::underflows)
        return underflow<T>(negative, round);
    if (is_nan(s0) || is_infinite(s0))
        return exponents ? overflow<T>(negative, round) : with_sign(infinity<T>(), negative);
    return with_sign(s0, negative);
}
inline f32 div_fixup(f32 a, f32 b, f32 c, const Mode &m) {
    return div_fixup(a, b, c, true, m.round32, m);
}
inline f64 div_fixup(f64 a, f64 b, f64 c, const Mode &m) {
    return div_fixup(a, b, c, true, m.round16_64, m);
}

// On widened f16, where MODE's f32 fields don't apply.
inline f32 div_fixup16(f32 a, f32 b, f32 c, const Mode &m) {
    return div_fixup(a, b, c, false, m.round16_64, m);
}

// 2.45: 53 bits of 2 / pi for the argument's exponent.
f64 trig_preop(f64 x, u32 segment);

// ---- conversions to normalised integers (2.41): nearest even of x * scale
// ------------------------

inline i32 to_norm(f64 x, f64 low, i32 scale) {
    if (x != x)
        return 0;
    f64 limited = x < low ? low : x > 1 ? 1 : x;
    return static_cast<i32>(round_even(limited * scale));
}
inline i32 to_snorm16(f64 x) { return to_norm(x, -1, 32767); }
inline i32 to_unorm16(f64 x) { return to_norm(x, 0, 65535); }

// ---- cube maps (2.46): the largest of |z|, |y|, |x|, ties in this order
// ---------------------------

inline bool major_z(f32 x, f32 y, f32 z) {
    return !(__builtin_fabsf(z) < __builtin_fabsf(x)) && !(__builtin_fabsf(z) < __builtin_fabsf(y));
}
inline bool major_y(f32 x, f32 y) { return !(__builtin_fabsf(y) < __builtin_fabsf(x)); }
inline f32 cube_id(f32 x, f32 y, f32 z) {
    if (major_z(x, y, z))
        return z < 0 ? 5.0f : 4.0f;
    if (major_y(x, y))
        return y < 0 ? 3.0f : 2.0f;
    return x < 0 ? 1.0f : 0.0f;
}
inline f32 cube_ma(f32 x, f32 y, f32 z) {
    return 2 * (major_z(x, y, z) ? z : major_y(x, y) ? y : x);
}
// A copy through the float unit.
inline f32 flushed(f32 x, const Mode &m) {
    bool keeps = m.bits & 0x20; // MODE's "subnormal results of f32"
    return keeps || bits(x) & 0x7f800000 ? x : f32_of(bits(x) & 0x80000000);
}
inline f32 cube_sc(f32 x, f32 y, f32 z) {
    if (major_z(x, y, z))
        return z < 0 ? -x : x;
    return major_y(x, y) ? x : x < 0 ? z : -z;
}
inline f32 cube_tc(f32 x, f32 y, f32 z) {
    if (!major_z(x, y, z) && major_y(x, y))
        return y < 0 ? -z : z;
    return -y;
}

// ---- DX9 products: zero times anything is +0 (2.46, 2.47)
// -----------------------------------------

inline f32 mul_dx9(f32 a, f32 b) { return (a == 0) | (b == 0) ? 0.0f : a * b; }
inline f32 flush(f32 x) { return f32_of(bits(x) & 0x7f800000 ? bits(x) : bits(x) & 0x80000000); }
// A factor for NaN purposes in fma_dx9: next to a zero the product is +0.
inline f32 dx9_factor(f32 x, f32 other) { return flush(other) == 0 ? 0.0f : x; }
inline f32 fma_dx9(f32 a, f32 b, f32 c) { // denormals always flushed
    a = flush(a), b = flush(b), c = flush(c);
    f64 p = (a == 0) | (b == 0) ? 0.0 : f64{a} * f64{b};
    f64 s = p == 0 ? 0.0 + f64{c} : fma_odd(f64{a}, f64{b}, f64{c});
    f32 r = static_cast<f32>(s);
    bool tiny = __builtin_fabsf(static_cast<f32>(s * 0x1p64)) < 0x1p-62f; // 2.4: once rounded
    return tiny ? with_sign(0.0f, is_negative(r)) : r;
}
// `p` is a * b, rounded by MODE. Subnormal sums are exact.
inline f32 mad(f32 p, f32 a, f32 b, f32 c) {
    const f32 scaled = static_cast<f32>(f64{a} * f64{b} * 0x1p64);
    const bool tiny = __builtin_fabsf(scaled) < 0x1p-62f; // 2.4: once rounded
    p = (flush(a) == 0) | (flush(b) == 0) ? flush(a) * flush(b)
        : tiny                            ? with_sign(0.0f, is_negative(p))
                                          : p;
    return flush(p + flush(c));
}
inline f32 mad_dx9(f32 a, f32 b, f32 c) {
    return (flush(a) == 0) | (flush(b) == 0) ? flush(0.0f + flush(c)) : mad(a * b, a, b, c);
}
inline f32 mullit(f32 a, f32 b, f32 c) {
    constexpr f32 largest = 0x1.fffffep127f;
    bool guarded = !(b > -largest) || !(c > 0);
    return guarded ? -largest : mul_dx9(a, b);
}

} // namespace nw::sim::NW_LEVEL::fp
