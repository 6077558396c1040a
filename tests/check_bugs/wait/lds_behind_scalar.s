// SPDX-License-Identifier: MIT
// gfx11 counts LDS and scalar loads together: the one that is left may be the older LDS load.
// run: gfx=gfx1100,gfx1151 lds=1024
        .include        "begin.s"
        ds_store_b32    v1, v0
        wait_lds
        ds_load_b32     v2, v1
        s_load_b32      s12, s[4:5], 0x0
.if BUG
        s_waitcnt       lgkmcnt(1)
.else
        s_waitcnt       lgkmcnt(0)
.endif
        v_add_nc_u32    v3, v2, v0 // expect: wait
        global_store_b32 v1, v3, s[6:7]
        .include        "end.s"
