// SPDX-License-Identifier: MIT
// A register is written while a load into it is in flight: the load comes later and wins.
// run: gfx=gfx1100,gfx1151,gfx1201
        .include        "begin.s"
        global_load_b32 v2, v1, s[4:5]
.if !BUG
        wait_loads
.endif
        v_mov_b32       v2, 0 // expect: wait
        wait_loads
        .include        "end.s"
