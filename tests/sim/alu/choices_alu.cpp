// SPDX-License-Identifier: MIT
// The open questions of the scalar and vector ALU (S-025, S-040 to S-049): each answer gives its
// own result.
#include <doctest/doctest.h>

#include "sim/assemble.h"
#include "sim/func/choices.h"

using namespace nw;
using namespace nw::sim;
using namespace nw::sim::test;

namespace {

// Lane l's v1 after `body`, with v0 = l, under these choices.
std::vector<u32> lanes_under(const std::string &choices, const std::string &body,
                             const std::string &gfx = "gfx1151") {
    ChoicesScope scope(choices);
    KernelText k;
    k.gfx = gfx;
    k.body = body + "\n  v_lshlrev_b32 v60, 2, v0\n  global_store_b32 v60, v1, s[2:3]";
    return run(k);
}
u32 under(const std::string &choices, const std::string &body, const std::string &gfx = "gfx1151") {
    return lanes_under(choices, body, gfx)[0];
}

} // namespace

TEST_CASE("S-040: SCC of s_max of equal operands") {
    for (const char *op : {"s_max_i32", "s_max_u32"}) {
        std::string body = std::string("s_mov_b32 s6, 5\n") + op +
                           " s7, s6, 5\n s_cselect_b32 s8, 1, 0\n v_mov_b32 v1, s8";
        CHECK(under("", body) == 1);
        CHECK(under("max_scc=clear", body) == 0);
    }
}

TEST_CASE("S-041: s_bfe wider than its operand") {
    std::string body = "s_mov_b32 s6, 0x12345678\n s_bfe_u32 s7, s6, 0x210004\n v_mov_b32 v1, s7";
    CHECK(under("", body) == 0x01234567); // width 33
    CHECK(under("bfe_width=masked", body) == 1);
}

TEST_CASE("S-042: rounding of v_cvt_pk_u8_f32") {
    std::string body = "v_mov_b32 v2, 0x40300000\n v_mov_b32 v3, 1\n v_mov_b32 v4, 0x11223344\n"
                       "v_cvt_pk_u8_f32 v1, v2, v3, v4"; // 2.75
    CHECK(under("", body) == 0x11220244);
    CHECK(under("pk_u8_rounding=nearest", body) == 0x11220344);
}

TEST_CASE("S-044: a signalling NaN outside IEEE mode") {
    std::string body = "s_setreg_imm32_b32 hwreg(1, 9, 1), 0\n v_mov_b32 v2, 0x7f800001\n"
                       "v_add_f32 v1, v2, v2";
    CHECK(under("", body) == 0x7f800001);
    CHECK(under("snan_without_ieee=quieted", body) == 0x7fc00001);
}

TEST_CASE("S-054: min and max of zeros outside IEEE mode") {
    auto body = [](const char *row) {
        return std::string("s_setreg_imm32_b32 hwreg(1, 9, 1), 0\n v_bfrev_b32 v2, 1\n") +
               "v_mov_b32 v3, 0\n " + row;
    };
    constexpr u32 minus_zero = 0x80000000;
    CHECK(under("", body("v_min_f32 v1, v2, v3")) == minus_zero);
    CHECK(under("", body("v_max_f32 v1, v3, v2")) == 0);
    CHECK(under("minmax_zeros=equal", body("v_min_f32 v1, v2, v3")) == 0);
    CHECK(under("minmax_zeros=equal", body("v_min_f32 v1, v3, v2")) == minus_zero);
    CHECK(under("minmax_zeros=equal", body("v_max_f32 v1, v2, v3")) == minus_zero);
    CHECK(under("minmax_zeros=equal", body("v_max_f32 v1, v3, v2")) == 0);
    // In IEEE mode nothing is open.
    CHECK(under("minmax_zeros=equal",
                "v_bfrev_b32 v2, 1\n v_mov_b32 v3, 0\n v_min_f32 v1, v2, v3") == minus_zero);
}

TEST_CASE("S-045: inactive lanes under v_permlane16_var_b32") {
    std::string body = "v_mov_b32 v1, 99\n v_add_nc_u32 v2, 100, v0\n v_mov_b32 v3, 7\n"
                       "s_mov_b32 exec_lo, 1\n v_permlane16_var_b32 v1, v2, v3\n"
                       "s_mov_b32 exec_lo, -1";
    CHECK(under("", body, "gfx1201") == 99);
    CHECK(under("permlane_var_inactive=read", body, "gfx1201") == 107);
}

TEST_CASE("S-046: DPP beyond the row with fi") {
    std::string body = "v_mov_b32 v1, 99\n v_mov_b32 v2, v0\n"
                       "v_mov_b32_dpp v1, v2 row_shr:1 row_mask:0xf bank_mask:0xf fi:1";
    CHECK(under("", body) == 99);
    CHECK(under("dpp_fi_edge=zero", body) == 0);
    CHECK(lanes_under("dpp_fi_edge=zero", body)[5] == 4);
}

