// SPDX-License-Identifier: MIT
// LDS operations land in order, stores among them: 1 outstanding is the last one.
// run: gfx=gfx1100,gfx1151,gfx1201 lds=256
        .include        "begin.s"
        ds_store_b32    v1, v0
        ds_load_b32     v2, v1
.if !BUG
        ds_load_b32     v4, v1
.endif
        ds_load_b32     v3, v1
        wait_lds        1
        v_add_nc_u32    v5, v2, v0
.if BUG
        v_add_nc_u32    v5, v3, v0 // expect: wait
.else
        v_add_nc_u32    v5, v4, v0
.endif
        .include        "end.s"
