// SPDX-License-Identifier: MIT
// DOT2 against an independent, slow model of isa_notes' fixed-point rule: exact rationals in
// __int128, floors and complements done on them, one rounding at the end.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "sim/func/frames.h"

using namespace nw;
using namespace nw::sim;

namespace {

struct Format {
    int mantissa, exponent_bits, bias;
};
constexpr Format f16{10, 5, 15}, bf16{7, 8, 127};

struct Number {
    bool nan = false, inf = false, negative = false;
    __int128 m = 0; // value = m * 2^e
    int e = 0;
};

Number decode(u32 bits, Format f, bool flush) {
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

int lead(__int128 m, int e) { // floor(log2(m * 2^e)), m > 0
    int n = -1;
    while (m) {
        m >>= 1;
        ++n;
    }
    return n + e;
}

__int128 floor_to(__int128 m, int e, int grid) { // floor(m * 2^e / 2^grid), two's complement
    int shift = grid - e;
    if (m == 0) // its exponent says nothing
        return 0;
    if (shift <= 0)
        return m << -shift;
    return shift > 120 ? (m < 0 ? -1 : 0) : m >> shift;
}

u32 round_f32(__int128 sum, int grid, bool flush) {
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
    float f = static_cast<float>(negative ? -value : value);
    u32 bits;
    std::memcpy(&bits, &f, 4);
    return bits;
}

u32 slow_dot2(u32 a, u32 b, u32 c, Format f, bool gfx12) {
    bool flush_factors = f.mantissa == 7 && !gfx12;
    Number x[2] = {decode(a & 0xffff, f, flush_factors), decode(a >> 16, f, flush_factors)};
    Number y[2] = {decode(b & 0xffff, f, flush_factors), decode(b >> 16, f, flush_factors)};
    Number z = decode(c, {23, 8, 127}, !gfx12);
    bool plus = false, minus = false, invalid = false;
    for (int i = 0; i < 2; ++i) {
        if (x[i].nan || y[i].nan)
            return 0xffc00a3d;
        if (x[i].inf || y[i].inf) {
            invalid |= (!x[i].inf && x[i].m == 0) || (!y[i].inf && y[i].m == 0);
            (x[i].negative != y[i].negative ? minus : plus) = true;
        }
    }
    if (z.inf)
        (z.negative ? minus : plus) = true;
    if (invalid || (plus && minus))
        return 0xffc00000;
    if (z.nan)
        return c | 0x00400000;
    if (plus || minus)
        return plus ? 0x7f800000 : 0xff800000;

    constexpr int none = -100000;
    __int128 p[2];
    int pe[2], grid_products = none;
    bool pneg[2];
    for (int i = 0; i < 2; ++i) {
        p[i] = x[i].m * y[i].m;
        pe[i] = x[i].e + y[i].e;
        pneg[i] = x[i].negative != y[i].negative;
        if (p[i]) // sum of exponents, not the leading bit
            grid_products = std::max(grid_products, pe[i] + 2 * f.mantissa - 24);
    }
    if (!gfx12) {
        int grid = grid_products;
        if (z.m)
            grid = std::max(grid, lead(z.m, z.e) - 26);
        if (!z.m && !p[0] && !p[1])
            return 0;
        for (int i = 0; i < 2; ++i)
            if (p[i])
                grid = std::max(grid, lead(p[i], pe[i]) - 26);
        __int128 sum = floor_to(z.m, z.e, grid);
        for (int i = 0; i < 2; ++i) {
            __int128 m = floor_to(p[i], pe[i], grid);
            sum += pneg[i] == z.negative ? m : -m - 1;
        }
        return round_f32(z.negative ? -sum : sum, grid, true);
    }
    __int128 pair = 0;
    for (int i = 0; i < 2; ++i)
        pair += grid_products == none ? 0 : floor_to(pneg[i] ? -p[i] : p[i], pe[i], grid_products);
    int grid = std::max(grid_products, std::max(-126, z.m ? lead(z.m, z.e) : none) - 26);
    __int128 sum = grid_products == none ? 0 : floor_to(pair, grid_products, grid);
    if (floor_to(z.m, z.e, grid) != 0)
        sum += floor_to(z.negative ? -z.m : z.m, z.e, grid);
    return round_f32(sum, grid, false);
}

const Frames &level(int n) { return n == 0 ? base::level() : n == 1 ? v3::level() : v4::level(); }
int levels() { // that this host can run
    return __builtin_cpu_supports("x86-64-v4") ? 3 : __builtin_cpu_supports("x86-64-v3") ? 2 : 1;
}

u32 hard16(std::mt19937 &random, Format f) {
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
u32 tame16(std::mt19937 &random, Format f) {
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

u32 tame32(std::mt19937 &random) {
    u32 sign = (random() & 1u) << 31;
    if (random() % 8 == 0)
        return sign;
    u32 spread = random() % 3 == 0 ? 118 : 8;
    u32 mantissa = random() & (random() % 4 ? 0x7fffffu : 0x700000u);
    return sign | (127 + random() % spread - spread / 2) << 23 | mantissa;
}

u32 hard32(std::mt19937 &random) {
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

u32 one(Op op, u32 a, u32 b, u32 c, bool gfx12) {
    Row ra, rb, rc, rd{};
    for (unsigned l = 0; l < row_lanes; ++l)
        ra.lane[l] = a, rb.lane[l] = b, rc.lane[l] = c;
    Mode m;
    m.gfx12 = gfx12;
    m.bits = 0xf0 | 3 << 8;
    m.update();
    frames().lane[static_cast<size_t>(op)](rd.lane, ra.lane, rb.lane, rc.lane, ~0u, m);
    return rd.lane[7];
}

void compare(Op op, Format f, bool gfx12, int rounds) {
    std::mt19937 random(20240611);
    Mode m;
    m.gfx12 = gfx12;
    m.bits = 0xf0 | 3 << 8;
    m.update();
    int wrong = 0;
    for (int round = 0; round < rounds && wrong < 5; ++round) {
        Row a, b, c;
        for (unsigned l = 0; l < row_lanes; ++l) {
            auto factor = round % 2 ? tame16 : hard16;
            a.lane[l] = factor(random, f) | factor(random, f) << 16;
            b.lane[l] = factor(random, f) | factor(random, f) << 16;
            c.lane[l] = round % 2 ? tame32(random) : hard32(random);
        }
        for (int n = 0; n < levels(); ++n) {
            Row d{};
            level(n).lane[static_cast<size_t>(op)](d.lane, a.lane, b.lane, c.lane, ~0u, m);
            for (unsigned l = 0; l < row_lanes && wrong < 5; ++l) {
                u32 want = slow_dot2(a.lane[l], b.lane[l], c.lane[l], f, gfx12);
                if (d.lane[l] == want)
                    continue;
                ++wrong;
                CAPTURE(n);
                CAPTURE(l);
                INFO(std::hex, "a ", a.lane[l], " b ", b.lane[l], " c ", c.lane[l], " got ",
                     d.lane[l], " want ", want);
                CHECK(d.lane[l] == want);
            }
        }
    }
    CHECK(wrong == 0);
}

constexpr u32 two(u32 low, u32 high) { return low | high << 16; }

} // namespace

TEST_CASE("DOT2's published vectors, gfx11 f16") {
    constexpr u32 zero = 0, one_h = 0x3c00, three = 0x4200, eight = 0x4800, four = 0x4400;
    CHECK(one(Op::v_dot2_f32_f16, two(one_h, one_h), two(one_h, one_h), 0xc0000000, false) ==
          0x34000000);
    CHECK(one(Op::v_dot2_f32_f16, two(three, eight), two(eight, four), 0xbf800000, false) ==
          0x425c0001);
    CHECK(one(Op::v_dot2_f32_f16, two(one_h, one_h), two(zero, one_h), 0x80000000, false) ==
          0x3f800001);
    CHECK(one(Op::v_dot2_f32_f16, two(one_h, one_h), two(zero, one_h), 0, false) == 0x3f800000);
}

TEST_CASE("DOT2 f32 from f16, gfx11") { compare(Op::v_dot2_f32_f16, f16, false, 20000); }
TEST_CASE("DOT2 f32 from bf16, gfx11") { compare(Op::v_dot2_f32_bf16, bf16, false, 20000); }
TEST_CASE("DOT2 f32 from f16, gfx12") { compare(Op::v_dot2_f32_f16, f16, true, 20000); }
TEST_CASE("DOT2 f32 from bf16, gfx12") { compare(Op::v_dot2_f32_bf16, bf16, true, 20000); }
