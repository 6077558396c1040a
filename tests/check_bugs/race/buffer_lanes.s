// SPDX-License-Identifier: MIT
// Without an offset all lanes of a buffer store mean the same place.
// run: gfx=gfx1151,gfx1201
        .include        "begin.s"
        buffer          12, 4, 256
        v_mov_b32       v2, 7
.if BUG
        buffer_store_b32 v0, off, s[12:15], null // expect: race lanes
.else
        buffer_store_b32 v2, off, s[12:15], null
.endif
        .include        "end.s"
