// SPDX-License-Identifier: MIT
// All lanes of one store write the same word: the same value is fine, different ones are not.
// run: gfx=gfx1151,gfx1201
        .include        "begin.s"
        v_mov_b32       v2, 0
.if BUG
        v_mov_b32       v3, v0
.else
        v_mov_b32       v3, 7
.endif
        global_store_b32 v2, v3, s[4:5] // expect: race lanes
        .include        "end.s"
