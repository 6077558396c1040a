// SPDX-License-Identifier: MIT
// A scalar load without a byte in the buffer: its page holds it, but nothing widens a load so.
// run: gfx=gfx1100,gfx1201 bytes=12
        .include        "begin.s"
.if BUG
        s_load_b32      s12, s[4:5], 0xc // expect: mem out_of_bounds
.else
        s_load_b32      s12, s[4:5], 0x8
.endif
        wait_scalar
        .include        "end.s"
