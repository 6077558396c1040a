// SPDX-License-Identifier: MIT
// The same registers were loaded in bounds before, which does not make the second load's values good.
// run: gfx=gfx1151,gfx1201 bytes=12
        .include        "begin.s"
        s_mov_b64       s[12:13], 0
        s_mov_b64       s[14:15], 0
        s_load_b128     s[12:15], s[4:5], 0x0
        wait_scalar
        s_cmp_eq_u32    s[14 + BUG], 0
        s_cbranch_scc1  .Lout // expect: init
.Lout:
        .include        "end.s"
