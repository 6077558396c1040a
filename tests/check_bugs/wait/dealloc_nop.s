// SPDX-License-Identifier: MIT
// H-009: registers are given back with s_nop 0 right before.
// run: gfx=gfx1100,gfx1151,gfx1201
        .include        "begin.s"
        global_store_b32 v1, v0, s[6:7]
.if !BUG
        s_nop           0
.endif
        s_sendmsg       sendmsg(MSG_DEALLOC_VGPRS) // expect: wait
        .include        "end.s"
