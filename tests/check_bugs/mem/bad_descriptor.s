// SPDX-License-Identifier: MIT
// A descriptor of something else than a buffer.
// run: gfx=gfx1100,gfx1151,gfx1201
        .include        "begin.s"
        buffer          12, 4, 4096
.if BUG
        s_mov_b32       s15, 0x90016fac // an image's type
.endif
        buffer_load_b32 v2, v1, s[12:15], null offen // expect: mem illegal_address
        .include        "end.s"
