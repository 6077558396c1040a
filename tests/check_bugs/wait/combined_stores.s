// SPDX-License-Identifier: MIT
// The combined wait for stores says nothing about loads.
// run: gfx=gfx1200,gfx1201 lds=256
        .include        "begin.s"
        ds_store_b32    v1, v0
        global_load_b32 v2, v1, s[4:5]
        ds_load_b32     v3, v1
.if BUG
        s_wait_storecnt_dscnt 0
.else
        s_wait_loadcnt_dscnt 0
.endif
        v_add_nc_u32    v4, v3, v0
        v_add_nc_u32    v5, v2, v0 // expect: wait
        .include        "end.s"
