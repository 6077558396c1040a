// SPDX-License-Identifier: MIT
// H-011: on gfx12 a system-scope store waits for all that came before.
// run: gfx=gfx1200,gfx1201
        .include        "begin.s"
        global_load_b32 v2, v1, s[4:5]
.if !BUG
        wait_loads
.endif
        global_store_b32 v1, v0, s[6:7] scope:SCOPE_SYS // expect: wait
        wait_loads
        .include        "end.s"