TEST_CASE("S-047: f64 seeds or precise results") {
    std::string body = "v_mov_b32 v2, 0\n v_mov_b32 v3, 0x40080000\n" // 3
                       "v_rcp_f64 v[4:5], v[2:3]\n v_mov_b32 v1, v4";
    CHECK(under("", body) != 0x55555555);
    CHECK(under("trans_f64=precise", body) == 0x55555555);
    body = "v_mov_b32 v2, 0\n v_mov_b32 v3, 0x40000000\n"; // 2
    CHECK(under("trans_f64=precise", body + "v_sqrt_f64 v[4:5], v[2:3]\n v_mov_b32 v1, v4") ==
          0x667f3bcd);
    CHECK(under("trans_f64=precise", body + "v_rsq_f64 v[4:5], v[2:3]\n v_mov_b32 v1, v4") ==
          0x667f3bcc);
}

TEST_CASE("S-048: CLAMP of v_pk_mul_lo_u16") {
    std::string body = "v_mov_b32 v2, 0x01000300\n v_mov_b32 v3, 0x00ff0100\n"
                       "v_pk_mul_lo_u16 v1, v2, v3";
    for (const char *gfx : {"gfx1151", "gfx1201"}) {
        CHECK(under("", body + " clamp", gfx) == 0xff000000);
        CHECK(under("mul_lo_u16_clamp=saturates", body + " clamp", gfx) == 0xff00ffff);
        CHECK(under("mul_lo_u16_clamp=saturates", body, gfx) == 0xff000000);
    }
}

TEST_CASE("S-049: float constants of DOT2") {
    // v2 is {3, 5}: 3 where the constant is {1, 0}, 8 where it is {1, 1}; f32's 1 is {0, 1.875}.
    const std::string halves = "v_mov_b32 v1, 0\n v_mov_b32 v2, 0x45004200\n",
                      brains = "v_mov_b32 v1, 0\n v_mov_b32 v2, 0x40a04040\n";
    const u32 three = 0x40400000, eight = 0x41000000, nine = 0x41160000; // 9.375
    for (const char *gfx : {"gfx1151", "gfx1201"}) {
        const std::string dot = halves + "v_dot2_f32_f16 v1, v2, 1.0, v1",
                          bf16 = brains + "v_dot2_f32_bf16 v1, v2, 1.0, v1",
                          f16 = halves + "v_dot2_f16_f16 v1, v2, 1.0, v1";
        CHECK(under("", dot, gfx) == three);
        CHECK(under("dot2_inline=twice", dot, gfx) == eight);
        CHECK(under("dot2_inline=text", dot, gfx) == nine);
        CHECK(under("", bf16, gfx) == three);
        CHECK(under("dot2_inline=twice", bf16, gfx) == eight);
        CHECK(under("dot2_inline=text", bf16, gfx) == eight);
        CHECK((under("", f16, gfx) & 0xffff) == 0x4200);
        CHECK((under("dot2_inline=text", f16, gfx) & 0xffff) == 0x4800);
        const std::string pair = "v_dual_dot2acc_f32_f16 v1, 1.0, v2 :: v_dual_mov_b32 v4, v3";
        CHECK(under("", halves + pair, gfx) == three);
        CHECK(under("dot2_inline=twice", halves + pair, gfx) == eight);
        const std::string literal = "v_dot2_f32_f16 v1, v2, 0x3c003c01, v1"; // no question
        CHECK(under("", halves + literal, gfx) ==
              under("dot2_inline=twice", halves + literal, gfx));
    }
}

TEST_CASE("S-049: float constants of 16-bit integers") {
    // 1.0 inline is 0x3c00 or the low half of 0x3f800000; a literal is its raw bits.
    const std::string plain = "v_mov_b32 v1, 0\n v_mov_b32 v2, 1\n .long 0xd7030001, 0x0001e502",
                      literal =
                          "v_mov_b32 v1, 0\n v_mov_b32 v2, 1\n v_add_nc_u16 v1, v2, lit(0x3c00)",
                      packed = "v_mov_b32 v2, 0x00010001\n v_pk_add_u16 v1, v2, 1.0";
    CHECK(under("", plain) == 0x3c01);
    CHECK(under("int16_inline=f16", plain) == 0x3c01);
    CHECK(under("int16_inline=f32", plain) == 1);
    for (const char *choices : {"", "int16_inline=f16", "int16_inline=f32"})
        CHECK(under(choices, literal) == 0x3c01);
    CHECK(under("", packed) == 0x3f810001);
    CHECK(under("int16_inline=f32", packed) == 0x3f810001);
    CHECK(under("int16_inline=f16", packed) == 0x00013c01);
}

TEST_CASE("S-025: NEG and ABS of a NaN that a DOT adds to") {
    const std::string nan = "v_mov_b32 v1, 0x7fc12345\n v_mov_b32 v2, 0\n",
                      one = "v_mov_b32 v1, 1.0\n v_mov_b32 v2, 0\n",
                      dot = "v_dot2_f32_f16 v1, v2, v2, v1 neg_lo:[0,0,1]";
    for (const char *gfx : {"gfx1151", "gfx1201"}) {
        CHECK(under("", nan + dot, gfx) == 0xffc12345);
        CHECK(under("nan_modifiers=ignored", nan + dot, gfx) == 0x7fc12345);
        CHECK(under("nan_modifiers=ignored", one + dot, gfx) == 0xbf800000);
        const std::string half = "v_mov_b32 v3, 0x7e017e01\n v_dot2_f16_f16 v1, v2, v2, -v3";
        CHECK((under("", nan + half, gfx) & 0xffff) == 0xfe01);
        CHECK((under("nan_modifiers=ignored", nan + half, gfx) & 0xffff) == 0x7e01);
    }
}
