// SPDX-License-Identifier: MIT
// A signal to a named barrier that was never initialised.
// run: gfx=gfx1200,gfx1201
        .include        "begin.s"
.if !BUG
        s_mov_b32       m0, 0x10002
        s_barrier_init  m0
.endif
        s_barrier_signal 2 // expect: fault barrier
        .include        "end.s"
