// SPDX-License-Identifier: MIT
// A message that only graphics has.
// run: gfx=gfx1151,gfx1201
        .include        "begin.s"
.if BUG
        s_sendmsg       sendmsg(MSG_GS_ALLOC_REQ) // expect: fault illegal_instruction
.else
        s_sendmsg       sendmsg(MSG_INTERRUPT)
.endif
        .include        "end.s"
