// SPDX-License-Identifier: MIT
// A buffer store of a register that is only written in some lanes. Where it is out of the buffer's
// bounds nothing is stored, and nothing is wrong.
// run: gfx=gfx1100,gfx1151,gfx1201
        .include        "begin.s"
        buffer          12, 4, 64 + 4 * BUG
        s_mov_b32       exec_lo, 0xffff
        v_mov_b32       v2, 1
        s_mov_b32       exec_lo, -1
        buffer_store_b32 v2, v1, s[12:15], null offen // expect: init
        .include        "end.s"
