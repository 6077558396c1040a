// SPDX-License-Identifier: MIT
// Masks, lane exchange, EXEC, in both wave sizes.
#include <doctest/doctest.h>

#include "sim/assemble.h"

using namespace nw;
using namespace nw::sim;
using namespace nw::sim::test;

namespace {

std::vector<u32> lanes_of(const std::string &body, u32 wave = 32,
                          const std::string &gfx = "gfx1151") {
    KernelText k;
    k.gfx = gfx;
    k.wave = wave;
    k.lds = 1024;
    k.body = body + "\n  v_lshlrev_b32 v60, 2, v0\n  global_store_b32 v60, v1, s[2:3]";
    Launch launch;
    launch.block = {wave, 1, 1};
    launch.words = 64;
    return run(k, launch);
}

} // namespace

TEST_CASE("compares write a whole mask, cndmask and carries read it") {
    auto out = lanes_of("v_cmp_gt_u32 vcc_lo, 10, v0\n v_cndmask_b32 v1, 3, v0, vcc_lo");
    for (u32 l = 0; l < 32; ++l)
        CHECK(out[l] == (l < 10 ? l : 3));
    auto wide = lanes_of("v_cmp_gt_u32 vcc, 40, v0\n v_cndmask_b32 v1, 3, v0, vcc", 64);
    for (u32 l = 0; l < 64; ++l)
        CHECK(wide[l] == (l < 40 ? l : 3));
    auto carry = lanes_of("v_mov_b32 v2, -3\n v_add_co_u32 v3, vcc_lo, v2, v0\n"
                          "v_mov_b32 v1, 0\n v_add_co_ci_u32 v1, vcc_lo, v1, v1, vcc_lo");
    for (u32 l = 0; l < 32; ++l)
        CHECK(carry[l] == (l >= 3 ? 1 : 0));
}

TEST_CASE("inactive lanes: compares give 0, results stay, readlane and writelane don't care") {
    auto out = lanes_of(
        "v_mov_b32 v1, 7\n s_mov_b32 exec_lo, 0xff\n v_mov_b32 v1, 8\n"
        "v_cmp_eq_u32 s6, v0, v0\n v_readlane_b32 s7, v1, 20\n v_writelane_b32 v1, s6, 21\n"
        "v_writelane_b32 v1, s7, 22\n s_mov_b32 exec_lo, -1");
    CHECK(out[7] == 8);
    CHECK(out[8] == 7);
    CHECK(out[21] == 0xff);
    CHECK(out[22] == 7);
}

TEST_CASE("v_cmpx narrows EXEC") {
    auto out =
        lanes_of("v_mov_b32 v1, 1\n v_cmpx_lt_u32 3, v0\n v_cmpx_gt_u32 9, v0\n v_mov_b32 v1, 2\n"
                 "s_mov_b32 exec_lo, -1");
    for (u32 l = 0; l < 32; ++l)
        CHECK(out[l] == (l > 3 && l < 9 ? 2 : 1));
}

TEST_CASE("mbcnt counts the lanes below") {
    auto out = lanes_of("v_mbcnt_lo_u32_b32 v1, 0x55555555, 0\n v_mbcnt_hi_u32_b32 v1, -1, v1", 64);
    for (u32 l = 0; l < 64; ++l)
        CHECK(out[l] == (l < 32 ? (l + 1) / 2 : 16 + l - 32));
}

TEST_CASE("permlane16, permlanex16, permlane64") {
    auto own = lanes_of("s_mov_b32 s6, 0x01234567\n s_mov_b32 s7, 0x89abcdef\n"
                        "v_permlane16_b32 v1, v0, s6, s7");
    auto other = lanes_of("s_mov_b32 s6, 0x01234567\n s_mov_b32 s7, 0x89abcdef\n"
                          "v_permlanex16_b32 v1, v0, s6, s7");
    for (u32 l = 0; l < 32; ++l) {
        u32 nibble = l & 8 ? 15 - (l & 7) : 7 - (l & 7);
        CHECK(own[l] == ((l & 16) | nibble));
        CHECK(other[l] == ((~l & 16) | nibble));
    }
    auto swapped = lanes_of("v_mov_b32 v2, v0\n v_permlane64_b32 v1, v2", 64);
    for (u32 l = 0; l < 64; ++l)
        CHECK(swapped[l] == (l ^ 32));
}

