// SPDX-License-Identifier: MIT
// Operands and modifiers as LLVM prints them: constants, halves, op_sel, DPP, VOPD.
#include <doctest/doctest.h>

#include "sim/assemble.h"

using namespace nw;
using namespace nw::sim;
using namespace nw::sim::test;

namespace {

// Lane l's v1 after `body`; v0 is l.
std::vector<u32> lanes_of(const std::string &body, const std::string &gfx = "gfx1151",
                          u32 wave = 32) {
    KernelText k;
    k.gfx = gfx;
    k.wave = wave;
    k.body = body + "\n  v_lshlrev_b32 v60, 2, v0\n  global_store_b32 v60, v1, s[2:3]";
    Launch launch;
    launch.block = {wave, 1, 1};
    return run(k, launch);
}

u32 first(const std::string &body, const std::string &gfx = "gfx1151") {
    return lanes_of(body, gfx)[0];
}

} // namespace

TEST_CASE("a constant's bits depend on the operand's type") {
    CHECK(first("v_mov_b32 v1, 1.0") == 0x3f800000);
    CHECK(first("v_mov_b32 v1, 0.15915494") == 0x3e22f983);
    CHECK(first("v_mov_b32 v1, -5") == 0xfffffffb);
    CHECK(first("v_mov_b32 v1, 0x12345678") == 0x12345678);
    CHECK(first("v_mov_b32 v1, 0\n v_pk_add_f16 v1, v1, 1.0") == 0x00003c00);
    CHECK(first("v_mov_b32 v1, 0\n v_pk_add_f16 v1, v1, 1.0 op_sel_hi:[1,0]") == 0x3c003c00);
    CHECK(first("v_mov_b32 v1, 0\n v_pk_add_u16 v1, v1, 1.0") == 0x3f800000);
    CHECK(first("s_mov_b64 s[8:9], 1.0\n v_mov_b32 v1, s9") == 0x3ff00000);
    CHECK(first("s_mov_b64 s[8:9], -2\n v_mov_b32 v1, s9") == 0xffffffff);
    CHECK(first("v_add_f64 v[2:3], 1.0, 0x40080000\n v_mov_b32 v1, v3") == 0x40100000); // 1 + 3
}

TEST_CASE("neg and abs") {
    CHECK(first("v_mov_b32 v2, 1.0\n v_add_f32_e64 v1, -v2, 4.0") == 0x40400000);
    CHECK(first("v_mov_b32 v2, -1.0\n v_add_f32_e64 v1, |v2|, 4.0") == 0x40a00000);
    CHECK(first("v_mov_b32 v2, -1.0\n v_add_f32_e64 v1, -|v2|, 4.0") == 0x40400000);
    CHECK(first("v_mov_b32 v2, 0x7fc00123\n v_sub_f32 v1, 1.0, v2") == 0xffc00123); // 2.1
}

TEST_CASE("clamp saturates integers and limits floats to 0..1") {
    CHECK(first("v_mov_b32 v2, -1\n v_add_nc_u32_e64 v1, v2, 2 clamp") == 0xffffffff);
    CHECK(first("v_mov_b32 v2, 1\n v_sub_nc_u32_e64 v1, v2, 2 clamp") == 0);
    CHECK(first("v_mov_b32 v2, 0x7fffffff\n v_add_nc_i32 v1, v2, 2 clamp") == 0x7fffffff);
    CHECK(first("v_mov_b32 v2, 2.0\n v_add_f32_e64 v1, v2, v2 clamp") == 0x3f800000);
    CHECK(first("v_mov_b32 v2, -2.0\n v_add_f32_e64 v1, v2, v2 clamp") == 0);
}

TEST_CASE("omod counts on gfx12 and, in IEEE mode, not on gfx11") {
    std::string body = "v_mov_b32 v2, 1.0\n v_add_f32_e64 v1, v2, v2 mul:2";
    CHECK(first(body, "gfx1201") == 0x40800000);
    CHECK(first(body, "gfx1151") == 0x40000000);
}

TEST_CASE("16-bit operands name halves, and a half result keeps the other half") {
    for (const char *gfx : {"gfx1151", "gfx1100"}) {
        CHECK(first("v_mov_b32 v1, 0x11112222\n v_mov_b32 v2, 0x40003c00\n"
                    "v_add_f16 v1.l, v2.h, v2.l",
                    gfx) == 0x11114200); // 2 + 1
        CHECK(first("v_mov_b32 v1, 0x11112222\n v_mov_b32 v2, 0x40003c00\n"
                    "v_add_f16 v1.h, v2.h, v2.h",
                    gfx) == 0x44002222); // 2 + 2
        CHECK(first("v_mov_b32 v1, 0x11112222\n v_mov_b32 v2, 0x40003c00\n"
                    "v_fma_f16 v1.h, v2.h, v2.h, v2.l",
                    gfx) == 0x45002222); // 2 * 2 + 1
    }
}

