// SPDX-License-Identifier: MIT
// Only the low half of a pointer is used.
// run: gfx=gfx1151,gfx1201
        .include        "begin.s"
        v_mov_b32       v2, s4
.if BUG
        v_mov_b32       v3, 0x1234
.else
        v_mov_b32       v3, s5
.endif
        global_load_b32 v4, v[2:3], off // expect: mem wild_address
        .include        "end.s"
