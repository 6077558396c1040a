// SPDX-License-Identifier: MIT
// Exchanges between lanes go through LDS's counter, though they touch no LDS.
// run: gfx=gfx1100,gfx1151,gfx1201
        .include        "begin.s"
        ds_bpermute_b32 v2, v1, v0
.if BUG
        wait_loads
.else
        wait_lds
.endif
        v_add_nc_u32    v3, v2, v0 // expect: wait
        .include        "end.s"
