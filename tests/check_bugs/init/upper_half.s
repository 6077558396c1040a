// SPDX-License-Identifier: MIT
// A 16-bit load leaves the upper half alone, and all 32 bits are stored.
// run: gfx=gfx1151,gfx1201
        .include        "begin.s"
        global_load_d16_b16 v2, v1, s[4:5]
        wait_loads
.if BUG
        global_store_b32 v1, v2, s[6:7] // expect: init
.else
        global_store_b16 v1, v2, s[6:7]
.endif
        .include        "end.s"
