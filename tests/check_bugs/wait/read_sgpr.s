// SPDX-License-Identifier: MIT
// H-002: VALU has read a pair of SGPRs, SALU writes and reads one of them.
// run: gfx=gfx1200,gfx1201
        .include        "begin.s"
        v_add_nc_u32    v2, s8, v0
        s_mov_b32       s9, 1 // of the same pair
.if !BUG
        s_wait_alu      depctr_sa_sdst(0)
.endif
        s_add_co_u32    s10, s9, 1 // expect: wait
        global_store_b32 v1, v2, s[6:7]
        .include        "end.s"
