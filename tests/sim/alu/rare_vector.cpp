// SPDX-License-Identifier: MIT
// Vector instructions that compilers seldom emit: interpolation, sums of absolute differences,
// transcendentals of one SGPR.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <random>

#include "sim/alu/lane_program.h"

using namespace nw;
using namespace nw::sim;
using namespace nw::sim::test;

namespace {

u32 bits(f32 x) { return std::bit_cast<u32>(x); }
f32 f32_of(u32 x) { return std::bit_cast<f32>(x); }
u32 half(double x) { return std::bit_cast<u16>(static_cast<_Float16>(x)); }

KernelText kernel(const std::string &gfx, const std::string &body) {
    KernelText k;
    k.gfx = gfx;
    k.body = body;
    return k;
}

const char *const both[] = {"gfx1151", "gfx1201"};

// v8: P0, P10, P20 in the first three lanes of each quad; v9: I; v10: what P2 adds to.
std::vector<u32> quads(unsigned lanes, auto parameter) {
    std::vector<u32> in;
    for (unsigned l = 0; l < lanes; ++l)
        in.insert(in.end(), {parameter(l), bits(0.25f * static_cast<f32>(l) - 3),
                             bits(100.0f + static_cast<f32>(l))});
    return in;
}

} // namespace

TEST_CASE("v_interp reads P0, P10 and P20 from lanes of its quad, active or not") {
    auto value = [](unsigned l) { return 1.5f * static_cast<f32>(l) + 2; };
    for (const char *gfx : both)
        for (u32 wave : {32u, 64u}) {
            KernelText k = kernel(gfx, fmt::format(R"(
  v_mov_b32 v16, 0
  v_mov_b32 v17, 0
  s_mov_b32 exec_lo, 0x88888888
  {}
  v_interp_p10_f32 v16, v8, v9, v8 wait_exp:7
  v_interp_p2_f32 v17, v8, v9, v10)",
                                                   wave == 64 ? "s_mov_b32 exec_hi, 0xffff" : ""));
            k.wave = wave;
            auto in = quads(wave, [&](unsigned l) { return bits(value(l)); });
            auto out = run_lanes(k, 3, 2, in);
            for (unsigned l = 0; l < wave; ++l) {
                bool active = l < 32 ? l % 4 == 3 : l < 48; // as set above
                f32 i = f32_of(in[3 * l + 1]), c = f32_of(in[3 * l + 2]);
                f32 p10 = std::fma(value(l / 4 * 4 + 1), i, value(l / 4 * 4));
                f32 p2 = std::fma(value(l / 4 * 4 + 2), i, c);
                INFO(gfx, " wave", wave, " lane ", l);
                CHECK(out[2 * l] == (active ? bits(p10) : 0));
                CHECK(out[2 * l + 1] == (active ? bits(p2) : 0));
            }
        }
}

TEST_CASE("v_interp takes signs and CLAMP, and MODE's rounding") {
    // 3 * 0.25 - 1 or so, in lane 3 of a quad.
    auto in = quads(4, [](unsigned l) { return bits(static_cast<f32>(l) + 2); });
    in[3 * 3 + 1] = bits(0.25f);
    auto out = run_lanes(kernel("gfx1151", R"(
  v_interp_p10_f32 v16, -v8, v9, v8
  v_interp_p10_f32 v17, v8, -v9, -v8
  v_interp_p10_f32 v18, v8, v9, v8 clamp
  v_interp_p10_f32 v19, v8, -v9, -v8 clamp)"),
                         3, 4, in);
    CHECK(f32_of(out[3 * 4]) == 1.25f);
    CHECK(f32_of(out[3 * 4 + 1]) == -2.75f);
    CHECK(f32_of(out[3 * 4 + 2]) == 1.0f);
    CHECK(out[3 * 4 + 3] == 0);
    // 1 + 2^-23 times 1, plus 2^-24: a tie.
    std::vector<u32> tie{0x33800000, 0, 0x3f800000, 0, 0, 0, 0, 0x3f800001};
    auto rounded = run_lanes(kernel("gfx1151", R"(
  v_interp_p10_f32 v16, v8, v9, v8
  s_setreg_imm32_b32 hwreg(1, 0, 2), 2
  v_interp_p10_f32 v17, v8, v9, v8)"),
                             2, 2, tie);
    CHECK(rounded[6] == 0x3f800002);
    CHECK(rounded[7] == 0x3f800001);
}

