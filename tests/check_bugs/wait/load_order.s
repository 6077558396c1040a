// SPDX-License-Identifier: MIT
// H-010: on gfx12 two loads return in any order, so the first may land last.
// run: gfx=gfx1200,gfx1201
        .include        "begin.s"
        global_load_b32 v2, v1, s[4:5]
.if !BUG
        wait_loads
.endif
        global_load_b32 v2, v1, s[4:5] offset:4 // expect: wait
        wait_loads
        global_store_b32 v1, v2, s[6:7]
        .include        "end.s"
