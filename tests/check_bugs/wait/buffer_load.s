// SPDX-License-Identifier: MIT
// A buffer load's result is read while the load is in flight.
// run: gfx=gfx1100,gfx1151,gfx1201
        .include        "begin.s"
        buffer          12, 4, 4096
        buffer_load_b64 v[2:3], v1, s[12:15], null offen
.if !BUG
        wait_loads
.endif
        v_add_nc_u32    v4, 1, v3 // expect: wait
        .include        "end.s"
