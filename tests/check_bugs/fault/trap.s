// SPDX-License-Identifier: MIT
// The kernel gives up by itself.
// run: gfx=gfx1100,gfx1151,gfx1201
        .include        "begin.s"
.if BUG
        s_trap          2 // expect: fault illegal_instruction
.endif
        .include        "end.s"
