// SPDX-License-Identifier: MIT
// s_endpgm is missing: the wave runs into what marks the end of the code.
// run: gfx=gfx1151,gfx1201
        .include        "begin.s"
.if BUG
        s_code_end // expect: fault illegal_instruction
.endif
        .include        "end.s"
