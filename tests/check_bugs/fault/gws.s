// SPDX-License-Identifier: MIT
// Global wave synchronisation isn't given to compute kernels.
// run: gfx=gfx1100,gfx1151
        .include        "begin.s"
.if BUG
        ds_gws_barrier  v0 gds // expect: fault illegal_instruction
.endif
        .include        "end.s"
