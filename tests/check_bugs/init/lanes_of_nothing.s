// SPDX-License-Identifier: MIT
// A comparison with nothing chooses the lanes.
// run: gfx=gfx1151,gfx1201
        .include        "begin.s"
.if !BUG
        v_mov_b32       v2, 5
.endif
        v_cmpx_lt_u32   v0, v2 // expect: init
        global_store_b32 v1, v0, s[4:5]
        .include        "end.s"
