// SPDX-License-Identifier: MIT
// The member of a named barrier reads before it has waited there.
// run: gfx=gfx1200,gfx1201 block=64 lds=128
        .include        "begin.s"
        v_and_b32       v2, 0x7c, v1
        s_mov_b32       m0, 0x20003 // barrier 3 has two members
        s_cmp_eq_u32    s10, 0
        s_cbranch_scc0  .Lready
        s_barrier_init  m0
.Lready:
        barrier
        s_cmp_eq_u32    s10, 0
        s_cbranch_scc0  .Lread
        ds_store_b32    v2, v0
        wait_lds
        s_barrier_signal m0
        s_endpgm
.Lread:
        s_barrier_join  m0
        s_barrier_signal m0
.if !BUG
        s_barrier_wait  3
.endif
        ds_load_b32     v3, v2 // expect: race unordered
        wait_lds
        .include        "end.s"
