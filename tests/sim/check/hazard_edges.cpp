// SPDX-License-Identifier: MIT
// The hazards of isa/hazards.inc beyond their five cases (hazards.cpp): each with its window from
// both sides, what else resolves it and what doesn't. Where LLVM inserts a wait the check must
// report; where it doesn't, it must be silent. The simulator's check and the lint both run
// (found.h).
#include <doctest/doctest.h>

#include "sim/check/found.h"

using namespace nw::sim::test;

namespace {

struct Case {
    const char *name;
    std::vector<std::string> gfx;
    nw::u32 wave;
    std::string body;
    const char *note; // null: silent
};

std::string times(unsigned n, const std::string &line) {
    std::string out;
    for (unsigned i = 0; i < n; ++i)
        out += line + "\n";
    return out;
}

void run_cases(const std::vector<Case> &cases) {
    for (const Case &c : cases)
        for (const std::string &gfx : c.gfx) {
            CAPTURE(gfx);
            CAPTURE(c.name);
            const std::string text = found_in(gfx, c.wave, c.body);
            if (!c.note) {
                CHECK(text == "");
                continue;
            }
            bool found = text.starts_with("wait: ") && text.find(c.note) != text.npos;
            CHECK_MESSAGE(found, "no " << c.note << " in: " << text);
        }
}

const std::vector<std::string> gfx110x{"gfx1100", "gfx1101", "gfx1102", "gfx1103"};
const std::vector<std::string> gfx11{"gfx1100", "gfx1103", "gfx1150", "gfx1151"};
const std::vector<std::string> gfx12{"gfx1200", "gfx1201"};
const std::vector<std::string> others{"gfx1150", "gfx1151", "gfx1201"};
const std::vector<std::string> all{"gfx1100", "gfx1151", "gfx1201"};

const std::string va_vdst = "s_waitcnt_depctr depctr_va_vdst(0)\n";
const std::string other = "v_mov_b32 v9, 1";

} // namespace

TEST_CASE("H-002: SGPRs that VALU has read") {
    const std::string read = "v_mov_b32 v2, s8\n", use = "s_mov_b32 s10, s9\n";
    run_cases({
        {"the other half of the pair", gfx12, 32, read + "s_mov_b32 s9, 1\n" + use, "H-002"},
        {"wave64", gfx12, 64, read + "s_mov_b32 s9, 1\n" + use, "H-002"},
        {"read by VALU", gfx12, 32, read + "s_mov_b32 s8, 1\n v_mov_b32 v3, s8", "H-002"},
        {"never read by VALU", gfx12, 32, "s_mov_b32 s9, 1\n" + use, nullptr},
        {"SMEM resolves it", gfx12, 32,
         read + "s_mov_b32 s9, 1\n s_load_b32 s12, s[2:3], 0x0\n" + use, nullptr},
        {"ten scalar instructions later", gfx12, 32,
         read + "s_mov_b32 s9, 1\n" + times(10, "s_mov_b32 s12, 0") + use, "H-002"},
        {"eleven", gfx12, 32, read + "s_mov_b32 s9, 1\n" + times(11, "s_mov_b32 s12, 0") + use,
         nullptr},
        {"the return address of a call", gfx12, 32,
         read + "s_call_b64 s[8:9], .Lf\n s_branch .Lout\n.Lf:\n s_setpc_b64 s[8:9]\n.Lout:\n",
         nullptr},
        {"read before a call, overwritten and read after it", gfx12, 32,
         read + "s_call_b64 s[20:21], .Lf\n s_branch .Lout\n.Lf:\n s_mov_b32 s9, 1\n" + use +
             ".Lout:\n",
         "H-002"},
        {"overwritten before a call, read after it", gfx12, 32,
         read + "s_mov_b32 s9, 1\n s_call_b64 s[20:21], .Lf\n s_branch .Lout\n.Lf:\n" + use +
             ".Lout:\n",
         "H-002"},
        {"written by VALU, read by SALU", gfx12, 32,
         read + "v_readfirstlane_b32 s8, v1\n s_mov_b32 s10, s8", nullptr},
        {"a scalar read of any SGPR resolves it", gfx12, 32,
         read + "v_readfirstlane_b32 s8, v1\n s_mov_b32 s10, s14\n v_mov_b32 v3, s8", nullptr},
        {"but not a read of VCC", gfx12, 32,
         read + "v_cndmask_b32 v2, v0, v1, vcc_lo\n v_readfirstlane_b32 s8, v1\n"
                "s_mov_b32 s10, vcc_lo\n v_mov_b32 v3, s8",
         "H-002"},
    });
}