TEST_CASE("packed operations pick halves with op_sel and op_sel_hi") {
    std::string set = "v_mov_b32 v2, 0x00020001\n v_mov_b32 v3, 0x00200010\n";
    CHECK(first(set + "v_pk_add_u16 v1, v2, v3") == 0x00220011);
    CHECK(first(set + "v_pk_add_u16 v1, v2, v3 op_sel:[1,0]") == 0x00220012);
    CHECK(first(set + "v_pk_add_u16 v1, v2, v3 op_sel_hi:[0,0]") == 0x00110011);
    CHECK(first("v_mov_b32 v2, 0x40003c00\n v_pk_add_f16 v1, v2, 0 neg_lo:[1,0] neg_hi:[0,0]") ==
          0x4000bc00);
}

TEST_CASE("fma_mix widens halves where op_sel_hi says so") {
    std::string set = "v_mov_b32 v2, 0x42003c00\n v_mov_b32 v3, 2.0\n"; // {1, 3}
    CHECK(first(set + "v_fma_mix_f32 v1, v2, v3, v3 op_sel:[1,0,0] op_sel_hi:[1,0,0]") ==
          0x41000000);
    CHECK(first(set + "v_fma_mix_f32 v1, -v2, v3, v3 op_sel_hi:[1,0,0]") == 0);
    CHECK(first("v_mov_b32 v1, 0x55556666\n" + set +
                "v_fma_mixhi_f16 v1, v2, v3, v3 op_sel_hi:[1,0,0]") == 0x44006666);
}

TEST_CASE("DPP moves, masks and bounds") {
    std::string zero = "v_mov_b32 v1, 99\n v_mov_b32 v2, v0\n";
    auto shl = lanes_of(zero + "v_mov_b32_dpp v1, v2 row_shl:1 row_mask:0xf bank_mask:0xf");
    auto shr =
        lanes_of(zero + "v_mov_b32_dpp v1, v2 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:1");
    auto ror = lanes_of(zero + "v_mov_b32_dpp v1, v2 row_ror:3 row_mask:0xf bank_mask:0xf");
    auto quad =
        lanes_of(zero + "v_mov_b32_dpp v1, v2 quad_perm:[3,2,1,0] row_mask:0xf bank_mask:0x5");
    auto share = lanes_of(zero + "v_mov_b32_dpp v1, v2 row_share:5 row_mask:0x2 bank_mask:0xf");
    auto mirror =
        lanes_of(zero + "v_mov_b32_dpp v1, v2 row_half_mirror row_mask:0xf bank_mask:0xf");
    auto dpp8 = lanes_of(zero + "v_mov_b32_dpp v1, v2 dpp8:[7,6,5,4,3,2,1,0]");
    for (u32 l = 0; l < 32; ++l) {
        CAPTURE(l);
        u32 i = l & 15, row = l & 16;
        CHECK(shl[l] == (i == 15 ? 99 : l + 1));
        CHECK(shr[l] == (i == 0 ? 0 : l - 1));
        CHECK(ror[l] == (row | ((i - 3) & 15)));
        CHECK(quad[l] == (l / 4 % 2 == 0 ? (l ^ 3) : 99));
        CHECK(share[l] == (row ? row | 5 : 99));
        CHECK(mirror[l] == (row | (i ^ 7)));
        CHECK(dpp8[l] == (l ^ 7));
    }
}

TEST_CASE("DPP reads of disabled lanes") {
    std::string body = "v_mov_b32 v1, 99\n v_mov_b32 v2, v0\n s_mov_b32 exec_lo, 0x0000fffe\n"
                       "v_mov_b32_dpp v1, v2 row_shr:1 row_mask:0xf bank_mask:0xf";
    auto kept = lanes_of(body + "\n s_mov_b32 exec_lo, -1");
    auto zero = lanes_of(body + " bound_ctrl:1\n s_mov_b32 exec_lo, -1");
    auto fetched = lanes_of(body + " fi:1\n s_mov_b32 exec_lo, -1");
    CHECK(kept[1] == 99);
    CHECK(zero[1] == 0);
    CHECK(fetched[1] == 0); // lane 0's v2
    CHECK(fetched[2] == 1);
    CHECK(kept[20] == 99);
}

