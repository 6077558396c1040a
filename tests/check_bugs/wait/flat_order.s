// SPDX-License-Identifier: MIT
// H-010: a flat load may come from LDS, sooner than the older load from memory.
// run: gfx=gfx1100,gfx1151
        .include        "begin.s"
        v_mov_b32       v2, s4
        v_mov_b32       v3, s5
        global_load_b32 v4, v1, s[4:5]
.if BUG
        flat_load_b32   v4, v[2:3] // expect: wait
.else
        global_load_b32 v4, v[2:3], off
.endif
        .include        "end.s"
