// SPDX-License-Identifier: MIT
// An atomic through a buffer must be aligned, too.
// run: gfx=gfx1151,gfx1201
        .include        "begin.s"
        buffer          12, 4, 4096
        v_mov_b32       v2, 1
        buffer_atomic_add_u32 v2, v1, s[12:15], null offen offset:4 - 2 * BUG // expect: mem misaligned
        .include        "end.s"