TEST_CASE("both halves of a VOPD pair read before either writes") {
    for (const char *gfx : {"gfx1151", "gfx1201"}) {
        std::string swap = "v_mov_b32 v2, 7\n v_mov_b32 v3, 11\n"
                           "v_dual_mov_b32 v2, v3 :: v_dual_mov_b32 v3, v2\n"
                           "v_lshl_or_b32 v1, v2, 8, v3";
        CHECK(first(swap, gfx) == (11 << 8 | 7));
        std::string acc =
            "v_mov_b32 v2, 2.0\n v_mov_b32 v3, 4.0\n v_mov_b32 v5, 1.0\n v_mov_b32 v4, 1.0\n"
            "v_dual_fmac_f32 v2, v3, v4 :: v_dual_mul_f32 v3, v2, v5\n"
            "v_cvt_u32_f32 v2, v2\n v_cvt_u32_f32 v3, v3\n v_lshl_or_b32 v1, v2, 8, v3";
        CHECK(first(acc, gfx) == (6 << 8 | 2));
    }
    CHECK(first("v_mov_b32 v2, 5\n v_mov_b32 v4, 9\n s_mov_b32 vcc_lo, 1\n"
                "v_dual_cndmask_b32 v1, v2, v4 :: v_dual_add_nc_u32 v2, v4, v2") == 9);
}

TEST_CASE("both accumulating dots of a pair") {
    for (const char *gfx : {"gfx1151", "gfx1201"})
        CHECK(
            first("v_mov_b32 v1, 1.0\n v_mov_b32 v4, 2.0\n"
                  "v_mov_b32 v2, 0x3f803f80\n v_mov_b32 v3, 0x40004040\n v_mov_b32 v5, 0x3f803f80\n"
                  "v_dual_dot2acc_f32_bf16 v1, v2, v3 :: v_dual_dot2acc_f32_bf16 v4, v5, v5\n"
                  "v_add_f32 v1, v1, v4",
                  gfx) == 0x41200000); // (1 + 2 + 3) + (2 + 1 + 1)
}

TEST_CASE("integer dots take signedness from neg_lo") {
    std::string set = "v_mov_b32 v2, 0xff\n v_mov_b32 v3, 2\n";
    CHECK(first(set + "v_dot4_i32_iu8 v1, v2, v3, 5") == 255 * 2 + 5);
    CHECK(first(set + "v_dot4_i32_iu8 v1, v2, v3, 5 neg_lo:[1,1,0]") == 3);
    CHECK(
        first(
            "v_mov_b32 v2, 0xf\n v_mov_b32 v3, 2\n v_dot8_i32_iu4 v1, v2, v3, 5 neg_lo:[1,0,0]") ==
        3);
}

// S-061. The second of each pair is the first with bits set in a field that it does not use.
TEST_CASE("bits in a field that an instruction does not use change nothing") {
    const std::string set = "v_mov_b32 v2, 5\n v_mov_b32 v4, 9\n v_mov_b32 v6, 0\n";
    const std::string load = "ds_load_b32 v1, v6\n s_waitcnt lgkmcnt(0)";
    const struct {
        std::string name, before, junk, after;
        u32 expected;
    } cases[] = {
        {"vdst of ds_add_u32", "ds_store_b32 v6, v4\n", ".long 0xd8000000, 0x01000206\n", load, 14},
        {"data1 of ds_store_b32", "", ".long 0xd8340000, 0x00070206\n", load, 5},
        {"vdst and data1", "", ".long 0xd8340000, 0x01070206\n", load, 5},
        {"data0 of ds_load_b32", "ds_store_b32 v6, v4\n", ".long 0xd8d80000, 0x01000406\n",
         "s_waitcnt lgkmcnt(0)", 9},
        {"vsrcx1 of a mov", "", ".long 0xca101502, 0x01020104\n", "", 5}, // v1 = v2, v2 = v4
        {"vsrcy1 of a mov", "", ".long 0xca100102, 0x01021504\n", "", 5},
        {"both", "", ".long 0xca101502, 0x01021504\n", "", 5},
        {"simm16 of s_barrier", "v_mov_b32 v1, 3\n", ".long 0xbfbd0007\n", "", 3},
        {"vdst and src0 of v_nop", "v_mov_b32 v1, 3\n", ".long 0x7e020104\n", "", 3},
    };
    for (const auto &c : cases) {
        CAPTURE(c.name);
        KernelText k;
        k.lds = 64;
        k.body = set + c.before + c.junk + c.after +
                 "\n v_mov_b32 v60, 0\n global_store_b32 v60, v1, s[2:3]";
        CHECK(run(k, Launch{.block = {1, 1, 1}})[0] == c.expected);
    }
    KernelText k;
    k.body = ".long 0xcd000000, 0x040e0401";
    CHECK(fault_of(k).find("illegal operand: v_interp_p10_f32 has s1") != std::string::npos);
    k.body = ".long 0xbfff0007";
    CHECK(fault_of(k).find("illegal instruction") != std::string::npos);
}