TEST_CASE("H-003: use of a transcendental's result") {
    const std::string exp = "v_exp_f32 v2, v1\n", use = "v_add_f32 v3, v2, v1\n";
    run_cases({
        {"right after", gfx110x, 32, exp + use, "H-003"},
        {"wave64", gfx110x, 64, exp + use, "H-003"},
        {"other targets", others, 32, exp + use, nullptr},
        {"five between", gfx110x, 32, exp + times(5, other) + use, "H-003"},
        {"six between", gfx110x, 32, exp + times(6, other) + use, nullptr},
        {"one transcendental between", gfx110x, 32, exp + "v_exp_f32 v9, v1\n" + use, "H-003"},
        {"two between", gfx110x, 32, exp + times(2, "v_exp_f32 v9, v1") + use, nullptr},
        {"by another transcendental", gfx110x, 32, exp + "v_log_f32 v3, v2\n", "H-003"},
        {"scalar instructions don't count", gfx110x, 32, exp + times(8, "s_mov_b32 s9, 0") + use,
         "H-003"},
        {"s_delay_alu is no fix", gfx110x, 32, exp + "s_delay_alu instid0(TRANS32_DEP_1)\n" + use,
         "H-003"},
        {"memory waits, too", gfx110x, 32, exp + "ds_store_b32 v1, v0\n" + use, nullptr},
        {"overwritten by another", gfx110x, 32, exp + "v_mov_b32 v2, 0\n" + use, nullptr},
        {"the other half", gfx110x, 32, "v_sqrt_f16 v2.l, v0.l\n v_sqrt_f16 v2.h, v2.h", nullptr},
        {"the same half", gfx110x, 32, "v_sqrt_f16 v2.l, v0.l\n v_sqrt_f16 v3.h, v2.l", "H-003"},
        {"the high half", gfx110x, 32, "v_sqrt_f16 v2.h, v0.l\n v_add_f16 v3.l, v2.h, v2.h",
         "H-003"},
        {"a half and the whole", gfx110x, 32, "v_sqrt_f16 v2.h, v0.l\n v_mov_b32 v3, v2", "H-003"},
        {"the other half overwritten", gfx110x, 32,
         "v_sqrt_f16 v2.h, v0.l\n v_mov_b16 v2.l, 0\n v_mov_b32 v3, v2", "H-003"},
        {"across a call: not reported", gfx110x, 32,
         exp + "s_call_b64 s[20:21], .Lf\n s_branch .Lout\n.Lf:\n" + use + ".Lout:\n", nullptr},
        {"in a loop", gfx110x, 32,
         "s_mov_b32 s9, 2\n v_mov_b32 v2, 0\n.Lloop:\n v_add_f32 v3, v2, v1\n"
         "v_exp_f32 v2, v1\n s_sub_u32 s9, s9, 1\n s_cmp_lg_u32 s9, 0\n s_cbranch_scc1 .Lloop\n",
         "H-003"},
    });
}

