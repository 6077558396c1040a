// SPDX-License-Identifier: MIT
// v_dot4_f32_* of FP8 and BF8: each order of summation (S-022) against doubles.
#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cmath>
#include <random>

#include "sim/alu/fp8_format.h"
#include "sim/alu/lane_op.h"
#include "sim/func/choices.h"

using namespace nw;
using namespace nw::sim;
using namespace nw::sim::test;

namespace {

const std::pair<Fp8Format, Fp8Format> pairs[] = {{fp8, fp8}, {fp8, bf8}, {bf8, fp8}, {bf8, bf8}};

u32 bits(double x) { return std::bit_cast<u32>(static_cast<f32>(x)); }
double f64_of(u32 x) { return std::bit_cast<f32>(x); }

std::string name_of(const std::pair<Fp8Format, Fp8Format> &f) {
    return std::string("v_dot4_f32_") + f.first.name + "_" + f.second.name;
}

u32 dot(const std::pair<Fp8Format, Fp8Format> &f, u32 a, u32 b, u32 c) {
    static const Mode mode = make_mode(0, 3, true);
    return lane_op(name_of(f), a, mode, b, c);
}

u32 code(u32 word, unsigned n) { return word >> 8 * n & 255; }

// The step as 2.52 says it for halves, but all products are cut to one grid, then, with C, to the
// common one.
u32 one_step(const std::pair<Fp8Format, Fp8Format> &f, u32 a, u32 b, u32 c) {
    auto cut = [](double x, int grid) {
        return std::ldexp(std::floor(std::ldexp(x, -grid)), grid);
    };
    const int lead = std::max<int>(c >> 23 & 255, 1) - 127;
    int common = lead - 26;
    double product[4], of_all = 0;
    int grid = -20000;
    for (unsigned n = 0; n < 4; ++n) {
        u32 x = code(a, n), y = code(b, n);
        product[n] = f.first.value(x) * f.second.value(y);
        if (product[n] != 0)
            grid = std::max(grid, f.first.exponent(x) + f.second.exponent(y) - 24);
    }
    for (double x : product)
        of_all += grid < -1000 ? 0 : cut(x, grid);
    common = std::max(common, grid);
    double sum = cut(of_all, common);
    double addend = f64_of(c);
    if (std::abs(addend) >= std::ldexp(1.0, common)) // without a bit on the grid it counts nothing
        sum += cut(addend, common);
    return sum == 0 ? 0 : bits(sum);
}

u32 chained(const std::pair<Fp8Format, Fp8Format> &f, u32 a, u32 b, u32 c) {
    f32 sum = std::bit_cast<f32>(c);
    for (unsigned n = 0; n < 4; ++n)
        sum = std::fma(static_cast<f32>(f.first.value(code(a, n))),
                       static_cast<f32>(f.second.value(code(b, n))), sum);
    return std::bit_cast<u32>(sum);
}

u32 rounded_once(const std::pair<Fp8Format, Fp8Format> &f, u32 a, u32 b, u32 c) {
    long double sum = f64_of(c); // 64 bits: enough for the inputs below
    for (unsigned n = 0; n < 4; ++n)
        sum += static_cast<long double>(f.first.value(code(a, n))) * f.second.value(code(b, n));
    return sum == 0 ? 0 : std::bit_cast<u32>(static_cast<f32>(sum));
}

u32 finite_codes(const Fp8Format &f, std::mt19937 &random) {
    u32 word = 0;
    for (unsigned n = 0; n < 4; ++n) {
        u32 x;
        do
            x = random() & 255;
        while (!f.finite(x));
        word |= (random() % 8 ? x : x & 0x80) << 8 * n; // and zeros
    }
    return word;
}

} // namespace

TEST_CASE("v_dot4_f32: every product of two codes is exact, however it adds") {
    for (const char *adding : {"step", "exact", "chain"}) {
        ChoicesScope scope(std::string("fp8_dot4=") + adding);
        for (const auto &f : pairs)
            for (u32 x = 0; x < 256; ++x)
                for (u32 y = 0; y < 256; ++y) {
                    if (!f.first.finite(x) || !f.second.finite(y))
                        continue;
                    double product = f.first.value(x) * f.second.value(y);
                    unsigned at = 8 * (y % 4);
                    INFO(name_of(f), " ", adding, " ", x, " ", y);
                    REQUIRE(f64_of(dot(f, x << at, y << at, 0)) == product);
                }
    }
}

