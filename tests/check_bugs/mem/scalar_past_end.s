// SPDX-License-Identifier: MIT
// A scalar load into the page behind the buffer.
// run: gfx=gfx1100,gfx1151,gfx1201 bytes=4096
        .include        "begin.s"
.if BUG
        s_load_b128     s[12:15], s[4:5], 0xff4 // expect: mem out_of_bounds
.else
        s_load_b128     s[12:15], s[4:5], 0xff0
.endif
        wait_scalar
        .include        "end.s"
