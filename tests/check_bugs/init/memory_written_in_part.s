// SPDX-License-Identifier: MIT
// Of four bytes, a kernel has written three; the fourth is part of the value.
// run: gfx=gfx1100,gfx1151,gfx1201 written=2048
        .include        "begin.s"
        global_store_b16 v1, v0, s[6:7] offset:2048
        global_store_b8 v1, v0, s[6:7] offset:2050
.if !BUG
        global_store_b8 v1, v0, s[6:7] offset:2051
.endif
        wait_stores
        global_load_b32 v2, v1, s[6:7] offset:2048
        wait_loads
        global_store_b32 v1, v2, s[4:5] // expect: init
        .include        "end.s"
