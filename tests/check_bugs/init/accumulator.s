// SPDX-License-Identifier: MIT
// A sum starts from an uninitialised register.
// run: gfx=gfx1100,gfx1151,gfx1201
        .include        "begin.s"
.if !BUG
        v_mov_b32       v2, 0
.endif
        v_cvt_f32_u32   v3, v0
        v_fmac_f32      v2, v3, v3
        global_store_b32 v1, v2, s[4:5] // expect: init
        .include        "end.s"
