// SPDX-License-Identifier: MIT
// Atomics must be aligned to their size.
// run: gfx=gfx1151,gfx1201
        .include        "begin.s"
        v_mov_b32       v3, 1
.if BUG
        v_add_nc_u32    v1, 2, v1
.endif
        global_atomic_add_u32 v1, v3, s[4:5] // expect: mem misaligned
        .include        "end.s"
