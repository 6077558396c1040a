// SPDX-License-Identifier: MIT
// A buffer's scalar offset that nobody has set.
// run: gfx=gfx1151,gfx1201
        .include        "begin.s"
        buffer          12, 4, 4096
.if !BUG
        s_mov_b32       s16, 0
.endif
        buffer_load_b32 v2, v1, s[12:15], s16 offen // expect: init
        .include        "end.s"
