// SPDX-License-Identifier: MIT
// Exports are for graphics.
// run: gfx=gfx1200,gfx1201
        .include        "begin.s"
.if BUG
        export          mrt0 v0, v0, v0, v0 done // expect: fault illegal_instruction
.endif
        .include        "end.s"
