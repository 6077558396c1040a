// SPDX-License-Identifier: MIT
// H-002: VALU has read an SGPR that SALU writes before a call, and the called function reads it.
// run: gfx=gfx1200,gfx1201
        .include        "begin.s"
        v_add_nc_u32    v2, s8, v0
        s_mov_b32       s8, 1
.if !BUG
        s_wait_alu      depctr_sa_sdst(0)
.endif
        s_call_b64      s[12:13], L_function
        s_branch        L_returned
L_function:
        s_add_co_u32    s10, s8, 1 // expect: wait
        s_setpc_b64     s[12:13]
L_returned:
        global_store_b32 v1, v2, s[6:7]
        .include        "end.s"
