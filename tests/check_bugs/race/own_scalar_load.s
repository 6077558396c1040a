// SPDX-License-Identifier: MIT
// A scalar load may read the value of a later store of its own wave, until it has been waited for.
// run: gfx=gfx1100,gfx1151,gfx1201
        .include        "begin.s"
        s_load_b32      s11, s[4:5], 0x0
.if !BUG
        wait_scalar
.endif
        global_store_b32 v1, v0, s[4:5] // expect: race own_access
        wait_scalar
        v_mov_b32       v2, s11
        global_store_b32 v1, v2, s[6:7]
        .include        "end.s"