TEST_CASE("v_interp of halves rounds once") {
    auto value = [](unsigned l) { return 0.1f * static_cast<f32>(l) - 1; };
    auto in = quads(32, [&](unsigned l) { return half(value(l)) | half(-value(l)) << 16; });
    for (const char *gfx : both) {
        auto out = run_lanes(kernel(gfx, R"(
  v_mov_b32 v17, 0x12345678
  v_mov_b32 v18, v17
  v_interp_p10_f16_f32 v16, v8.l, v9, v8.l
  v_interp_p2_f16_f32 v17.l, v8.l, v9, v10
  v_interp_p2_f16_f32 v18.h, v8.h, v9, v10
  v_interp_p10_f16_f32 v19, v8.h, v9, v8.l)"),
                             3, 4, in);
        for (unsigned l = 0; l < 32; ++l) {
            auto widened = [&](unsigned from) {
                return static_cast<f32>(static_cast<_Float16>(value(l / 4 * 4 + from)));
            };
            f32 i = f32_of(in[3 * l + 1]), c = f32_of(in[3 * l + 2]);
            // Exact: products of 11 and 24 bits, and sums of near exponents, fit a double.
            double p2 = double{widened(2)} * i + c, p2_high = -double{widened(2)} * i + c;
            INFO(gfx, " lane ", l);
            CHECK(out[4 * l] == bits(std::fma(widened(1), i, widened(0))));
            CHECK(out[4 * l + 1] == (0x12340000 | half(p2)));
            CHECK(out[4 * l + 2] == (0x5678 | half(p2_high) << 16));
            CHECK(out[4 * l + 3] == bits(std::fma(-widened(1), i, widened(0))));
        }
    }
}

TEST_CASE("v_interp_*_rtz rounds toward zero whatever MODE says") {
    // P0 = 2^-24, P10 = 1, I = 1 + 2^-23: a tie. P20 = 1, J = 1, C = 3 * 2^-13.
    std::vector<u32> in{0x0001, 0, 0, 0x3c00, 0, 0, 0x3c00, 0, 0, 0, 0x3f800001, 0x39c00000};
    for (const char *gfx : both) {
        auto out = run_lanes(kernel(gfx, R"(
  v_interp_p10_rtz_f16_f32 v16, v8.l, v9, v8.l
  v_interp_p10_f16_f32 v17, v8.l, v9, v8.l
  v_mov_b32 v18, 0
  v_mov_b32 v19, 0
  v_interp_p2_rtz_f16_f32 v18.l, v8.l, v9, v10
  v_interp_p2_f16_f32 v19.l, v8.l, v9, v10
  v_interp_p10_rtz_f16_f32 v20, -v8.l, v9, -v8.l
  s_setreg_imm32_b32 hwreg(1, 0, 4), 5
  v_interp_p10_rtz_f16_f32 v21, v8.l, v9, v8.l
  v_mov_b32 v22, 0
  v_interp_p2_rtz_f16_f32 v22.l, v8.l, v9, v10)"),
                             3, 8, in);
        const u32 *lane = &out[3 * 8];
        CHECK(lane[0] == 0x3f800001);
        CHECK(lane[1] == 0x3f800002);
        CHECK(lane[2] == 0x3c00); // 1 + 2^-23 + 0.75 * 2^-11
        CHECK(lane[3] == 0x3c00);
        CHECK(lane[4] == 0xbf800001);
        CHECK(lane[5] == 0x3f800001);
        CHECK(lane[6] == 0x3c00);
        // 65536 is out of range: toward zero, that is the largest half.
        in[11] = 0x47800000;
        auto large = run_lanes(kernel(gfx, R"(
  v_mov_b32 v16, 0
  v_mov_b32 v17, 0
  v_interp_p2_rtz_f16_f32 v16.l, v8.l, v9, v10
  v_interp_p2_f16_f32 v17.l, v8.l, v9, v10)"),
                               3, 2, in);
        CHECK(large[6] == 0x7bff);
        CHECK(large[7] == 0x7c00);
        in[11] = 0x39c00000;
    }
}

