// SPDX-License-Identifier: MIT
// The wait before the barrier is for loads, and stores have a counter of their own.
// run: gfx=gfx1100,gfx1151,gfx1201 block=64
        .include        "begin.s"
        v_xor_b32       v2, 0x80, v1
        global_store_b32 v1, v0, s[4:5]
.if BUG
        wait_loads
.else
        wait_stores
.endif
        barrier
        global_load_b32 v3, v2, s[4:5] // expect: race not_waited
        wait_loads
        .include        "end.s"
