// SPDX-License-Identifier: MIT
// A call through a pointer that is none.
// run: gfx=gfx1151,gfx1201
        .include        "begin.s"
        s_getpc_b64     s[12:13]
.Lhere:
        s_add_u32       s12, s12, .Lfunction - .Lhere
        s_addc_u32      s13, s13, 0
.if BUG
        s_mov_b64       s[12:13], s[4:5]
.endif
        s_swappc_b64    s[14:15], s[12:13] // expect: fault illegal_instruction
        s_endpgm
.Lfunction:
        s_setpc_b64     s[14:15]
        .include        "end.s"
