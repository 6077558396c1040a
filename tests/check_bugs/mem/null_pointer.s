// SPDX-License-Identifier: MIT
// A pointer that nobody has set: 0.
// run: gfx=gfx1151,gfx1201
        .include        "begin.s"
        v_mov_b32       v2, s4
        v_mov_b32       v3, s5
.if BUG
        v_mov_b32       v2, 16
        v_mov_b32       v3, 0
.endif
        global_load_b32 v4, v[2:3], off // expect: mem null_pointer
        .include        "end.s"
