// SPDX-License-Identifier: MIT
// A descriptor without a number of records.
// run: gfx=gfx1151,gfx1201
        .include        "begin.s"
        s_mov_b32       s12, s4
        s_mov_b32       s13, s5
.if !BUG
        s_mov_b32       s14, 256
.endif
        s_mov_b32       s15, 0x30016fac
        buffer_load_b32 v2, v1, s[12:15], null offen // expect: init
        .include        "end.s"
