// SPDX-License-Identifier: MIT
// FP8 and BF8 conversions against a table of what the 256 codes are worth, made from the formats'
// definitions.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>

#include "sim/alu/fp8_format.h"
#include "sim/alu/lane_op.h"
#include "sim/alu/lane_program.h"
#include "sim/func/choices.h"

using namespace nw;
using namespace nw::sim;
using namespace nw::sim::test;

namespace {

u32 f32_bits(double x) { return std::bit_cast<u32>(static_cast<f32>(x)); }
f32 f32_of(u32 bits) { return std::bit_cast<f32>(bits); }

u32 decoded(const Fp8Format &f, u32 byte) {
    u32 code = byte & 0x7f, sign = byte >> 7 << 31;
    if (f.fraction_bits == 3 ? code == 0x7f : code > 0x7c)
        return 0xffc00000;
    if (f.fraction_bits == 2 && code == 0x7c)
        return sign | 0x7f800000;
    return sign | f32_bits(f.value(code));
}

// By comparison with every code's value.
u32 rounded(const Fp8Format &f, u32 bits, bool saturate) {
    f32 x = f32_of(bits);
    u32 sign = bits >> 31 << 7;
    if (std::isnan(x))
        return f.nan;
    if (std::isinf(x))
        return sign | f.overflow;
    double magnitude = std::abs(static_cast<double>(x));
    u32 code = 0;
    while (code < f.overflow && f.value(code + 1) <= magnitude)
        ++code;
    if (code < f.overflow) {
        double middle = (f.value(code) + f.value(code + 1)) / 2;
        code += magnitude > middle || (magnitude == middle && (code & 1)) ? 1 : 0;
    }
    return sign | std::min(code, saturate ? f.largest : f.overflow);
}

// The value in steps of the result, truncated to a significand's bits below them, plus the seed's
// upper bits.
u32 rounded_by_seed(const Fp8Format &f, u32 bits, u32 seed, bool saturate) {
    f32 x = f32_of(bits);
    u32 sign = bits >> 31 << 7;
    if (std::isnan(x))
        return f.nan;
    if (std::isinf(x))
        return sign | f.overflow;
    double magnitude = std::abs(static_cast<double>(x));
    int exponent = magnitude == 0 ? -1000 : std::ilogb(magnitude);
    if (exponent > f.bias + 1)
        return sign | (saturate ? f.largest : f.overflow);
    int smallest = 1 - f.bias, used = std::max(exponent, smallest), below = 23 - f.fraction_bits;
    double units = std::floor(std::ldexp(magnitude, 23 - used)) + (seed >> (32 - below));
    u32 steps = static_cast<u32>(std::floor(std::ldexp(units, -below)));
    u32 code = steps + (static_cast<u32>(used - smallest) << f.fraction_bits);
    return sign | std::min(code, saturate ? f.largest : f.overflow);
}

// Every value of the format, the middles between them, and their neighbours; other formats' limits.
std::vector<u32> hard_inputs(const Fp8Format &f) {
    std::vector<u32> all{0,          1,          0x007fffff, 0x00800000, 0x7f7fffff,
                         0x7f800000, 0x7f800001, 0x7fc12345, 0x7fffffff};
    for (u32 code = 0; code < f.overflow; ++code)
        for (double x : {f.value(code), (f.value(code) + f.value(code + 1)) / 2, f.value(code + 1)})
            for (u32 step : {~0u, 0u, 1u})
                all.push_back(f32_bits(x) + (x == 0 && step == ~0u ? 0 : step));
    std::mt19937 random(5);
    for (int n = 0; n < 2000; ++n)
        all.push_back(static_cast<u32>(random()) & 0x7fffffff);
    for (int n = 0; n < 2000; ++n) // where the format is
        all.push_back((127 - 20 + random() % 40) << 23 | (random() & 0x7fffff));
    for (size_t n = all.size(); n-- > 0;)
        all.push_back(all[n] | 0x80000000);
    return all;
}

KernelText kernel(const std::string &body, const char *gfx = "gfx1201") {
    KernelText k;
    k.gfx = gfx;
    k.body = body;
    return k;
}

} // namespace

