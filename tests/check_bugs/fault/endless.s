// SPDX-License-Identifier: MIT
// A wave waits for a flag that nobody sets; HIPSIM_MAX_INSTS ends it.
// run: gfx=gfx1100,gfx1151,gfx1201 max=5000
        .include        "begin.s"
.if BUG
.Lagain:
        s_branch        .Lagain // expect: fault endless
.endif
        .include        "end.s"
