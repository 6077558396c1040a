// SPDX-License-Identifier: MIT
// A counter is zeroed by one wave and counted up by all, with no barrier between.
// run: gfx=gfx1151,gfx1201 block=64 lds=4
        .include        "begin.s"
        v_mov_b32       v2, 0
        s_cmp_eq_u32    s10, 0
        s_cbranch_scc0  .Lcount
        ds_store_b32    v2, v2
        wait_lds
.Lcount:
.if !BUG
        barrier
.endif
        v_mov_b32       v3, 1
        ds_add_u32      v2, v3 // expect: race
        .include        "end.s"
