// SPDX-License-Identifier: MIT
// A wave that has ended doesn't hold up a barrier; one that waits without a signal holds up itself.
// run: gfx=gfx1200,gfx1201 block=96
        .include        "begin.s"
        s_cmp_eq_u32    s10, 0
        s_cbranch_scc1  .Lgone
        s_cmp_eq_u32    s10, 1
        s_cbranch_scc1  .Lone
        s_barrier_signal -1
        s_barrier_wait  -1
.Lgone:
        s_endpgm
.Lone:
.if !BUG
        s_barrier_signal -1
.endif
        s_barrier_wait  -1 // expect: fault barrier
        .include        "end.s"
