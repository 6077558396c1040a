// SPDX-License-Identifier: MIT
// A loaded register is read while the load is in flight.
// run: gfx=gfx1100,gfx1151,gfx1201
        .include        "begin.s"
        global_load_b32 v2, v1, s[4:5]
.if !BUG
        wait_loads
.endif
        v_add_nc_u32    v3, v2, v0 // expect: wait
        global_store_b32 v1, v3, s[6:7]
        .include        "end.s"
