// SPDX-License-Identifier: MIT
// H-012: registers and scratch are given back while a store to scratch is outstanding.
// run: gfx=gfx1100,gfx1151,gfx1201 scratch=16
        .include        "begin.s"
        scratch_store_b32 off, v0, off
.if !BUG
        wait_stores
.endif
        s_nop           0
        s_sendmsg       sendmsg(MSG_DEALLOC_VGPRS) // expect: wait
        .include        "end.s"