TEST_CASE("v_qsad and v_mqsad sum differences of four windows") {
    auto byte = [](u64 x, unsigned n) { return static_cast<i32>(x >> 8 * n & 255); };
    auto sad = [&](u64 a, u32 b, unsigned window, bool masked) {
        u64 sum = 0;
        for (unsigned n = 0; n < 4; ++n)
            if (!masked || byte(b, n) != 0)
                sum += static_cast<u64>(std::abs(byte(a, window + n) - byte(b, n)));
        return sum;
    };
    std::mt19937 random(3);
    std::vector<u32> in;
    for (unsigned l = 0; l < 256; ++l) {
        u32 b = static_cast<u32>(random()) & (l & 1 ? 0xff00ffff : 0x00ffff00);
        in.insert(in.end(), {static_cast<u32>(random()), static_cast<u32>(random()), b});
        for (unsigned n = 0; n < 4; ++n) // near the limits of both widths, and anywhere
            in.push_back(l % 3 == 0   ? 0xffffff00 + static_cast<u32>(random() % 256)
                         : l % 3 == 1 ? static_cast<u32>(random() % 1000)
                                      : static_cast<u32>(random()));
    }
    for (const char *gfx : both)
        for (bool clamp : {false, true}) {
            std::string c = clamp ? " clamp" : "";
            auto out = run_lanes(
                kernel(gfx, "  v_qsad_pk_u16_u8 v[16:17], v[8:9], v10, v[11:12]" + c +
                                "\n  v_mqsad_pk_u16_u8 v[18:19], v[8:9], v10, v[11:12]" + c +
                                "\n  v_mqsad_u32_u8 v[20:23], v[8:9], v10, v[11:14]" + c),
                7, 8, in);
            for (unsigned l = 0; l < 256; ++l) {
                const u32 *x = &in[7 * l], *d = &out[8 * l];
                u64 a = x[0] | u64{x[1]} << 32;
                INFO(gfx, " lane ", l, c);
                for (unsigned n = 0; n < 4; ++n) {
                    u32 c16 = x[3 + n / 2] >> 16 * (n & 1) & 0xffff;
                    auto limited = [&](u64 sum, u64 limit) {
                        return clamp ? std::min(sum, limit) : sum & limit;
                    };
                    auto got16 = [&](const u32 *r) { return r[n / 2] >> 16 * (n & 1) & 0xffff; };
                    REQUIRE(got16(d) == limited(sad(a, x[2], n, false) + c16, 0xffff));
                    REQUIRE(got16(d + 2) == limited(sad(a, x[2], n, true) + c16, 0xffff));
                    REQUIRE(d[4 + n] == limited(sad(a, x[2], n, true) + x[3 + n], 0xffffffff));
                }
            }
        }
}

TEST_CASE("v_qsad takes scalars, and EXEC leaves lanes alone") {
    auto out = run_lanes(kernel("gfx1151", R"(
  s_mov_b32 s8, 0x04030201
  s_mov_b32 s9, 0x08070605
  v_mov_b32 v16, 0
  v_mov_b32 v17, 0
  s_mov_b32 exec_lo, 2
  v_qsad_pk_u16_u8 v[16:17], s[8:9], v8, 1)"),
                         1, 2, {0, 0x04030201, 0, 0});
    CHECK(out[0] == 0);
    CHECK(out[2] == (1 | 4 << 16)); // windows 1, 2, 3, 4 bytes on; the constant is the low half
    CHECK(out[3] == (8 | 12 << 16));
}

