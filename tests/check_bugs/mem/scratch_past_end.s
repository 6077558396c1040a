// SPDX-License-Identifier: MIT
// Scratch has 16 bytes per lane.
// run: gfx=gfx1151,gfx1201 scratch=16
        .include        "begin.s"
.if BUG
        scratch_store_b32 off, v0, off offset:16 // expect: mem scratch_out_of_bounds
.else
        scratch_store_b32 off, v0, off offset:12
.endif
        .include        "end.s"
