// SPDX-License-Identifier: MIT
// H-030: the first half of a pair writes what the second reads. The clean twin has the halves exchanged.
// run: gfx=gfx1100,gfx1151,gfx1201
        .include        "begin.s"
        v_cvt_f32_u32   v2, v0
        v_mov_b32       v3, 1.0
        s_nop           7
.if BUG
        v_dual_mul_f32  v2, v3, v1 :: v_dual_add_f32 v5, v2, v2 // expect: wait
.else
        v_dual_add_f32  v5, v2, v2 :: v_dual_mul_f32 v2, v3, v1
.endif
        global_store_b32 v1, v5, s[6:7]
        .include        "end.s"
