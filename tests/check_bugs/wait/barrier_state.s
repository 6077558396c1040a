// SPDX-License-Identifier: MIT
// The state of a barrier comes by kmcnt.
// run: gfx=gfx1200,gfx1201 block=64
        .include        "begin.s"
        s_get_barrier_state s11, -1
.if BUG
        s_wait_dscnt    0
.else
        s_wait_kmcnt    0
.endif
        v_mov_b32       v2, s11 // expect: wait
        .include        "end.s"