TEST_CASE("FP8 and BF8 sources: hard values") {
    CHECK(lane_op("v_cvt_f32_fp8", 0x00) == 0);
    CHECK(lane_op("v_cvt_f32_fp8", 0x80) == 0x80000000);
    CHECK(lane_op("v_cvt_f32_fp8", 0x01) == 0x3b000000); // 2^-9
    CHECK(lane_op("v_cvt_f32_fp8", 0x07) == 0x3c600000);
    CHECK(lane_op("v_cvt_f32_fp8", 0x08) == 0x3c800000); // 2^-6
    CHECK(lane_op("v_cvt_f32_fp8", 0x38) == 0x3f800000);
    CHECK(lane_op("v_cvt_f32_fp8", 0xfe) == 0xc3e00000); // -448
    CHECK(lane_op("v_cvt_f32_fp8", 0x7f) == 0xffc00000);
    CHECK(lane_op("v_cvt_f32_fp8", 0xff) == 0xffc00000);
    CHECK(lane_op("v_cvt_f32_bf8", 0x01) == 0x37800000); // 2^-16
    CHECK(lane_op("v_cvt_f32_bf8", 0x3c) == 0x3f800000);
    CHECK(lane_op("v_cvt_f32_bf8", 0x7b) == 0x47600000); // 57344
    CHECK(lane_op("v_cvt_f32_bf8", 0xfc) == 0xff800000);
    CHECK(lane_op("v_cvt_f32_bf8", 0x7d) == 0xffc00000);
}

TEST_CASE("every FP8 and BF8 code, in every rounding and denormal mode") {
    for (u32 round = 0; round < 4; ++round)
        for (u32 denorm : {0u, 3u})
            for (u32 code = 0; code < 256; ++code) {
                Mode m = make_mode(round, denorm, true);
                INFO("code ", code);
                REQUIRE(lane_op("v_cvt_f32_fp8", code | 0x5a5a5a00, m) == decoded(fp8, code));
                REQUIRE(lane_op("v_cvt_f32_bf8", code | 0xa5a5a500, m) == decoded(bf8, code));
                u64 pair = lane_op64("v_cvt_pk_f32_fp8", code | (code ^ 0x55) << 8, m);
                REQUIRE(pair == (decoded(fp8, code) | u64{decoded(fp8, code ^ 0x55)} << 32));
                pair = lane_op64("v_cvt_pk_f32_bf8", code | (code ^ 0x55) << 8, m);
                REQUIRE(pair == (decoded(bf8, code) | u64{decoded(bf8, code ^ 0x55)} << 32));
            }
}

TEST_CASE("byte_sel and halves pick the code of FP8 sources") {
    auto out = run_lanes(kernel(R"(
  v_cvt_f32_fp8 v16, v8
  v_cvt_f32_fp8 v17, v8 byte_sel:1
  v_cvt_f32_bf8 v18, v8 byte_sel:2
  v_cvt_f32_bf8 v19, v8 byte_sel:3
  v_cvt_pk_f32_fp8 v[20:21], v8.l
  v_cvt_pk_f32_bf8 v[22:23], v8.h)"),
                         1, 8, {0x7b3c4038});
    const std::vector<u32> want{0x3f800000, 0x40000000, 0x3f800000, 0x47600000,
                                0x3f800000, 0x40000000, 0x3f800000, 0x47600000};
    CHECK(out == want);
    auto more = run_lanes(kernel(R"(
  s_mov_b32 s8, 0x38
  v_cvt_f32_fp8 v16, s8
  v_cvt_f32_fp8_e64_dpp v17, v8 byte_sel:3 quad_perm:[1,1,1,1] row_mask:0xf bank_mask:0xf
  v_cvt_f32_fp8_dpp v18, v8 quad_perm:[2,2,2,2] row_mask:0xf bank_mask:0xf)"),
                          1, 3, {0, 0x38000000, 0x40, 0});
    CHECK(more[0] == 0x3f800000);
    CHECK(more[1] == 0x3f800000);
    CHECK(more[2] == 0x40000000);
}

TEST_CASE("FP8 results: hard values") {
    Mode m = make_mode(0, 3, true), saturating = m;
    saturating.fp16_ovfl = true;
    auto low = [](const char *name, u32 x, const Mode &mode) {
        return lane_op(name, x, mode) & 0xff;
    };
    CHECK(low("v_cvt_pk_fp8_f32", 0x3f800000, m) == 0x38);
    CHECK(low("v_cvt_pk_fp8_f32", 0x43e80000, m) == 0x7e); // 464: a tie, to even
    CHECK(low("v_cvt_pk_fp8_f32", 0x43e80001, m) == 0x7f);
    CHECK(low("v_cvt_pk_fp8_f32", 0x43e80001, saturating) == 0x7e);
    CHECK(low("v_cvt_pk_fp8_f32", 0x7f800000, saturating) == 0x7f); // infinity doesn't saturate
    CHECK(low("v_cvt_pk_fp8_f32", 0xff800000, m) == 0xff);
    CHECK(low("v_cvt_pk_fp8_f32", 0x7fc00000, saturating) == 0xff);
    CHECK(low("v_cvt_pk_fp8_f32", 0x3a800000, m) == 0x00); // 2^-10: a tie, to even
    CHECK(low("v_cvt_pk_fp8_f32", 0x3a800001, m) == 0x01);
    CHECK(low("v_cvt_pk_bf8_f32", 0x47700000, m) == 0x7c); // 61440: a tie, to even
    CHECK(low("v_cvt_pk_bf8_f32", 0xc76fffff, m) == 0xfb);
    CHECK(low("v_cvt_pk_bf8_f32", 0xc7700000, saturating) == 0xfb);
    CHECK(low("v_cvt_pk_bf8_f32", 0x7f800000, saturating) == 0x7c);
    CHECK(low("v_cvt_pk_bf8_f32", 0x7f800001, m) == 0xfe);
    CHECK(low("v_cvt_pk_bf8_f32", 0x80000000, m) == 0x80);
}

