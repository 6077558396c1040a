// SPDX-License-Identifier: MIT
// An SGPR that nothing has written decides a branch.
// run: gfx=gfx1100,gfx1151,gfx1201
        .include        "begin.s"
.if !BUG
        s_mov_b32       s20, 1
.endif
        s_cmp_eq_u32    s20, 1
        s_cbranch_scc1  .Lend_of_it // expect: init
        s_nop           0
.Lend_of_it:
        .include        "end.s"
