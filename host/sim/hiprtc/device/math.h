// SPDX-License-Identifier: MIT
// Math functions in double, to some ulp. sin and cos: for arguments up to 2^30.
#pragma once

namespace {

using u64 = unsigned long long;
using f64 = double;

constexpr f64 infinity = __builtin_huge_val();
constexpr f64 pi = 0x1.921fb54442d18p+1, ln2 = 0x1.62e42fefa39efp-1;
constexpr f64 ln2_high = 0x1.62e42feep-1, ln2_low = 0x1.a39ef35793c76p-33; // high: 32 bits

__device__ f64 fma(f64 a, f64 b, f64 c) { return __builtin_fma(a, b, c); }
__device__ f64 abs(f64 x) { return __builtin_fabs(x); }
__device__ f64 with_sign(f64 x, f64 of) { return __builtin_copysign(x, of); }
__device__ f64 scaled(f64 x, int e) { return __builtin_ldexp(x, e); }
__device__ f64 nan() { return __builtin_nan(""); }
__device__ int exponent(f64 x) { return __builtin_amdgcn_frexp_exp(x); } // of [0.5, 1)
__device__ f64 mantissa(f64 x) { return __builtin_amdgcn_frexp_mant(x); }

// ---- exponential and logarithm

// e^r * 2^k for small r.
__device__ f64 exp_reduced(f64 r, f64 k) {
    f64 sum = 1;
#pragma unroll
    for (int n = 14; n > 0; --n)
        sum = fma(sum, r * (1.0 / n), 1);
    k = __builtin_fmin(__builtin_fmax(k, -2200), 2200);
    return scaled(sum, static_cast<int>(k));
}

__device__ f64 exp(f64 x) {
    const f64 k = __builtin_rint(x * (1 / ln2));
    if (!(abs(x) < 1e4))
        return x != x ? x : x > 0 ? infinity : 0;
    return exp_reduced(fma(-k, ln2_low, fma(-k, ln2_high, x)), k);
}

__device__ f64 exp2(f64 x) {
    const f64 k = __builtin_rint(x);
    if (!(abs(x) < 1e4))
        return x != x ? x : x > 0 ? infinity : 0;
    return exp_reduced((x - k) * ln2, k);
}

__device__ f64 exp10(f64 x) {
    constexpr f64 log10_2_high = 0x1.34413509p-2, log10_2_low = 0x1.ef3fde623e256p-35;
    constexpr f64 log2_10 = 0x1.a934f0979a371p+1, ln10 = 0x1.26bb1bbb55516p+1;
    if (!(abs(x) < 1e4))
        return x != x ? x : x > 0 ? infinity : 0;
    const f64 k = __builtin_rint(x * log2_10);
    return exp_reduced(fma(-k, log10_2_low, fma(-k, log10_2_high, x)) * ln10, k);
}

__device__ f64 expm1(f64 x) {
    if (abs(x) > 0.4)
        return exp(x) - 1;
    f64 sum = 1;
#pragma unroll
    for (int n = 16; n > 1; --n)
        sum = fma(sum, x * (1.0 / n), 1);
    return x * sum;
}

// A number as the sum of two.
struct Double2 {
    f64 high, low;
};
__device__ Double2 sum_of(f64 large, f64 small) {
    const f64 high = large + small;
    return {high, small - (high - large)};
}

// log(m 2^e) for finite positive x: 2 atanh((m - 1) / (m + 1)).
__device__ Double2 log_parts(f64 x, int *e) {
    f64 m = mantissa(x);
    *e = exponent(x);
    if (m < 0x1.6a09e667f3bcdp-1) {
        m *= 2;
        --*e;
    }
    const f64 top = m - 1, bottom = m + 1, bottom_low = 1 - (bottom - m);
    const f64 f = top / bottom;
    const f64 f_low = (fma(-f, bottom, top) - f * bottom_low) / bottom;
    const f64 square = f * f;
    f64 tail = 0;
#pragma unroll
    for (int n = 25; n >= 3; n -= 2)
        tail = fma(tail, square, 1.0 / n);
    return sum_of(2 * f, 2 * fma(f * square, tail, f_low));
}

// Nothing to compute: 0, infinity, NaN, negative.
__device__ bool log_is_special(f64 x, f64 *result) {
    if (x > 0 && x < infinity)
        return false;
    *result = x == 0 ? -infinity : x < 0 ? nan() : x;
    return true;
}

__device__ f64 log(f64 x) {
    f64 special;
    if (log_is_special(x, &special))
        return special;
    int e;
    const Double2 parts = log_parts(x, &e);
    return fma(e, ln2_high, parts.high) + fma(e, ln2_low, parts.low);
}
__device__ f64 log_by(f64 x, f64 inverse_high, f64 inverse_low, f64 of_two) {
    f64 special;
    if (log_is_special(x, &special))
        return special;
    int e;
    const Double2 parts = log_parts(x, &e);
    const f64 main = parts.high * inverse_high;
    const f64 rest =
        fma(parts.high, inverse_high, -main) + parts.low * inverse_high + parts.high * inverse_low;
    return fma(e, of_two, main) + rest;
}
__device__ f64 log2(f64 x) { return log_by(x, 0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56, 1); }
__device__ f64 log10(f64 x) {
    return log_by(x, 0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57, 0x1.34413509f79ffp-2);
}
__device__ f64 log1p(f64 x) {
    const f64 u = 1 + x;
    if (u == 1)
        return x;
    return !(u < infinity) || u <= 0 ? log(u) : log(u) * (x / (u - 1));
}

// ---- power

__device__ f64 pow_positive(f64 x, f64 y) {
    int e;
    const Double2 parts = log_parts(x, &e);
    const Double2 whole = sum_of(e * ln2_high, parts.high);
    const f64 low = whole.low + fma(e, ln2_low, parts.low);
    const f64 product = y * whole.high;
    if (!(abs(product) < 1e4))
        return product > 0 ? infinity : 0;
    const f64 rest = fma(y, whole.high, -product) + y * low;
    const f64 k = __builtin_rint(product * (1 / ln2));
    return exp_reduced(fma(-k, ln2_low, fma(-k, ln2_high, product)) + rest, k);
}

__device__ f64 pow(f64 x, f64 y) {
    if (y == 0 || x == 1)
        return 1;
    if (x != x || y != y)
        return x + y;
    const f64 size = abs(x);
    const bool whole = __builtin_trunc(y) == y;
    const bool odd = whole && abs(y) < 0x1p53 && __builtin_trunc(y * 0.5) != y * 0.5;
    f64 result;
    if (abs(y) == infinity)
        result = size == 1 ? 1 : (size > 1) == (y > 0) ? infinity : 0;
    else if (size == 0 || size == infinity)
        result = (size == 0) == (y > 0) ? 0 : infinity;
    else
        result = x < 0 && !whole ? nan() : pow_positive(size, y);
    return odd ? with_sign(result, x) : result;
}

__device__ f64 fmod(f64 x, f64 y) { // exact: subtracts y times powers of two
    f64 rest = abs(x);
    const f64 by = abs(y);
    if (!(rest < infinity) || !(by > 0))
        return nan();
    if (by == infinity)
        return x;
    while (rest >= by) {
        f64 part = scaled(by, exponent(rest) - exponent(by));
        if (part > rest)
            part = scaled(by, exponent(rest) - exponent(by) - 1);
        rest -= part;
    }
    return with_sign(rest, x);
}

// ---- circular functions

struct Angle {
    f64 rest; // of the nearest quarter turn
    int quarter;
};
__device__ Angle reduced(f64 x) {
    constexpr f64 high = 0x1.921fb544p+0, middle = 0x1.0b4611a6p-34, low = 0x1.3198a2e037073p-69;
    if (abs(x) > 0x1p30)
        x = fmod(x, 2 * pi); // a rough angle, but one
    const f64 k = __builtin_rint(x * (2 / pi));
    const f64 rest = fma(-k, low, fma(-k, middle, fma(-k, high, x)));
    return {rest, static_cast<int>(static_cast<long long>(k) & 3)};
}
__device__ f64 sin_small(f64 r) {
    const f64 square = r * r;
    f64 sum = 1;
#pragma unroll
    for (int n = 20; n > 1; n -= 2)
        sum = fma(sum, -square * (1.0 / (n * (n + 1))), 1);
    return r * sum;
}
__device__ f64 cos_small(f64 r) {
    const f64 square = r * r;
    f64 sum = 1;
#pragma unroll
    for (int n = 19; n > 0; n -= 2)
        sum = fma(sum, -square * (1.0 / (n * (n + 1))), 1);
    return sum;
}
__device__ f64 sin_of(Angle a) {
    const f64 value = a.quarter & 1 ? cos_small(a.rest) : sin_small(a.rest);
    return a.quarter & 2 ? -value : value;
}
__device__ f64 sin(f64 x) { return abs(x) < infinity ? sin_of(reduced(x)) : nan(); }
__device__ f64 cos(f64 x) {
    Angle a = reduced(x);
    ++a.quarter;
    return abs(x) < infinity ? sin_of(a) : nan();
}
__device__ f64 tan(f64 x) { return sin(x) / cos(x); }

__device__ Angle reduced_turn(f64 x) { // of x pi
    const f64 r = x - 2 * __builtin_rint(x * 0.5), k = __builtin_rint(2 * r);
    return {(r - k * 0.5) * pi, static_cast<int>(k) & 3};
}
__device__ f64 sinpi(f64 x) { return abs(x) < infinity ? sin_of(reduced_turn(x)) : nan(); }
__device__ f64 cospi(f64 x) {
    Angle a = reduced_turn(x);
    ++a.quarter;
    return abs(x) < infinity ? sin_of(a) : nan();
}

__device__ f64 atan(f64 x) {
    f64 t = abs(x), base = 0;
    if (t > 0x1.3504f333f9de6p+1) { // 1 + sqrt 2
        base = pi / 2;
        t = -1 / t;
    } else if (t > 0x1.a827999fcef32p-2) {
        base = pi / 4;
        t = (t - 1) / (t + 1);
    }
    const f64 square = t * t;
    f64 sum = 0;
#pragma unroll
    for (int n = 43; n > 0; n -= 2)
        sum = fma(sum, -square, 1.0 / n);
    return with_sign(fma(t, sum, base), x);
}
__device__ f64 atan2(f64 y, f64 x) {
    if (x != x || y != y)
        return x + y;
    f64 angle;
    if (abs(x) == infinity && abs(y) == infinity)
        angle = pi / 4;
    else if (x == 0 && y == 0)
        angle = 0;
    else
        angle = atan(abs(y) / abs(x));
    return with_sign(__builtin_signbit(x) ? pi - angle : angle, y);
}
__device__ f64 asin(f64 x) {
    return abs(x) <= 1 ? atan2(x, __builtin_sqrt((1 - x) * (1 + x))) : nan();
}
__device__ f64 acos(f64 x) {
    return abs(x) <= 1 ? 2 * atan2(__builtin_sqrt(1 - x), __builtin_sqrt(1 + x)) : nan();
}

// ---- hyperbolic functions

__device__ f64 sinh(f64 x) {
    const f64 size = abs(x);
    if (size > 40)
        return with_sign(exp(size - ln2), x);
    const f64 t = expm1(size);
    return with_sign(0.5 * (t + t / (t + 1)), x);
}
__device__ f64 cosh(f64 x) {
    const f64 size = abs(x);
    return size > 40 ? exp(size - ln2) : 0.5 * (exp(size) + exp(-size));
}
__device__ f64 tanh(f64 x) {
    const f64 size = abs(x);
    if (size > 22)
        return with_sign(1, x);
    const f64 t = expm1(2 * size);
    return x != x ? x : with_sign(t / (t + 2), x);
}
__device__ f64 asinh(f64 x) {
    const f64 size = abs(x);
    if (size > 1e150)
        return with_sign(log(size) + ln2, x);
    const f64 root = __builtin_sqrt(fma(size, size, 1));
    return with_sign(log1p(size + size * size / (1 + root)), x);
}
__device__ f64 acosh(f64 x) {
    if (x > 1e150)
        return log(x) + ln2;
    const f64 t = x < 1 ? nan() : x - 1;
    return log1p(t + __builtin_sqrt(t * (t + 2)));
}
__device__ f64 atanh(f64 x) {
    const f64 size = abs(x);
    return with_sign(0.5 * log1p(2 * size / (1 - size)), x);
}

// ---- roots, remainders, steps

__device__ f64 rsqrt(f64 x) { return 1 / __builtin_sqrt(x); }
__device__ f64 cbrt(f64 x) {
    const f64 size = abs(x);
    if (!(size > 0 && size < infinity))
        return x;
    f64 root = exp(log(size) / 3);
    root -= (root - size / (root * root)) / 3;
    return with_sign(root, x);
}
__device__ f64 rcbrt(f64 x) { return 1 / cbrt(x); }
__device__ f64 hypot(f64 x, f64 y) {
    const f64 large = __builtin_fmax(abs(x), abs(y)), small = __builtin_fmin(abs(x), abs(y));
    if (x != x || y != y)
        return large == infinity ? large : nan();
    if (large == infinity || large == 0)
        return large;
    const int e = exponent(large);
    const f64 a = scaled(large, -e), b = scaled(small, -e);
    return scaled(__builtin_sqrt(fma(a, a, b * b)), e);
}
__device__ f64 remainder(f64 x, f64 y) {
    const f64 by = abs(y);
    if (by != by || !(abs(x) < infinity))
        return nan();
    f64 rest = abs(by < 0x1p1022 ? fmod(x, 2 * by) : x); // keeps the quotient's parity
    if (by == infinity)
        return x;
    if (rest > 0.5 * by) {
        rest -= by;
        if (rest >= 0.5 * by)
            rest -= by;
    }
    return __builtin_signbit(x) ? -rest : rest;
}
__device__ f64 fdim(f64 x, f64 y) { return x <= y ? 0 : x - y; }
__device__ int ilogb(f64 x) {
    constexpr int none = -0x7fffffff - 1, largest = 0x7fffffff;
    return x == 0 || x != x ? none : abs(x) == infinity ? largest : exponent(x) - 1;
}
template <class F, class Bits> __device__ F nextafter(F x, F y) {
    if (x != x || y != y || x == y)
        return x != x ? x : y;
    Bits bits = __builtin_bit_cast(Bits, x);
    constexpr Bits sign = Bits{1} << (8 * sizeof(Bits) - 1);
    if (x == 0)
        bits = (y < 0 ? sign : 0) | 1;
    else
        bits += (x < y) == (x > 0) ? 1 : -1;
    return __builtin_bit_cast(F, bits);
}

// ---- error and gamma functions

__device__ f64 erf_series(f64 x) {
    f64 term = x, sum = x;
    for (int n = 1; n < 60; ++n) {
        term *= 2 * x * x / (2 * n + 1);
        sum += term;
    }
    return 0x1.20dd750429b6dp+0 * exp(-x * x) * sum; // 2 / sqrt(pi)
}
__device__ f64 erfcx_fraction(f64 x) { // erfc(x) e^(x x)
    f64 t = 0;
    for (int n = 150; n > 0; --n)
        t = n * 0.5 / (x + t);
    return 0x1.20dd750429b6dp-1 / (x + t);
}
__device__ f64 erfc(f64 x) {
    if (x < 1)
        return 1 - (x > -6 ? erf_series(x) : -1);
    if (x > 30)
        return 0;
    const f64 square = x * x;
    return exp(-square) * (1 - fma(x, x, -square)) * erfcx_fraction(x);
}
__device__ f64 erf(f64 x) { return abs(x) < 1 ? erf_series(x) : with_sign(1 - erfc(abs(x)), x); }

// Lanczos' sum of 9 terms, g = 7, of x - 1.
__device__ f64 lanczos(f64 x) {
    constexpr f64 terms[] = {676.5203681218851,     -1259.1392167224028,  771.32342877765313,
                             -176.61502916214059,   12.507343278686905,   -0.13857109526572012,
                             9.9843695780195716e-6, 1.5056327351493116e-7};
    f64 sum = 0.99999999999980993;
    for (int n = 0; n < 8; ++n)
        sum += terms[n] / (x + n);
    return sum;
}
__device__ f64 lgamma(f64 x) {
    if (x < 0.5)
        return x <= 0 && x == __builtin_floor(x)
                   ? infinity
                   : log(pi / abs(sinpi(x))) - (log(lanczos(1 - x)) + 0x1.d67f1c864beb5p-1 -
                                                (7.5 - x) + (0.5 - x) * log(7.5 - x));
    const f64 t = x + 6.5;
    return x == infinity ? x : log(lanczos(x)) + 0x1.d67f1c864beb5p-1 - t + (x - 0.5) * log(t);
}
__device__ f64 tgamma(f64 x) {
    constexpr f64 root_of_two_pi = 0x1.40d931ff62706p+1;
    if (x < 0.5)
        return x == __builtin_floor(x) ? (x == 0 ? 1 / x : nan()) : pi / (sinpi(x) * tgamma(1 - x));
    if (x > 180)
        return infinity;
    const f64 t = x + 6.5, half_power = pow(t, 0.5 * (x - 0.5));
    return root_of_two_pi * half_power * exp(-t) * half_power * lanczos(x);
}

} // namespace