TEST_CASE("ds_bpermute, ds_permute and ds_swizzle") {
    auto pull =
        lanes_of("v_xor_b32 v2, 5, v0\n v_lshlrev_b32 v2, 2, v2\n ds_bpermute_b32 v1, v2, v0\n"
                 "s_waitcnt lgkmcnt(0)");
    auto push =
        lanes_of("v_add_nc_u32 v2, 3, v0\n v_lshlrev_b32 v2, 2, v2\n ds_permute_b32 v1, v2, v0\n"
                 "s_waitcnt lgkmcnt(0)");
    auto swap = lanes_of("ds_swizzle_b32 v1, v0 offset:swizzle(SWAP,16)\n s_waitcnt lgkmcnt(0)");
    auto reverse =
        lanes_of("ds_swizzle_b32 v1, v0 offset:swizzle(REVERSE,8)\n s_waitcnt lgkmcnt(0)");
    for (u32 l = 0; l < 32; ++l) {
        CHECK(pull[l] == (l ^ 5));
        CHECK(push[(l + 3) & 31] == l);
        CHECK(swap[l] == (l ^ 16));
        CHECK(reverse[l] == (l ^ 7));
    }
}

TEST_CASE("saveexec, branches on EXEC, s_cselect") {
    auto out = lanes_of(R"(
  v_mov_b32 v1, 0
  v_cmp_gt_u32 s6, 4, v0
  s_and_saveexec_b32 s7, s6
  s_cselect_b32 s8, 10, 20
  v_mov_b32 v1, s8
  s_and_not1_b32 exec_lo, s7, exec_lo
  v_mov_b32 v1, 5
  s_mov_b32 exec_lo, 0
  s_cbranch_execnz .Lnever
  s_mov_b32 exec_lo, s7
  s_branch .Ldone
.Lnever:
  v_mov_b32 v1, 77
.Ldone:)");
    for (u32 l = 0; l < 32; ++l)
        CHECK(out[l] == (l < 4 ? 10 : 5));
}

TEST_CASE("scalar carries, shifts and SCC") {
    auto out = lanes_of(R"(
  s_mov_b32 s6, -1
  s_add_u32 s6, s6, 2
  s_addc_u32 s7, 0, 5
  s_lshl_b64 s[8:9], s[6:7], 4
  s_movk_i32 s13, 0xabcd
  s_bfe_u32 s10, s13, 0x80004
  s_mul_hi_u32 s11, 0x80000000, 6
  s_cmp_lt_i32 s6, s7
  s_cselect_b32 s12, 1, 0
  v_mov_b32 v1, s7
  v_writelane_b32 v1, s8, 1
  v_writelane_b32 v1, s10, 2
  v_writelane_b32 v1, s11, 3
  v_writelane_b32 v1, s12, 4)");
    CHECK(out[0] == 6);
    CHECK(out[1] == 16);
    CHECK(out[2] == 0xbc);
    CHECK(out[3] == 3);
    CHECK(out[4] == 1);
}

TEST_CASE("a call and its return") {
    auto out = lanes_of(R"(
  v_mov_b32 v1, 1
  s_getpc_b64 s[6:7]
  s_add_u32 s6, s6, .Lfunction - .
  s_addc_u32 s7, s7, 0
  s_swappc_b64 s[8:9], s[6:7]
  v_add_nc_u32 v1, 100, v1
  s_branch .Lend_of_call
.Lfunction:
  v_add_nc_u32 v1, 10, v1
  s_setpc_b64 s[8:9]
.Lend_of_call:)");
    CHECK(out[0] == 111);
}