TEST_CASE("f32 to FP8 and BF8 rounds to nearest even in every mode") {
    for (const Fp8Format &f : {fp8, bf8})
        for (u32 x : hard_inputs(f))
            for (u32 round = 0; round < 4; ++round)
                for (bool saturate : {false, true}) {
                    Mode m = make_mode(round, 3 * (round & 1), true);
                    m.fp16_ovfl = saturate;
                    u32 y = x * 0x9e3779b1u;
                    u32 got = lane_op(std::string("v_cvt_pk_") + f.name + "_f32", x, m, y);
                    INFO(f.name, " of ", x, " and ", y);
                    REQUIRE((got & 0xffff) ==
                            (rounded(f, x, saturate) | rounded(f, y, saturate) << 8));
                }
}

TEST_CASE("packed FP8 results go to the half that is named, signs are changed before") {
    auto out = run_lanes(kernel(R"(
  v_mov_b32 v16, 0x11223344
  v_mov_b32 v17, v16
  v_mov_b32 v18, v16
  v_cvt_pk_fp8_f32 v16.l, v8, v9
  v_cvt_pk_bf8_f32 v17.h, -v8, |v9|
  v_cvt_pk_fp8_f32 v18.h, -|v9|, s3)"),
                         2, 3, {f32_bits(1), f32_bits(-2)});
    CHECK(out[0] == 0x1122c038);
    CHECK(out[1] == 0x40bc3344);
    CHECK((out[2] & 0x00ffffff) == 0x00c03344);
}

TEST_CASE("stochastic rounding adds the seed's upper bits below the result") {
    const u32 seeds[] = {0,          1,          0x00000fff, 0x00001000, 0x7fffffff,
                         0x80000000, 0xfffff000, 0xffffffff, 0x12345678, 0xdeadbeef};
    for (const Fp8Format &f : {fp8, bf8})
        for (bool saturate : {false, true}) {
            std::vector<u32> in;
            for (u32 x : hard_inputs(f))
                for (u32 seed : seeds)
                    in.insert(in.end(), {x, seed});
            std::string name = std::string("v_cvt_sr_") + f.name + "_f32";
            auto out = run_lanes(kernel((saturate ? set_fp16_ovfl : "") +
                                        fmt::format("  v_mov_b32 v16, 0x11223344\n"
                                                    "  v_mov_b32 v17, v16\n"
                                                    "  {0} v16, v8, v9\n"
                                                    "  {0} v17, -|v8|, v9 byte_sel:2",
                                                    name)),
                                 2, 2, in);
            for (size_t l = 0; l < in.size() / 2; ++l) {
                u32 x = in[2 * l], seed = in[2 * l + 1];
                INFO(name, " of ", x, " with seed ", seed);
                REQUIRE(out[2 * l] == (0x11223300 | rounded_by_seed(f, x, seed, saturate)));
                u32 negative = rounded_by_seed(f, x | 0x80000000, seed, saturate);
                REQUIRE(out[2 * l + 1] == (0x11003344 | negative << 16));
            }
        }
}

TEST_CASE("stochastic rounding is fair: as many seeds round up as the value lies above") {
    std::vector<u32> in;
    for (u32 eighth = 0; eighth < 8; ++eighth) // 1 + eighth/8 of a step of fp8
        for (u32 seed = 0; seed < 256; ++seed)
            in.insert(in.end(), {f32_bits(1 + eighth / 64.0), seed << 24});
    auto out = run_lanes(kernel("  v_mov_b32 v16, 0\n  v_cvt_sr_fp8_f32 v16, v8, v9"), 2, 1, in);
    for (u32 eighth = 0; eighth < 8; ++eighth) {
        auto first = out.begin() + eighth * 256;
        CHECK(std::count(first, first + 256, 0x39u) == eighth * 32);
        CHECK(std::count(first, first + 256, 0x38u) == 256 - eighth * 32);
    }
}

TEST_CASE("the carry of stochastic rounding is a choice") {
    const std::string body = "  v_mov_b32 v16, 0\n  v_cvt_sr_fp8_f32 v16, v8, v9";
    const std::vector<u32> in{f32_bits(1.96875), 0xffffffff};
    CHECK(run_lanes(kernel(body), 2, 1, in)[0] == 0x40);
    ChoicesScope scope("sr_carry=wrap");
    CHECK(run_lanes(kernel(body), 2, 1, in)[0] == 0x38);
}
