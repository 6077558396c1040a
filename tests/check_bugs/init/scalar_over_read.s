// SPDX-License-Identifier: MIT
// A scalar load of four dwords from a buffer of three, as compilers widen it: only the fourth dword
// must not be used.
// run: gfx=gfx1100,gfx1151,gfx1201 bytes=12
        .include        "begin.s"
        s_load_b128     s[12:15], s[4:5], 0x0
        wait_scalar
        v_mov_b32       v2, s[14 + BUG]
        v_mov_b32       v3, 0
        global_store_b32 v3, v2, s[6:7] // expect: init
        .include        "end.s"