TEST_CASE("H-004: operands from both sides of a write of EXEC") {
    const std::string before = "v_mov_b32 v2, 1\n", exec = "s_mov_b64 exec, -1\n",
                      after = "v_mov_b32 v3, 2\n", use = "v_add_nc_u32 v4, v2, v3\n";
    run_cases({
        {"wave32", gfx11, 32, before + "s_mov_b32 exec_lo, -1\n" + after + use, nullptr},
        {"both before", gfx11, 64, before + after + exec + use, nullptr},
        {"both after", gfx11, 64, exec + before + after + use, nullptr},
        {"two around EXEC", gfx11, 64, before + other + "\n" + exec + other + "\n" + after + use,
         "H-004"},
        {"three around EXEC", gfx11, 64,
         before + times(2, other) + exec + other + "\n" + after + use, nullptr},
        {"four before the use", gfx11, 64, before + exec + after + times(4, other) + use, "H-004"},
        {"five", gfx11, 64, before + exec + after + times(5, other) + use, nullptr},
        {"memory waits, too", gfx11, 64, before + exec + after + "ds_store_b32 v1, v0\n" + use,
         nullptr},
        {"saveexec", gfx11, 64, before + "s_and_saveexec_b64 s[12:13], exec\n" + after + use,
         "H-004"},
    });
}

TEST_CASE("H-005: lane masks that are overwritten") {
    const std::string mask = "s_mov_b64 s[8:9], -1\n v_cndmask_b32 v2, 0, v1, s[8:9]\n",
                      write = "s_mov_b64 s[8:9], 0\n", use = "s_mov_b64 s[10:11], s[8:9]\n";
    run_cases({
        {"by SALU, read by VALU", gfx11, 64, mask + write + "v_cndmask_b32 v3, 0, v1, s[8:9]\n",
         "H-005"},
        {"no mask", gfx11, 64, "v_mov_b32 v2, s8\n" + write + use, nullptr},
        {"another scalar operand ends it", gfx11, 64, mask + "v_mov_b32 v3, s4\n" + write + use,
         nullptr},
        {"a wait for vector writes between mask and write: not reported", gfx11, 64,
         mask + "s_waitcnt_depctr depctr_va_sdst(0)\n" + write + use, nullptr},
        {"one for VCC doesn't cover other SGPRs", gfx11, 64,
         mask + "s_waitcnt_depctr depctr_va_vcc(0)\n" + write + use, "H-005"},
        {"a wait for scalar writes does", gfx11, 64,
         mask + "s_waitcnt_depctr depctr_sa_sdst(0)\n" + write + use, nullptr},
        {"overwritten before a call, read after it", gfx11, 64,
         mask + write + "s_call_b64 s[20:21], .Lf\n s_branch .Lout\n.Lf:\n" + use + ".Lout:\n",
         "H-005"},
        {"a call between mask and write: not reported", gfx11, 64,
         mask + "s_call_b64 s[20:21], .Lf\n s_branch .Lout\n.Lf:\n" + write + use + ".Lout:\n",
         nullptr},
        {"by VALU, read by SALU", gfx11, 64, mask + "v_cmp_eq_u32 s[8:9], v0, v1\n" + use, nullptr},
        {"its own carry", gfx11, 64,
         "v_add_co_ci_u32 v2, s[8:9], v0, v1, s[8:9]\n v_cndmask_b32 v3, 0, v1, s[8:9]\n", nullptr},
        {"wave32", gfx11, 32,
         "s_mov_b32 s8, -1\n v_cndmask_b32 v2, 0, v1, s8\n s_mov_b32 s8, 0\n s_mov_b32 s10, s8",
         nullptr},
        {"gfx12", gfx12, 64, mask + "s_nop 0\n s_mov_b64 s[12:13], s[8:9]\n", nullptr},
    });
}

