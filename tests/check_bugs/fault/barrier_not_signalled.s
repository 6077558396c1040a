// SPDX-License-Identifier: MIT
// One wave waits without having signalled: nobody ever will.
// run: gfx=gfx1200,gfx1201 block=64
        .include        "begin.s"
.if BUG
        s_cmp_eq_u32    s10, 0
        s_cbranch_scc1  .Lwait
.endif
        s_barrier_signal -1
.Lwait:
        s_barrier_wait  -1 // expect: fault barrier
        .include        "end.s"
