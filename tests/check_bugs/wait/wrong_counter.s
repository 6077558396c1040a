// SPDX-License-Identifier: MIT
// The wait is for LDS, the load comes from memory.
// run: gfx=gfx1151,gfx1201 lds=256
        .include        "begin.s"
        global_load_b32 v2, v1, s[4:5]
.if BUG
        wait_lds
.else
        wait_loads
.endif
        v_add_nc_u32    v2, 1, v2 // expect: wait
        .include        "end.s"
