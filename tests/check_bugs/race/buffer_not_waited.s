// SPDX-License-Identifier: MIT
// A buffer store that the barrier doesn't wait for.
// run: gfx=gfx1100,gfx1151,gfx1201 block=64
        .include        "begin.s"
        buffer          12, 4, 4096
        v_xor_b32       v2, 0x80, v1
        buffer_store_b32 v0, v1, s[12:15], null offen
.if !BUG
        wait_stores
.endif
        barrier
        buffer_load_b32 v3, v2, s[12:15], null offen // expect: race not_waited
        wait_loads
        .include        "end.s"
