// SPDX-License-Identifier: MIT
// A scalar load of more dwords than the buffer has left.
// run: gfx=gfx1100,gfx1151,gfx1201 bytes=256
        .include        "begin.s"
.if BUG
        s_load_b128     s[12:15], s[4:5], 0xf4 // expect: mem out_of_bounds
.else
        s_load_b128     s[12:15], s[4:5], 0xf0
.endif
        wait_scalar
        .include        "end.s"
