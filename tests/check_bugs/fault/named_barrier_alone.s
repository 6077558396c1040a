// SPDX-License-Identifier: MIT
// A named barrier of two members, one of which ends without having joined or signalled.
// run: gfx=gfx1200,gfx1201 block=64
        .include        "begin.s"
        s_mov_b32       m0, 0x20005
        s_cmp_eq_u32    s10, 0
        s_cbranch_scc0  .Lready
        s_barrier_init  m0
.Lready:
        barrier
        s_cmp_eq_u32    s10, 0
        s_cbranch_scc1  .Lfirst
.if !BUG
        s_barrier_signal 5
.endif
        s_endpgm
.Lfirst:
        s_barrier_join  5
        s_barrier_signal 5
        s_barrier_wait  5 // expect: fault barrier
        .include        "end.s"
