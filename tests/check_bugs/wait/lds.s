// SPDX-License-Identifier: MIT
// A load from LDS is used before it is there.
// run: gfx=gfx1100,gfx1151,gfx1201 lds=256
        .include        "begin.s"
        ds_store_b32    v1, v0
        ds_load_b32     v2, v1
.if !BUG
        wait_lds
.endif
        v_add_nc_u32    v2, 1, v2 // expect: wait
        .include        "end.s"
