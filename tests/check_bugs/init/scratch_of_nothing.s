// SPDX-License-Identifier: MIT
// Scratch is read that nobody has written.
// run: gfx=gfx1151,gfx1201 scratch=16
        .include        "begin.s"
.if !BUG
        scratch_store_b32 off, v0, off offset:8
.endif
        scratch_load_b32 v2, off, off offset:8
        wait_loads
        global_store_b32 v1, v2, s[4:5] // expect: init
        .include        "end.s"
