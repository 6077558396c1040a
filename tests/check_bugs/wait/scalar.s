// SPDX-License-Identifier: MIT
// A scalar load's result is used before it is there.
// run: gfx=gfx1100,gfx1151,gfx1201
        .include        "begin.s"
        s_load_b32      s12, s[4:5], 0x0
.if !BUG
        wait_scalar
.endif
        s_add_u32       s13, s12, 1 // expect: wait
        .include        "end.s"
