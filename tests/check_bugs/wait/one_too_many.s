// SPDX-License-Identifier: MIT
// Two loads, and a wait that lets the second one be outstanding.
// run: gfx=gfx1100,gfx1151,gfx1201
        .include        "begin.s"
        global_load_b32 v2, v1, s[4:5]
        global_load_b32 v3, v1, s[6:7]
.if BUG
        wait_loads      1
.else
        wait_loads      0
.endif
        v_add_nc_u32    v2, 1, v2
        v_add_nc_u32    v3, 1, v3 // expect: wait
        .include        "end.s"
