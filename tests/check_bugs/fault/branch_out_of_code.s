// SPDX-License-Identifier: MIT
// A branch to where there is no code, which is only wrong when it is taken.
// run: gfx=gfx1151,gfx1201
        .include        "begin.s"
        s_cmp_eq_u32    s8, 1 - BUG // it is 0
        s_cbranch_scc1  0x4000 // expect: fault illegal_instruction
        .include        "end.s"
