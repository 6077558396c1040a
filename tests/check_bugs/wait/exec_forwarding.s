// SPDX-License-Identifier: MIT
// H-004: operands from both sides of a scalar write of EXEC, in wave64.
// run: gfx=gfx1100,gfx1150,gfx1151 wave64=1 block=64
        .include        "begin.s"
        v_mov_b32       v2, v0
        s_mov_b64       exec, -1
        v_mov_b32       v3, v0
.if !BUG
        s_waitcnt_depctr depctr_va_vdst(0)
.endif
        v_add_nc_u32    v4, v2, v3 // expect: wait
        global_store_b32 v1, v4, s[6:7]
        .include        "end.s"
