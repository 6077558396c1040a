// SPDX-License-Identifier: MIT
// H-002: a scalar read of VCC doesn't wait for another SGPR that VALU writes; one of any other does.
// run: gfx=gfx1200,gfx1201
        .include        "begin.s"
        s_mov_b32       vcc_lo, 0
        s_mov_b32       s9, 0
        s_wait_alu      depctr_sa_sdst(0)
        v_add_nc_u32    v2, s8, v0
        v_readfirstlane_b32 s8, v0
.if BUG
        s_mov_b32       s10, vcc_lo
.else
        s_mov_b32       s10, s9
.endif
        v_add_nc_u32    v2, s8, v2 // expect: wait
        global_store_b32 v1, v2, s[6:7]
        .include        "end.s"
