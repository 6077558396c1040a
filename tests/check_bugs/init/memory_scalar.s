// SPDX-License-Identifier: MIT
// A branch depends on a scalar load of memory that nobody has written.
// run: gfx=gfx1100,gfx1151,gfx1201 written=2048
        .include        "begin.s"
.if BUG
        s_load_b32      s12, s[6:7], 0x800
.else
        s_load_b32      s12, s[6:7], 0x400
.endif
        wait_scalar
        s_cmp_eq_u32    s12, 7
        s_cbranch_scc1  .Lend2 // expect: init
        v_mov_b32       v2, 1
        global_store_b32 v1, v2, s[4:5]
.Lend2:
        .include        "end.s"
