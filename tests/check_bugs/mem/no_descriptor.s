// SPDX-License-Identifier: MIT
// A descriptor that was never loaded: the pointer to it is passed for it. One of all zeros is legal,
// loads through it are 0.
// run: gfx=gfx1151,gfx1201
        .include        "begin.s"
        s_mov_b64       s[12:13], 0
        s_mov_b64       s[14:15], 0
.if BUG
        s_mov_b32       s13, 0x12340000
        s_mov_b32       s14, 64
        s_mov_b32       s15, 0x30016fac
.endif
        buffer_load_b32 v2, v1, s[12:15], null offen // expect: mem null_pointer
        .include        "end.s"
