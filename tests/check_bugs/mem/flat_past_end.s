// SPDX-License-Identifier: MIT
// A flat store behind the buffer.
// run: gfx=gfx1151,gfx1201 bytes=128
        .include        "begin.s"
        v_add_co_u32    v2, vcc_lo, s4, v1
        v_mov_b32       v4, s5
        v_add_co_ci_u32 v3, vcc_lo, 0, v4, vcc_lo
.if BUG
        flat_store_b32  v[2:3], v0 offset:4 // expect: mem out_of_bounds
.else
        flat_store_b32  v[2:3], v0
.endif
        .include        "end.s"
