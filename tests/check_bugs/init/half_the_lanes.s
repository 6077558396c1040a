// SPDX-License-Identifier: MIT
// Half of the lanes write a register, all of them store it.
// run: gfx=gfx1151,gfx1201
        .include        "begin.s"
.if !BUG
        v_mov_b32       v2, 7
.endif
        s_mov_b32       exec_lo, 0xffff
        v_mov_b32       v2, v0
        s_mov_b32       exec_lo, -1
        global_store_b32 v1, v2, s[4:5] // expect: init
        .include        "end.s"
