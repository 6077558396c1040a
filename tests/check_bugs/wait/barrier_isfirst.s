// SPDX-License-Identifier: MIT
// SCC of s_barrier_signal_isfirst comes by kmcnt, or by the wait for that barrier.
// run: gfx=gfx1200,gfx1201 block=64
        .include        "begin.s"
        s_cmp_eq_u32    s8, s8
        s_barrier_signal_isfirst -1
.if !BUG
        s_barrier_wait  -1
.endif
        s_cselect_b32   s11, 1, 0 // expect: wait
.if BUG
        s_barrier_wait  -1
.endif
        .include        "end.s"
