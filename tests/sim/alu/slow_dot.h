// SPDX-License-Identifier: MIT
// An independent, slow model of DOT2 and the steps of WMMA (isa_notes' fixed-point rule): exact
// rationals in __int128, floors and complements done on them, one rounding at the end. And values
// to try it on.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "sim/func/alu/frames.h"

namespace nw::sim::test {

struct Format {
    int mantissa, exponent_bits, bias;
};
inline constexpr Format f16{10, 5, 15}, bf16{7, 8, 127}, f32_format{23, 8, 127};

struct Number {
    bool nan = false, inf = false, negative = false;
    __int128 m = 0; // value = m * 2^e
    int e = 0;
};

inline Number decode(u32 bits, Format f, bool flush) {
    int exponent = bits >> f.mantissa & ((1 << f.exponent_bits) - 1);
    int fraction = bits & ((1 << f.mantissa) - 1);
    Number n;
    n.negative = bits >> (f.mantissa + f.exponent_bits) & 1;
    if (exponent == (1 << f.exponent_bits) - 1) {
        (fraction ? n.nan : n.inf) = true;
        return n;
    }
    n.m = exponent ? fraction | 1 << f.mantissa : flush ? 0 : fraction;
    n.e = (exponent ? exponent : 1) - f.bias - f.mantissa;
    return n;
}

inline int lead(__int128 m, int e) { // floor(log2(m * 2^e)), m > 0
    int n = -1;
    while (m) {
        m >>= 1;
        ++n;
    }
    return n + e;
}

inline __int128 floor_to(__int128 m, int e, int grid) { // floor(m * 2^e / 2^grid), two's complement
    int shift = grid - e;
    if (m == 0) // its exponent says nothing
        return 0;
    if (shift <= 0)
        return m << -shift;
    return shift > 120 ? (m < 0 ? -1 : 0) : m >> shift;
}

inline u32 round_f32(__int128 sum, int grid, bool flush) {
    if (sum == 0)
        return 0;
    bool negative = sum < 0;
    unsigned __int128 m = negative ? -sum : sum;
    int top = lead(static_cast<__int128>(m), grid);
    int ulp = top - 23;
    if (!flush && ulp < -149)
        ulp = -149;
    int drop = ulp - grid;
    unsigned __int128 kept = m;
    if (drop > 0) {
        kept = drop > 100 ? 0 : m >> drop;
        unsigned __int128 rest = drop > 100 ? m : m - (kept << drop);
        unsigned __int128 half = drop > 100 ? 0 : static_cast<unsigned __int128>(1) << (drop - 1);
        if (drop <= 100 && (rest > half || (rest == half && (kept & 1))))
            ++kept;
    } else {
        kept <<= -drop;
    }
    double value = std::ldexp(static_cast<double>(static_cast<u64>(kept)), ulp);
    if (flush && value < 0x1p-126)
        return 0;
    if (value >= 0x1p128)
        return (negative ? 0x80000000 : 0) | 0x7f800000;
    float f = static_cast<float>(negative && value != 0 ? -value : value); // underflow: +0
    u32 bits;
    std::memcpy(&bits, &f, 4);
    return bits;
}

// One rounding to f16, gradual underflow, overflow to infinity.
inline u32 round_f16(__int128 sum, int grid) {
    if (sum == 0)
        return 0;
    u32 sign = sum < 0 ? 0x8000 : 0;
    unsigned __int128 m = sum < 0 ? -sum : sum;
    int ulp = std::max(lead(static_cast<__int128>(m), grid) - 10, -24), drop = ulp - grid;
    u64 kept = static_cast<u64>(drop > 0 ? drop > 100 ? 0 : m >> drop : m << -drop);
    if (drop > 0 && drop <= 100) {
        unsigned __int128 rest = m - (static_cast<unsigned __int128>(kept) << drop);
        unsigned __int128 half = static_cast<unsigned __int128>(1) << (drop - 1);
        kept += rest > half || (rest == half && (kept & 1));
    }
    double value = std::ldexp(static_cast<double>(kept), ulp);
    if (value >= 65536)
        return sign | 0x7c00;
    u32 exponent = value < 0x1p-14 ? 0 : static_cast<u32>(std::ilogb(value) + 15);
    u32 units =
        static_cast<u32>(std::ldexp(value, exponent ? 25 - static_cast<int>(exponent) : 24));
    u32 magnitude = (exponent << 10) + units - (exponent ? 1024 : 0);
    return magnitude ? sign | magnitude : 0; // what underflows to zero is +0
}

struct Word { // of results: default NaN, NaN of a NaN factor, infinity, sign, quiet bit
    u32 nan, factor_nan, inf, sign, quiet;
};
inline Word word_of(Format out) {
    return out.mantissa == 23   ? Word{0xffc00000, 0xffc00a3d, 0x7f800000, 0x80000000, 0x400000}
           : out.mantissa == 10 ? Word{0xfe00, 0xfe3d, 0x7c00, 0x8000, 0x200}
                                : Word{0xffc0, 0xfffd, 0x7f80, 0x8000, 0x40};
}

// `words` pairs of factors: one, or gfx12's two of a WMMA step. C and the result are `out`s.
inline u32 slow_dot(const u32 *a, const u32 *b, int words, u32 c, Format f, Format out,
                    bool gfx12) {
    constexpr int most = 4, none = -100000;
    int count = 2 * words;
    bool flush_factors = f.mantissa == 7 && !gfx12;
    Number x[most], y[most], z = decode(c, out, !gfx12 && out.mantissa != 10);
    for (int i = 0; i < count; ++i) {
        x[i] = decode(a[i / 2] >> 16 * (i % 2) & 0xffff, f, flush_factors);
        y[i] = decode(b[i / 2] >> 16 * (i % 2) & 0xffff, f, flush_factors);
    }
    Word word = word_of(out);
    bool plus = false, minus = false, invalid = false;
    for (int i = 0; i < count; ++i) {
        if (x[i].nan || y[i].nan)
            return word.factor_nan;
        if (x[i].inf || y[i].inf) {
            invalid |= (!x[i].inf && x[i].m == 0) || (!y[i].inf && y[i].m == 0);
            (x[i].negative != y[i].negative ? minus : plus) = true;
        }
    }
    if (z.inf)
        (z.negative ? minus : plus) = true;
    if (invalid || (plus && minus))
        return word.nan;
    if (z.nan)
        return c | word.quiet;
    if (plus || minus)
        return plus ? word.inf : word.inf | word.sign;

    auto round = [&](__int128 sum, int grid) {
        if (out.mantissa == 10)
            return round_f16(sum, grid);
        u32 r = round_f32(sum, grid, !gfx12);
        return out.mantissa == 7 ? r >> 16 : r;
    };
    int floor_c = out.mantissa == 10 ? -14 : -126;
    __int128 p[most];
    int pe[most], grid_of[2] = {none, none};
    bool pneg[most];
    for (int i = 0; i < count; ++i) {
        p[i] = x[i].m * y[i].m;
        pe[i] = x[i].e + y[i].e;
        pneg[i] = x[i].negative != y[i].negative;
        if (p[i]) // sum of exponents, not the leading bit
            grid_of[i / 2] = std::max(grid_of[i / 2], pe[i] + 2 * f.mantissa - 24);
    }
    int grid = std::max(grid_of[0], grid_of[1]);
    if (!gfx12) {
        int least = out.mantissa == 10 ? -14 : none; // also of a zero
        grid = std::max(grid, std::max(z.m ? lead(z.m, z.e) : none, least) - 26);
        if (!z.m && !p[0] && !p[1])
            return 0;
        for (int i = 0; i < count; ++i)
            if (p[i])
                grid = std::max(grid, lead(p[i], pe[i]) - 26);
        __int128 sum = floor_to(z.m, z.e, grid);
        for (int i = 0; i < count; ++i) {
            __int128 m = floor_to(p[i], pe[i], grid);
            sum += pneg[i] == z.negative ? m : -m - 1;
        }
        return round(z.negative ? -sum : sum, grid);
    }
    grid = std::max(grid, std::max(floor_c, z.m ? lead(z.m, z.e) : none) - 26);
    __int128 sum = 0;
    for (int n = 0; n < words; ++n) {
        if (grid_of[n] == none)
            continue;
        __int128 pair = 0;
        for (int i = 2 * n; i < 2 * n + 2; ++i)
            pair += floor_to(pneg[i] ? -p[i] : p[i], pe[i], grid_of[n]);
        sum += floor_to(pair, grid_of[n], grid);
    }
    if (floor_to(z.m, z.e, grid) != 0 || grid <= floor_c)
        sum += floor_to(z.negative ? -z.m : z.m, z.e, grid);
    return round(sum, grid);
}

inline const Frames &level(int n) { return frames(host_levels()[static_cast<size_t>(n)]); }
inline int levels() { return static_cast<int>(host_levels().size()); }

inline u32 hard16(std::mt19937 &random, Format f) {
    static const u32 f16_hard[] = {0,      0x8000, 1,      0x8001, 0x3ff,  0x400,  0x7bff, 0x7c00,
                                   0xfc00, 0x7e00, 0x7c01, 0x3c00, 0xbc00, 0x3c01, 0xfbff, 0x2400};
    static const u32 bf16_hard[] = {0,      0x8000, 1,      0x8001, 0x7f,   0x80,   0x7f7f, 0x7f80,
                                    0xff80, 0x7fc0, 0x7f81, 0x3f80, 0xbf80, 0x3f81, 0xff7f, 0x0100};
    switch (random() % 4) {
    case 0:
        return (f.mantissa == 10 ? f16_hard : bf16_hard)[random() % 16];
    case 1:
        return random() & 0xffff;
    default: { // near one another, so that cancellation happens
        u32 exponent = f.bias + random() % 7 - 3;
        return (random() & 1) << 15 | exponent << f.mantissa |
               (random() & ((1u << f.mantissa) - 1));
    }
    }
}

// Values for the short way through rows without extremes: exponents near one another, zeros of both
// signs, few mantissa bits now and then so that sums cancel.
inline u32 tame16(std::mt19937 &random, Format f) {
    u32 sign = (random() & 1) << 15;
    if (random() % 8 == 0)
        return sign;
    int spread = random() % 3 == 0 ? 30 : 4;
    int exponent = f.bias + static_cast<int>(random() % static_cast<unsigned>(spread)) - spread / 2;
    u32 mantissa = random() & ((1u << f.mantissa) - 1);
    if (f.mantissa == 10 && random() % 8 == 0)
        exponent = 0; // f16 subnormals are tame, too
    if (random() % 4 == 0)
        mantissa &= ~0u << (f.mantissa - 2);
    return sign | static_cast<u32>(exponent) << f.mantissa | mantissa;
}

inline u32 tame32(std::mt19937 &random) {
    u32 sign = (random() & 1u) << 31;
    if (random() % 8 == 0)
        return sign;
    u32 spread = random() % 3 == 0 ? 118 : 8;
    u32 mantissa = random() & (random() % 4 ? 0x7fffffu : 0x700000u);
    return sign | (127 + random() % spread - spread / 2) << 23 | mantissa;
}

inline u32 hard32(std::mt19937 &random) {
    static const u32 hard[] = {0,          0x80000000, 1,          0x80000001,
                               0x007fffff, 0x00800000, 0x7f7fffff, 0x7f800000,
                               0xff800000, 0x7fc12345, 0x7f800001, 0x3f800000,
                               0xbf800000, 0x3f800001, 0xff7fffff, 0x33800000};
    switch (random() % 4) {
    case 0:
        return hard[random() % 16];
    case 1:
        return static_cast<u32>(random());
    default:
        return (random() & 1u) << 31 | (127 + random() % 40 - 20) << 23 | (random() & 0x7fffff);
    }
}

} // namespace nw::sim::test
