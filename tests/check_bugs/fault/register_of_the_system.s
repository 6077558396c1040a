// SPDX-License-Identifier: MIT
// A hardware register that kernels have no business with.
// run: gfx=gfx1151,gfx1201
        .include        "begin.s"
.if BUG
        s_setreg_imm32_b32 hwreg(5), 0 // expect: fault illegal_instruction
.else
        s_setreg_imm32_b32 hwreg(1, 4, 2), 3
.endif
        .include        "end.s"
