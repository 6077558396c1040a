// SPDX-License-Identifier: MIT
// A named barrier orders its members only: wave 1 is one, wave 2 reads with no barrier.
// run: gfx=gfx1200,gfx1201 block=96 lds=128
        .include        "begin.s"
        v_and_b32       v2, 0x7c, v1
        s_mov_b32       m0, 0x20001 // barrier 1 has two members
        s_cmp_eq_u32    s10, 0
        s_cbranch_scc0  .Lready
        s_barrier_init  m0
.Lready:
        barrier
        s_cmp_eq_u32    s10, 0
        s_cbranch_scc1  .Lwrite
        s_cmp_eq_u32    s10, 1
        s_cbranch_scc1  .Lmember
.if BUG
        ds_load_b32     v3, v2 // expect: race unordered
        wait_lds
.endif
        s_endpgm
.Lwrite:
        ds_store_b32    v2, v0
        wait_lds
        s_barrier_signal 1
        s_endpgm
.Lmember:
        s_barrier_join  1
        s_barrier_signal 1
        s_barrier_wait  1
        ds_load_b32     v4, v2
        wait_lds
        .include        "end.s"
