// SPDX-License-Identifier: MIT
// The store to memory may still be on its way when the barrier lets the reader go.
// run: gfx=gfx1151,gfx1201 block=64
        .include        "begin.s"
        v_xor_b32       v2, 0x80, v1
        global_store_b32 v1, v0, s[4:5]
.if !BUG
        wait_stores
.endif
        barrier
        global_load_b32 v3, v2, s[4:5] // expect: race not_waited
        wait_loads
        global_store_b32 v1, v3, s[6:7]
        .include        "end.s"
