// SPDX-License-Identifier: MIT
// A wave sleeps until a flag is set, which nobody will.
// run: gfx=gfx1100,gfx1151,gfx1201 max=5000
        .include        "begin.s"
.if BUG
.Lagain:
        s_sleep         1
        s_branch        .Lagain // expect: fault endless
.endif
        .include        "end.s"