TEST_CASE("H-006: results of a matrix instruction as inputs of the next") {
    const std::string first = "v_wmma_f32_16x16x16_f16 v[8:15], v[16:23], v[24:31], v[8:15]\n",
                      next = "v_wmma_f32_16x16x16_f16 v[32:39], v[8:15], v[16:23], v[32:39]\n",
                      first12 = "v_wmma_f32_16x16x16_f16 v[8:15], v[16:19], v[24:27], v[8:15]\n",
                      next12 = "v_wmma_f32_16x16x16_f16 v[32:39], v[12:15], v[16:19], v[32:39]\n",
                      sparse = "v_swmmac_f32_16x16x32_f16 v[32:39], v[16:19], v[20:27], v8\n";
    run_cases({
        {"index of SWMMAC", gfx12, 32, first12 + sparse, "H-006"},
        {"s_nop is no fix", gfx11, 32, first + "s_nop 7\n" + next, "H-006"},
        {"C is interlocked", gfx11, 32, first + first, nullptr},
        {"C is interlocked on gfx12", gfx12, 32, first12 + first12, nullptr},
        {"so are other readers", gfx11, 32, first + "v_mov_b32 v40, v8\n", nullptr},
    });
}

TEST_CASE("H-007: v_permlane after v_cmpx") {
    const std::string cmpx = "v_cmpx_ge_u32 v0, v0\n",
                      permlane = "v_permlane16_b32 v2, v0, s2, s3\n";
    run_cases({
        {"x16", all, 32, cmpx + "v_permlanex16_b32 v2, v0, s2, s3\n", "H-007"},
        {"permlane64", all, 64, cmpx + "v_permlane64_b32 v2, v0\n", "H-007"},
        {"s_nop is no fix", all, 32, cmpx + "s_nop 0\n" + permlane, "H-007"},
        {"one vector instruction", all, 32, cmpx + other + "\n" + permlane, nullptr},
        {"v_nop: sources differ, not reported", all, 32, cmpx + "v_nop\n" + permlane, nullptr},
    });
}

TEST_CASE("H-008: 64-bit multiply-add over its source") {
    run_cases({
        {"src0", gfx110x, 32, "v_mad_i64_i32 v[2:3], null, v3, v5, v[6:7]", "H-008"},
        {"upper half of src2", gfx110x, 32, "v_mad_u64_u32 v[2:3], null, v4, v5, v[1:2]", nullptr},
    });
}

TEST_CASE("H-010: loads into one register") {
    const std::string load = "global_load_b32 v2, v1, s[2:3]\n";
    run_cases({
        {"LDS in order", gfx12, 32, times(2, "ds_load_b32 v2, v1"), nullptr},
    });
}

TEST_CASE("H-010: a flat load may come from LDS or from memory") {
    const std::string address = "v_mov_b32 v4, s2\n v_mov_b32 v5, s3\n",
                      flat = "flat_load_b32 v2, v[4:5]\n",
                      global = "global_load_b32 v2, v1, s[2:3]\n";
    run_cases({
        {"after a load", all, 32, address + global + flat, "in any order"},
        {"before a load", all, 32, address + flat + global, "in any order"},
        {"two", all, 32, address + flat + flat, "in any order"},
        {"after LDS", all, 32, address + "ds_load_b32 v2, v1\n" + flat, "v2 is overwritten"},
        {"waited", gfx11, 32, address + global + "s_waitcnt vmcnt(0)\n" + flat, nullptr},
    });
}

TEST_CASE("H-011: stores of system scope") {
    const std::string store = "global_store_b32 v1, v0, s[2:3] scope:SCOPE_SYS\n";
    run_cases({
        {"after a store", gfx12, 32, "global_store_b32 v1, v0, s[2:3]\n" + store, "H-011"},
        {"after a scalar load", gfx12, 32, "s_load_b32 s9, s[2:3], 0x0\n" + store, "H-011"},
    });
}

TEST_CASE("H-012: giving scratch memory back") {
    const std::string store = "scratch_store_b32 off, v0, off\n",
                      give = "s_nop 0\n s_sendmsg sendmsg(MSG_DEALLOC_VGPRS)";
    run_cases({
        {"one too many", gfx12, 32, store + store + "s_wait_storecnt 1\n" + give, "H-012"},
        {"a load from it", all, 32, "scratch_load_b32 v2, off, off\n" + give, nullptr},
    });
}

