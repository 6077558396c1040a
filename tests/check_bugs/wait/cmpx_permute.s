// SPDX-License-Identifier: MIT
// H-007: v_permlane right after v_cmpx.
// run: gfx=gfx1100,gfx1151,gfx1201
        .include        "begin.s"
        s_mov_b32       s12, 0x76543210
        s_mov_b32       s13, 0xfedcba98
        v_cmpx_ge_u32   v0, v0
.if !BUG
        v_mov_b32       v3, v0
.endif
        v_permlane16_b32 v2, v0, s12, s13 // expect: wait
        global_store_b32 v1, v2, s[6:7]
        .include        "end.s"
