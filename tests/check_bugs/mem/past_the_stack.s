// SPDX-License-Identifier: MIT
// A kernel that calls through pointers has a stack of hipLimitStackSize.
// run: gfx=gfx1151,gfx1201 scratch=16 dynamic=1 stack=4096
        .include        "begin.s"
        s_movk_i32      s12, 4092
.if BUG
        scratch_store_b32 off, v0, s12 offset:4 // expect: mem scratch_out_of_bounds
.else
        scratch_store_b32 off, v0, s12
.endif
        .include        "end.s"