TEST_CASE("H-026: sources of one parity in a pair") {
    const std::string ready = "v_mov_b32 v4, v0\n v_mov_b32 v5, v0\n v_mov_b32 v6, v0\n"
                              "v_mov_b32 v7, v0\n s_waitcnt_depctr depctr_va_vdst(0)\n",
                      write = "v_add_nc_u32 v4, v0, v1\n",
                      pair = "v_dual_mov_b32 v2, v4 :: v_dual_mov_b32 v3, v6\n";
    run_cases({
        {"X's source", gfx11, 32, ready + write + pair, "H-026"},
        {"Y's source", gfx11, 32, ready + "v_add_nc_u32 v6, v0, v1\n" + pair, "H-026"},
        {"vsrc1", gfx11, 32,
         ready + write + "v_dual_add_f32 v2, v0, v4 :: v_dual_add_f32 v3, v5, v6\n", "H-026"},
        {"src0 of one, vsrc1 of the other", gfx11, 32,
         ready + write + "v_dual_add_f32 v2, v4, v1 :: v_dual_add_f32 v3, v5, v6\n", nullptr},
        {"both odd", gfx11, 32,
         ready + "v_mov_b32 v7, 1\n v_dual_mov_b32 v2, v7 :: v_dual_mov_b32 v3, v5\n", "H-026"},
        {"an SGPR beside it", gfx11, 32,
         ready + write + "v_dual_mov_b32 v2, v4 :: v_dual_mov_b32 v3, s2\n", nullptr},
        {"the factor of fmamk is src2", gfx11, 32,
         ready + write + "v_dual_fmamk_f32 v2, v0, 0x42, v4 :: v_dual_add_f32 v3, v5, v6\n",
         nullptr},
        {"the constant of fmaak comes last", gfx11, 32,
         ready + write + "v_dual_fmaak_f32 v2, v0, v4, 0x42 :: v_dual_add_f32 v3, v5, v6\n",
         "H-026"},
        {"gfx12", gfx12, 32, ready + write + pair, nullptr},
        {"fourteen between", gfx11, 32, ready + write + times(14, other) + pair, "H-026"},
        {"fifteen", gfx11, 32, ready + write + times(15, other) + pair, nullptr},
        {"comparisons write no VGPR", gfx11, 32,
         ready + write + times(15, "v_cmp_eq_u32 vcc_lo, v0, v1") + pair, "H-026"},
        {"s_nop is no fix", gfx11, 32, ready + write + times(2, "s_nop 15") + pair, "H-026"},
        {"s_delay_alu is none", gfx11, 32,
         ready + write + "s_delay_alu instid0(VALU_DEP_1)\n" + pair, "H-026"},
        {"a wait for one less", gfx11, 32,
         ready + write + "s_waitcnt_depctr depctr_va_vdst(1)\n" + pair, "H-026"},
        {"memory instructions wait, too", gfx11, 32, ready + write + "ds_store_b32 v1, v0\n" + pair,
         nullptr},
        {"registers that only loads wrote", gfx11, 32,
         "global_load_b32 v4, v1, s[2:3]\n global_load_b32 v6, v1, s[2:3]\n s_waitcnt vmcnt(0)\n" +
             pair,
         nullptr},
        {"a load, and then a vector instruction", gfx11, 32,
         "global_load_b32 v4, v1, s[2:3]\n global_load_b32 v6, v1, s[2:3]\n s_waitcnt vmcnt(0)\n" +
             write + pair,
         "H-026"},
        {"the half of a pair", gfx11, 32,
         ready + "v_dual_mov_b32 v8, v0 :: v_dual_mov_b32 v5, v1\n"
                 "v_dual_mov_b32 v2, v5 :: v_dual_mov_b32 v3, v7\n",
         "H-026"},
        {"a wide result", gfx11, 32, ready + "v_lshlrev_b64 v[4:5], v0, v[6:7]\n" + pair, "H-026"},
        {"across a call", gfx11, 32,
         ready + write + "s_call_b64 s[20:21], .Lf\n s_branch .Lout\n.Lf:\n" + pair + ".Lout:\n",
         "H-026"},
        {"in a loop", gfx11, 32,
         ready + "s_mov_b32 s9, 2\n.Lloop:\n" + pair + write +
             "s_sub_u32 s9, s9, 1\n s_cmp_lg_u32 s9, 0\n s_cbranch_scc1 .Lloop\n",
         "H-026"},
    });
}

