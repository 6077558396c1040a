// SPDX-License-Identifier: MIT
// An SGPR is written while a scalar load into it is in flight.
// run: gfx=gfx1151,gfx1201
        .include        "begin.s"
        s_load_b32      s12, s[4:5], 0x0
.if !BUG
        wait_scalar
.endif
        s_mov_b32       s12, 0 // expect: wait
        wait_scalar
        .include        "end.s"
