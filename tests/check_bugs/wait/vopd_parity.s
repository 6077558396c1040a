// SPDX-License-Identifier: MIT
// H-026: both src0 are even, and a vector instruction has just written one. The clean twin has an odd one.
// run: gfx=gfx1100,gfx1151
        .include        "begin.s"
        v_mov_b32       v4, v0
        v_dual_mov_b32  v6, v0 :: v_dual_mov_b32 v7, v1
        s_waitcnt_depctr depctr_va_vdst(0)
        v_add_nc_u32    v4, v0, v1
        v_dual_mov_b32  v2, v4 :: v_dual_mov_b32 v3, v[7 - BUG] // expect: wait
        global_store_b32 v1, v2, s[6:7]
        .include        "end.s"
