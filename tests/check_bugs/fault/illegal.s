// SPDX-License-Identifier: MIT
// A word that is no instruction. Data has no line of its own: that of the instruction before stands.
// run: gfx=gfx1100,gfx1151,gfx1201
        .include        "begin.s"
.if BUG
        s_nop           0 // expect: fault illegal_instruction
        .long           0xffffffff
.endif
        .include        "end.s"
