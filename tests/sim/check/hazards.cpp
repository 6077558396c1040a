// SPDX-License-Identifier: MIT
// The five cases of each hazard of isa/hazards.inc that the simulator checks, on each family of
// targets. Where LLVM inserts a wait the check must speak; where it doesn't, it must be silent. The
// simulator's check and the lint both run (found.h). hazard_edges.cpp has the windows,
// tests/lint/hazards_lint_only.cpp the other hazards.
#include <doctest/doctest.h>

#include "sim/check/found.h"
#include "sim/check/hazard_rows.h"

using namespace nw::sim::test;

namespace {

const Targets none{}, gfx110x{"gfx1100", "gfx1103"}, gfx12{"gfx1201"}, gfx11{"gfx1100", "gfx1151"},
    gfx115x_12{"gfx1151", "gfx1201"}, all{"gfx1100", "gfx1151", "gfx1201"};

// clang-format off
const Row rows[] = {
    // Written by SALU, by VALU, by VALU into VCC.
    {"H-002", gfx12, gfx11, 32, "v_mov_b32 v2, s8\n s_mov_b32 s9, 1", "s_mov_b32 s10, s9",
     "v_mov_b32 v2, s8\n s_mov_b32 s11, 1\n s_mov_b32 s10, s11",
     "s_waitcnt_depctr depctr_sa_sdst(0)", "s_waitcnt_depctr depctr_va_sdst(0)"},
    {"H-002", gfx12, gfx11, 32, "v_mov_b32 v2, s8\n v_readfirstlane_b32 s8, v1", "v_mov_b32 v3, s8",
     "v_mov_b32 v2, s8\n v_readfirstlane_b32 s10, v1\n v_mov_b32 v3, s10",
     "s_waitcnt_depctr depctr_va_sdst(0)", "s_waitcnt_depctr depctr_va_vcc(0)"},
    {"H-002", gfx12, gfx11, 32, "v_cndmask_b32 v2, v0, v1, vcc_lo\n v_cmp_lt_u32 vcc_lo, v0, v1", "v_cndmask_b32 v3, v0, v1, vcc_lo",
     "v_cndmask_b32 v2, v0, v1, s8\n v_cmp_lt_u32 vcc_lo, v0, v1\n v_cndmask_b32 v3, v0, v1, vcc_lo",
     "s_waitcnt_depctr depctr_va_vcc(0)", "s_waitcnt_depctr depctr_va_sdst(0)"},
    {"H-003", gfx110x, gfx115x_12, 32, "v_exp_f32 v2, v1", "v_add_f32 v3, v2, v1",
     "v_exp_f32 v2, v1\n v_add_f32 v3, v0, v1",
     "s_waitcnt_depctr depctr_va_vdst(0)", "s_waitcnt_depctr depctr_va_sdst(0)"},
    {"H-004", gfx11, gfx12, 64, "v_mov_b32 v2, 1\n s_mov_b64 exec, -1\n v_mov_b32 v3, 2", "v_add_nc_u32 v4, v2, v3",
     "v_mov_b32 v2, 1\n s_mov_b64 exec, -1\n v_mov_b32 v3, 2\n v_add_nc_u32 v4, v3, v3",
     "s_waitcnt_depctr depctr_va_vdst(0)", "s_waitcnt_depctr depctr_sa_sdst(0)"},
    // Written by SALU, by VALU, by VALU into VCC.
    {"H-005", gfx11, gfx12, 64, "v_cndmask_b32 v2, 0, v1, s[8:9]\n s_mov_b64 s[8:9], 0", "s_mov_b64 s[10:11], s[8:9]",
     "v_cndmask_b32 v2, 0, v1, s[8:9]\n s_mov_b64 s[12:13], 0\n s_mov_b64 s[10:11], s[12:13]",
     "s_waitcnt_depctr depctr_sa_sdst(0)", "s_waitcnt_depctr depctr_va_vdst(0)"},
    {"H-005", gfx11, gfx12, 64, "v_cndmask_b32 v2, 0, v1, s[8:9]\n v_cmp_eq_u32 s[8:9], v0, v1", "v_cndmask_b32 v3, 0, v1, s[8:9]",
     "v_cndmask_b32 v2, 0, v1, s[8:9]\n v_cmp_eq_u32 s[10:11], v0, v1\n v_cndmask_b32 v3, 0, v1, s[10:11]",
     "s_waitcnt_depctr depctr_va_sdst(0)", "s_waitcnt_depctr depctr_va_vcc(0)"},
    {"H-005", gfx11, gfx12, 64, "v_cndmask_b32 v2, 0, v1, vcc\n v_cmp_eq_u32 vcc, v0, v1", "v_cndmask_b32 v3, 0, v1, vcc",
     "v_cndmask_b32 v2, 0, v1, s[8:9]\n v_cmp_eq_u32 vcc, v0, v1\n v_cndmask_b32 v3, 0, v1, vcc",
     "s_waitcnt_depctr depctr_va_vcc(0)", "s_waitcnt_depctr depctr_va_sdst(0)"},
    {"H-006", gfx11, none, 32, "v_wmma_f32_16x16x16_f16 v[8:15], v[16:23], v[24:31], v[8:15]", "v_wmma_f32_16x16x16_f16 v[32:39], v[8:15], v[16:23], v[32:39]",
     "v_wmma_f32_16x16x16_f16 v[8:15], v[16:23], v[24:31], v[8:15]\n v_wmma_f32_16x16x16_f16 v[32:39], v[16:23], v[16:23], v[32:39]",
     "v_nop", "s_waitcnt_depctr depctr_va_vdst(0)"},
    {"H-006", gfx12, none, 32, "v_wmma_f32_16x16x16_f16 v[8:15], v[16:19], v[24:27], v[8:15]", "v_wmma_f32_16x16x16_f16 v[32:39], v[12:15], v[16:19], v[32:39]",
     "v_wmma_f32_16x16x16_f16 v[8:15], v[16:19], v[24:27], v[8:15]\n v_wmma_f32_16x16x16_f16 v[32:39], v[16:19], v[16:19], v[32:39]",
     "v_nop", "s_waitcnt_depctr depctr_va_vdst(0)"},
    {"H-007", all, none, 32, "v_cmpx_ge_u32 v0, v0", "v_permlane16_b32 v2, v0, s2, s3",
     "v_cmp_ge_u32 vcc_lo, v0, v0\n v_permlane16_b32 v2, v0, s2, s3",
     "v_mov_b32 v9, v0", "s_waitcnt_depctr depctr_va_vdst(0)"},
    // It is the instruction itself: nothing before it resolves it.
    {"H-008", gfx110x, gfx115x_12, 32, "", "v_mad_u64_u32 v[2:3], null, v4, v5, v[2:3]",
     "v_mad_u64_u32 v[2:3], null, v4, v5, v[6:7]",
     nullptr, "s_waitcnt_depctr depctr_va_vdst(0)"},
    {"H-009", all, none, 32, "", "s_sendmsg sendmsg(MSG_DEALLOC_VGPRS)",
     "s_sendmsg sendmsg(MSG_INTERRUPT)",
     "s_nop 0", "stores 0"},
    {"H-010", gfx12, gfx11, 32, "global_load_b32 v2, v1, s[2:3]", "global_load_b32 v2, v1, s[2:3] offset:4",
     "global_load_b32 v2, v1, s[2:3]\n global_load_b32 v3, v1, s[2:3] offset:4",
     "loads 0", "lds 0"},
    {"H-011", gfx12, none, 32, "global_load_b32 v2, v1, s[2:3]", "global_store_b32 v1, v0, s[2:3] scope:SCOPE_SYS",
     "global_load_b32 v2, v1, s[2:3]\n global_store_b32 v1, v0, s[2:3] scope:SCOPE_DEV",
     "loads 0", "stores 0"},
    {"H-011", none, gfx11, 32, "global_load_b32 v2, v1, s[2:3]", "global_store_b32 v1, v0, s[2:3] dlc", "", "", ""},
    {"H-012", all, none, 32, "scratch_store_b32 off, v0, off", "s_nop 0\n s_sendmsg sendmsg(MSG_DEALLOC_VGPRS)",
     "global_store_b32 v1, v0, s[2:3]\n s_nop 0\n s_sendmsg sendmsg(MSG_DEALLOC_VGPRS)",
     "stores 0", "loads 0"},
    {"H-026", gfx11, gfx12, 32, "v_mov_b32 v4, v0\n v_mov_b32 v6, v1\n ds_store_b32 v1, v0\n v_mov_b32 v4, v0", "v_dual_mov_b32 v2, v4 :: v_dual_mov_b32 v3, v6",
     "v_mov_b32 v4, v0\n v_mov_b32 v5, v1\n v_dual_mov_b32 v2, v4 :: v_dual_mov_b32 v3, v5",
     "s_waitcnt_depctr depctr_va_vdst(0)", "s_waitcnt_depctr depctr_sa_sdst(0)"},
    // The mode is part of the hazard. A vector result in memory; in an address; a source overwritten.
    {"H-029", gfx12, none, 32, "s_setreg_imm32_b32 hwreg(26, 0, 2), 2\n v_add_nc_u32 v3, v0, v1", "global_store_b32 v1, v3, s[2:3]",
     "v_add_nc_u32 v3, v0, v1\n global_store_b32 v1, v3, s[2:3]",
     "s_wait_alu depctr_va_vdst(0)", "s_wait_alu depctr_vm_vsrc(0)"},
    {"H-029", gfx12, none, 32, "s_setreg_imm32_b32 hwreg(26, 0, 2), 2\n v_lshlrev_b32 v3, 2, v0", "ds_load_b32 v4, v3",
     "v_lshlrev_b32 v3, 2, v0\n ds_load_b32 v4, v3",
     "s_wait_alu depctr_va_vdst(0)", "s_wait_alu depctr_va_vdst(1)"},
    {"H-029", gfx12, none, 32, "s_setreg_imm32_b32 hwreg(26, 0, 2), 2\n s_wait_alu depctr_va_vdst(0)\n global_store_b32 v1, v0, s[2:3]", "v_mov_b32 v0, 1",
     "global_store_b32 v1, v0, s[2:3]\n v_mov_b32 v0, 1",
     "s_wait_alu depctr_vm_vsrc(0)", "s_wait_alu depctr_va_vdst(0)"},
    // These are one instruction each: nothing before it resolves it.
    {"H-031", all, none, 32, "", "s_clause 0x20\n s_nop 0",
     "s_clause 0x1f\n s_nop 0",
     nullptr, "s_nop 0"},
};
// clang-format on

} // namespace

TEST_CASE("the five cases of each hazard") { check_five_cases(rows, found_in_row); }
