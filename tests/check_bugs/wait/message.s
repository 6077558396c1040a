// SPDX-License-Identifier: MIT
// The answer to a message comes like a scalar load.
// run: gfx=gfx1100,gfx1151,gfx1201
        .include        "begin.s"
        s_sendmsg_rtn_b64 s[12:13], sendmsg(MSG_RTN_GET_REALTIME)
.if !BUG
        wait_scalar
.endif
        s_lshl_b32      s14, s13, 1 // expect: wait
        .include        "end.s"
