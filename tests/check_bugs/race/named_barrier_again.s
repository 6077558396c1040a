// SPDX-License-Identifier: MIT
// A named barrier is initialised anew while another wave may still use it.
// run: gfx=gfx1200,gfx1201 block=64
        .include        "begin.s"
        s_mov_b32       m0, 0x10001
        s_cmp_eq_u32    s10, 0
        s_cbranch_scc0  .Lready
        s_barrier_init  m0
.Lready:
        barrier
        s_cmp_eq_u32    s10, 0
        s_cbranch_scc0  .Lsecond
        s_barrier_join  1
        s_barrier_signal 1
        s_barrier_wait  1
        s_barrier_leave // or its end would do that to the new one
        wait_scalar     // for SCC
.Lsecond:
.if !BUG
        barrier
.endif
        s_cmp_eq_u32    s10, 1
        s_cbranch_scc0  .Ldone
        s_barrier_init  m0 // expect: race barrier_init
.Ldone:
        .include        "end.s"