TEST_CASE("v_s_* transcendentals of an SGPR, whatever EXEC is") {
    KernelText k = kernel("gfx1201", R"(
  s_mov_b32 s8, 0x3fc00000
  s_mov_b32 s9, 0x40000000
  s_mov_b32 s10, 0x3f800001
  s_mov_b32 s11, 0xabcd4200
  s_mov_b32 s12, 0xabcd4400
  s_mov_b32 s13, 0xabcd4800
  s_mov_b32 s20, -1
  s_mov_b32 s21, -1
  s_mov_b32 exec_lo, 0
  v_s_rcp_f32 s14, s8
  v_s_rsq_f32 s15, s9
  v_s_sqrt_f32 s16, s10
  v_s_log_f32 s17, s10
  v_s_exp_f32 s18, 0xb3800000
  v_s_rcp_f16 s19, s11
  v_s_rsq_f16 s20, s12
  v_s_sqrt_f16 s21, s12
  v_s_exp_f16 s22, s11
  v_s_log_f16 s23, s13
  s_mov_b32 exec_lo, s40
  v_mov_b32 v16, s14
  v_mov_b32 v17, s15
  v_mov_b32 v18, s16
  v_mov_b32 v19, s17
  v_mov_b32 v20, s18
  v_mov_b32 v21, s19
  v_mov_b32 v22, s20
  v_mov_b32 v23, s21)");
    auto out = run_lanes(k, 1, 8, {0});
    CHECK(out[0] == 0x3f2aaaaa);
    CHECK(out[1] == 0x3f3504f3);
    CHECK(out[2] == 0x3f800000);
    CHECK(out[3] == 0x3438aa3b);
    CHECK(out[4] == 0x3f7fffff);
    CHECK(out[5] == 0x3555); // 1/3: the upper half is zero
    CHECK(out[6] == 0x3800); // of 4
    CHECK(out[7] == 0x4000);
    k.body += "\n  v_mov_b32 v16, s22\n  v_mov_b32 v17, s23";
    auto more = run_lanes(k, 1, 2, {0});
    CHECK(more[0] == 0x4800); // 2^3
    CHECK(more[1] == 0x4200); // log2(8)
}

TEST_CASE("v_s_* takes signs, OMOD and CLAMP, and ignores MODE's rounding") {
    auto out = run_lanes(kernel("gfx1201", R"(
  s_setreg_imm32_b32 hwreg(1, 0, 4), 15
  s_mov_b32 s8, 0xc0800000
  s_mov_b32 s9, 0xc400
  s_mov_b32 s10, 0x4200
  v_s_sqrt_f32 s14, -s8
  v_s_rsq_f32 s15, |s8| mul:4
  v_s_sqrt_f32 s16, -s8 clamp
  v_s_rcp_f32 s17, s8 clamp
  v_s_sqrt_f16 s18, -s9 div:2
  v_s_rcp_f16 s19, -|s9| mul:2
  v_s_sqrt_f16 s20, |s9| clamp
  v_s_rcp_f16 vcc_lo, s10
  v_mov_b32 v16, s14
  v_mov_b32 v17, s15
  v_mov_b32 v18, s16
  v_mov_b32 v19, s17
  v_mov_b32 v20, s18
  v_mov_b32 v21, s19
  v_mov_b32 v22, s20
  v_mov_b32 v23, vcc_lo)"),
                         1, 8, {0});
    const std::vector<u32> want{0x40000000, 0x40000000, 0x3f800000, 0,
                                0x3c00,     0xb800,     0x3c00,     0x3555};
    CHECK(out == want);
}

TEST_CASE("v_pipeflush changes nothing") {
    for (const char *gfx : both)
        CHECK(run_lanes(kernel(gfx, "  v_mov_b32 v16, v8\n  v_pipeflush"), 1, 1, {7, 8})[1] == 8);
}