TEST_CASE("H-029: what expert scheduling leaves to the program") {
    const std::string expert = "s_setreg_imm32_b32 hwreg(26, 0, 2), 2\n",
                      normal = "s_setreg_imm32_b32 hwreg(26, 0, 2), 0\n",
                      add = "v_add_nc_u32 v3, v0, v1\n", va = "s_wait_alu depctr_va_vdst(0)\n",
                      vm = "s_wait_alu depctr_vm_vsrc(0)\n",
                      store = "global_store_b32 v1, v3, s[2:3]\n",
                      load = "global_load_b32 v4, v1, s[2:3]\n";
    run_cases({
        {"mode 0", gfx12, 32, normal + add + store, nullptr},
        {"the mode was left", gfx12, 32, expert + add + normal + store, nullptr},
        {"written before it was entered", gfx12, 32, add + expert + store, "H-029"},
        {"vector instructions are ordered", gfx12, 32, expert + add + "v_add_nc_u32 v5, v3, v0",
         nullptr},
        {"a load over a result", gfx12, 32, expert + va + "v_mov_b32 v4, 0\n" + load, "H-029"},
        {"a load over a source", gfx12, 32,
         "v_mov_b32 v4, 0\n" + expert + va + "v_add_nc_u32 v3, v4, v0\n" + load, "H-029"},
        {"both read", gfx12, 32, expert + va + "v_add_nc_u32 v3, v1, v0\n" + load, nullptr},
        {"an address overwritten", gfx12, 32, expert + va + load + "v_mov_b32 v1, 0", "H-029"},
        {"an address overwritten by a load", gfx12, 32, expert + va + load + "ds_load_b32 v1, v0",
         "H-029"},
        {"the load was waited for", gfx12, 32,
         expert + va + load + "s_wait_loadcnt 0\n v_mov_b32 v1, 0", nullptr},
        {"stores have read", gfx12, 32,
         expert + va + "global_store_b32 v1, v0, s[2:3]\n" + vm + "v_mov_b32 v1, 0", nullptr},
        {"one younger", gfx12, 32,
         expert + add + "v_mov_b32 v5, 0\n s_wait_alu depctr_va_vdst(1)\n" + store, nullptr},
        {"one younger of another class", gfx12, 32,
         expert + va + add + "v_exp_f32 v5, v0\n s_wait_alu depctr_va_vdst(1)\n" + store, "H-029"},
        {"a mode from a register", gfx12, 32,
         "s_mov_b32 s8, 2\n s_setreg_b32 hwreg(26, 0, 2), s8\n" + add + store, "H-029"},
        {"in a loop", gfx12, 32,
         expert + va + "s_mov_b32 s9, 2\n.Lloop:\n" + load + "s_wait_loadcnt 0\n" +
             "global_load_b32 v5, v1, s[2:3]\n s_sub_co_u32 s9, s9, 1\n s_cmp_lg_u32 s9, 0\n"
             "v_mov_b32 v6, v4\n s_cbranch_scc1 .Lloop\n",
         "H-029"},
    });
}

TEST_CASE("H-031: long clauses") {
    run_cases({
        {"thirty-three on gfx10", {"gfx1030"}, 32, "s_clause 0x20\n s_nop 0", nullptr},
    });
}
