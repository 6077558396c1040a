// SPDX-License-Identifier: MIT
// A member that leaves lets the others go on, but only what came before is ordered.
// run: gfx=gfx1200,gfx1201 block=64 lds=128
        .include        "begin.s"
        v_and_b32       v2, 0x7c, v1
        s_mov_b32       m0, 0x20001
        s_cmp_eq_u32    s10, 0
        s_cbranch_scc0  .Lready
        s_barrier_init  m0
.Lready:
        barrier
        s_barrier_join  1
        s_cmp_eq_u32    s10, 0
        s_cbranch_scc0  .Lread
.if BUG
        s_barrier_leave
        ds_store_b32    v2, v0
        wait_lds
.else
        ds_store_b32    v2, v0
        wait_lds
        s_barrier_leave
.endif
        s_endpgm
.Lread:
        s_barrier_signal 1
        s_barrier_wait  1
        ds_load_b32     v3, v2 // expect: race unordered
        wait_lds
        .include        "end.s"
