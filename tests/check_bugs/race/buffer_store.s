// SPDX-License-Identifier: MIT
// Two waves store through a buffer, the second to memory that the first one reads.
// run: gfx=gfx1100,gfx1151,gfx1201 block=64
        .include        "begin.s"
        buffer          12, 4, 256
        v_xor_b32       v2, 0x80, v1
        buffer_store_b32 v0, v1, s[12:15], null offen
        wait_stores
.if !BUG
        barrier
.endif
        buffer_load_b32 v3, v2, s[12:15], null offen // expect: race unordered
        wait_loads
        .include        "end.s"
