// SPDX-License-Identifier: MIT
// Every workgroup stores its own values to the same words.
// run: gfx=gfx1100,gfx1151,gfx1201 groups=4
        .include        "begin.s"
        s_lshl_b32      s11, s9, 7
.if !BUG
        v_add_nc_u32    v1, s11, v1
.endif
        v_mov_b32       v2, s9
        global_store_b32 v1, v2, s[4:5] // expect: race
        .include        "end.s"
