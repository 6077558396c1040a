// SPDX-License-Identifier: MIT
// Wave 1 joins a named barrier that wave 0 may not have initialised yet.
// run: gfx=gfx1200,gfx1201 block=64
        .include        "begin.s"
        s_mov_b32       m0, 0x20001
        s_cmp_eq_u32    s10, 0
        s_cbranch_scc0  .Lready
        s_barrier_init  m0
.Lready:
.if !BUG
        barrier
.endif
        s_barrier_join  1 // expect: race barrier_init
        s_barrier_signal 1
        s_barrier_wait  1
        .include        "end.s"