TEST_CASE("scalar floats") {
    for (const char *gfx : {"gfx1150", "gfx1151", "gfx1200"}) {
        CAPTURE(gfx);
        bool gfx12 = std::string(gfx) == "gfx1200";
        auto out = lanes_of(std::string(R"(
  s_mov_b32 s6, 0x40400000
  s_mov_b32 s7, 0x3fc00000
  s_add_f32 s8, s6, s7
  s_mul_f32 s9, s6, s7
  s_fmac_f32 s7, s6, s6
  s_cvt_i32_f32 s10, s9
  s_cvt_f16_f32 s11, s6
  s_add_f16 s12, s11, s11
  s_cmp_lt_f32 s6, s7
  s_cselect_b32 s13, 1, 0
  )") + (gfx12 ? "s_min_num_f32" : "s_min_f32") +
                                R"( s14, s6, 0x7fc00001
  v_mov_b32 v1, s8
  v_writelane_b32 v1, s9, 1
  v_writelane_b32 v1, s7, 2
  v_writelane_b32 v1, s10, 3
  v_writelane_b32 v1, s11, 4
  v_writelane_b32 v1, s12, 5
  v_writelane_b32 v1, s13, 6
  v_writelane_b32 v1, s14, 7)",
                            32, gfx);
        CHECK(out[0] == 0x40900000); // 4.5
        CHECK(out[1] == 0x40900000);
        CHECK(out[2] == 0x41280000); // 10.5
        CHECK(out[3] == 4);
        CHECK(out[4] == 0x4200);
        CHECK(out[5] == 0x4600);
        CHECK(out[6] == 1);
        CHECK(out[7] == 0x40400000);
    }
}

TEST_CASE("registers chosen by M0") {
    auto out = lanes_of(R"(
  v_mov_b32 v10, 10
  v_mov_b32 v11, 11
  v_mov_b32 v12, 12
  s_mov_b32 m0, 2
  v_movrels_b32 v1, v10
  v_movreld_b32 v20, v11
  v_mov_b32 v2, v22
  s_mov_b32 s20, 7
  s_mov_b32 s21, 8
  s_mov_b32 m0, 1
  s_movrels_b32 s22, s20
  v_lshl_or_b32 v1, v2, 8, v1
  v_lshl_or_b32 v1, s22, 16, v1)");
    CHECK(out[3] == (8 << 16 | 11 << 8 | 12));
}

TEST_CASE("CLAMP saturates integer sums, min and shifts ignore it") {
    auto out = lanes_of(R"(
  s_mov_b32 s6, 0xffffffff
  s_mov_b32 s7, 0x7fffffff
  v_mov_b32 v2, 0x04030201
  v_sad_u8 v1, v2, 0, s6 clamp
  v_mad_u32_u16 v3, v2, v2, s6 clamp
  v_mad_i32_i16 v4, v2, v2, s7 clamp
  v_mov_b32 v6, -1
  v_mov_b32 v7, -1
  v_mad_u64_u32 v[8:9], vcc_lo, v6, v6, v[6:7] clamp
  v_mov_b32 v7, 0x7fffffff
  v_mad_i64_i32 v[10:11], vcc_lo, v2, v2, v[6:7] clamp
  v_med3_i16 v12.l, v2.l, v2.l, v2.l clamp
  v_writelane_b32 v1, s7, 31
  v_readlane_b32 s8, v3, 0
  v_writelane_b32 v1, s8, 1
  v_readlane_b32 s8, v4, 0
  v_writelane_b32 v1, s8, 2
  v_readlane_b32 s8, v9, 0
  v_writelane_b32 v1, s8, 3
  v_readlane_b32 s8, v10, 0
  v_writelane_b32 v1, s8, 4
  v_readlane_b32 s8, v11, 0
  v_writelane_b32 v1, s8, 5
  v_lshlrev_b32 v12, 16, v12
  v_readlane_b32 s8, v12, 0
  v_writelane_b32 v1, s8, 6)");
    CHECK(out[0] == 0xffffffff);
    CHECK(out[1] == 0xffffffff);
    CHECK(out[2] == 0x7fffffff);
    CHECK(out[3] == 0xffffffff);
    CHECK(out[4] == 0xffffffff);
    CHECK(out[5] == 0x7fffffff);
    CHECK(out[6] == 0x02010000);
}

TEST_CASE("division helpers scale and clamp their results") {
    for (const char *gfx : {"gfx1151", "gfx1201"}) {
        auto out = lanes_of(R"(
  s_denorm_mode 0
  s_mov_b64 vcc, 0
  v_mov_b32 v2, 3.0
  v_div_fmas_f32 v1, v2, v2, v2 clamp
  v_div_fmas_f32 v3, v2, v2, v2 mul:2
  v_readlane_b32 s8, v3, 0
  v_writelane_b32 v1, s8, 1)",
                            32, gfx);
        CHECK(out[0] == 0x3f800000);
        CHECK(out[1] == (std::string(gfx) == "gfx1151" ? 0x41400000 : 0x41c00000)); // 12 or 24
    }
}
