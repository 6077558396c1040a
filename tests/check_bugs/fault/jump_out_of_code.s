// SPDX-License-Identifier: MIT
// A jump to where there is no code.
// run: gfx=gfx1151,gfx1201
        .include        "begin.s"
        s_getpc_b64     s[12:13]
.Lhere:
.if BUG
        s_mov_b32       s13, 0
.else
        s_add_u32       s12, s12, .Lnext - .Lhere
        s_addc_u32      s13, s13, 0
.endif
        s_setpc_b64     s[12:13] // expect: fault illegal_instruction
.Lnext:
        .include        "end.s"
