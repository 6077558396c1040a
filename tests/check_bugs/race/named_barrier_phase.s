// SPDX-License-Identifier: MIT
// Two phases of a named barrier: what comes before the second signal is read after the first wait.
// run: gfx=gfx1200,gfx1201 block=64 lds=256
        .include        "begin.s"
        v_and_b32       v2, 0x7c, v1
        s_mov_b32       m0, 0x10001 // one member: the wave that writes
        s_cmp_eq_u32    s10, 0
        s_cbranch_scc0  .Lready
        s_barrier_init  m0
.Lready:
        barrier
        s_barrier_join  1
        s_cmp_eq_u32    s10, 0
        s_cbranch_scc0  .Lread
        ds_store_b32    v2, v0
        wait_lds
        s_barrier_signal 1
        ds_store_b32    v2, v0 offset:128
        wait_lds
        s_barrier_signal 1
        s_endpgm
.Lread:
        s_barrier_wait  1
        ds_load_b32     v3, v2
.if !BUG
        s_barrier_wait  1
.endif
        ds_load_b32     v4, v2 offset:128 // expect: race unordered
        wait_lds
        .include        "end.s"
