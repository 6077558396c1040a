// SPDX-License-Identifier: MIT
// A wave reads global memory that another wave of its workgroup wrote, with no barrier between.
// run: gfx=gfx1151,gfx1201 block=64
        .include        "begin.s"
        v_xor_b32       v2, 0x80, v1
        global_store_b32 v1, v0, s[4:5]
        wait_stores
.if !BUG
        barrier
.endif
        global_load_b32 v3, v2, s[4:5] // expect: race
        wait_loads
        global_store_b32 v1, v3, s[6:7]
        .include        "end.s"
