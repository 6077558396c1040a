// SPDX-License-Identifier: MIT
// There are 16 named barriers.
// run: gfx=gfx1200,gfx1201
        .include        "begin.s"
        s_mov_b32       m0, 0x10010 + BUG
        s_barrier_init  m0 // expect: fault barrier
        .include        "end.s"
