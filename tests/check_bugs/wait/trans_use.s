// SPDX-License-Identifier: MIT
// H-003: too soon after a transcendental instruction; s_delay_alu is no fix.
// run: gfx=gfx1100,gfx1101,gfx1102,gfx1103
        .include        "begin.s"
        v_cvt_f32_u32   v2, v0
        v_exp_f32       v3, v2
        v_mov_b32       v4, v2
        s_delay_alu     instid0(TRANS32_DEP_1)
.if !BUG
        s_waitcnt_depctr depctr_va_vdst(0)
.endif
        v_add_f32       v5, v3, v4 // expect: wait
        global_store_b32 v1, v5, s[6:7]
        .include        "end.s"