TEST_CASE("v_dot4_f32: small integers add exactly, C with its modifiers") {
    // 1*2 + -2*1 + 2*-2 + -1*2 + c
    u32 a = 0xb840c038, b = 0x40c03840;
    for (const char *adding : {"step", "exact", "chain"}) {
        ChoicesScope scope(std::string("fp8_dot4=") + adding);
        CHECK(dot(pairs[0], a, b, bits(10)) == bits(2 - 2 - 4 - 2 + 10));
        CHECK(dot(pairs[0], a, b, bits(6)) == 0);
        CHECK(dot(pairs[0], 0, 0, 0x80000000) == 0);
    }
}

TEST_CASE("v_dot4_f32 with NaN and infinities") {
    const u32 one = 0x38, bf_one = 0x3c, inf = 0x7c, minus_inf = 0xfc;
    for (const char *adding : {"step", "exact", "chain"}) {
        ChoicesScope scope(std::string("fp8_dot4=") + adding);
        CHECK(dot(pairs[0], 0x7f, one, 0) == 0xffc00a3d);
        CHECK(dot(pairs[0], one, 0xff00, 0x7f800000) == 0xffc00a3d);
        CHECK(dot(pairs[3], 0x7d, 0, 0) == 0xffc00a3d);
        CHECK(dot(pairs[0], one, one, 0x7f812345) == 0x7fc12345);
        CHECK(dot(pairs[0], one, one, 0xff800000) == 0xff800000);
        CHECK(dot(pairs[3], inf, bf_one, 0) == 0x7f800000);
        CHECK(dot(pairs[3], inf, bf_one | 0x80, bits(1)) == 0xff800000);
        CHECK(dot(pairs[3], inf, 0, 0) == 0xffc00a3d);
        CHECK(dot(pairs[3], inf | minus_inf << 8, bf_one | bf_one << 8, 0) == 0xffc00a3d);
        CHECK(dot(pairs[2], inf, one, 0xff800000) == 0xffc00a3d);
    }
}

TEST_CASE("the ways of v_dot4_f32 differ where bits are cut") {
    // 448 * 448 - 448 * 448 - 2^-9 * 2^-9
    u32 a = 0x01fe7e, b = 0x817e7e;
    CHECK(dot(pairs[0], a, b, 0) == bits(-0x1p-8)); // floor on the grid of the largest product
    ChoicesScope exact("fp8_dot4=exact");
    CHECK(dot(pairs[0], a, b, 0) == bits(-0x1p-18));
    ChoicesScope chain("fp8_dot4=chain");
    CHECK(dot(pairs[0], a, b, 0) == bits(-0x1p-18));
    CHECK(dot(pairs[0], 0x38, 0x38, 0x4b800000) == 0x4b800000); // 2^24 + 1, a tie: stays even
}

TEST_CASE("v_dot4_f32 adds as each choice says, in all modes") {
    std::mt19937 random(11);
    for (const auto &f : pairs)
        for (int n = 0; n < 20000; ++n) {
            u32 a = finite_codes(f.first, random), b = finite_codes(f.second, random);
            u32 c = (127 - 12 + random() % 24) << 23 | (random() & 0x807fffff);
            c = n % 16 == 0 ? random() & 0x807fffff : c; // subnormal
            INFO(name_of(f), " ", a, " ", b, " ", c);
            auto in_modes = [&](auto want) {
                Mode m = make_mode(random() % 4, random() % 4, true);
                REQUIRE(lane_op(name_of(f), a, m, b, c) == want(f, a, b, c));
            };
            in_modes(one_step);
            ChoicesScope chain("fp8_dot4=chain");
            in_modes(chained);
            ChoicesScope exact("fp8_dot4=exact");
            if (n % 16 != 0)
                in_modes(rounded_once);
        }
}

TEST_CASE("v_dot4_f32 rounded once: C far above and far below the products") {
    ChoicesScope scope("fp8_dot4=exact");
    const u32 one = 0x38;
    CHECK(dot(pairs[0], one, one, 0x7f7fffff) == 0x7f7fffff);
    CHECK(dot(pairs[0], one, one, 0x00000001) == 0x3f800000);
    CHECK(dot(pairs[0], one, one, 0x80000001) == 0x3f800000);
    CHECK(dot(pairs[0], 0, 0, 0x00000001) == 0x00000001);
    CHECK(dot(pairs[0], one, one, 0x33800000) == 0x3f800000); // 1 + 2^-24: a tie
    CHECK(dot(pairs[0], one, one, 0x33800001) == 0x3f800001); // and above it
    CHECK(dot(pairs[0], one, one, 0xb3000000) == 0x3f800000); // 1 - 2^-25: a tie
    CHECK(dot(pairs[0], one, one, 0xb3000001) == 0x3f7fffff);
    CHECK(dot(pairs[0], one, one, 0xbf800001) == 0xb4000000); // -2^-23
    CHECK(dot(pairs[3], 0x7b, 0x7b, 0x5d000000) == bits(0x1p59 + 57344.0 * 57344.0));
}
