// SPDX-License-Identifier: MIT
// Two counters in one wait: the load may still be outstanding, only LDS may not.
// run: gfx=gfx1200,gfx1201 lds=256
        .include        "begin.s"
        ds_store_b32    v1, v0
        global_load_b32 v2, v1, s[4:5]
        ds_load_b32     v3, v1
        s_wait_loadcnt_dscnt BUG << 8 // loadcnt[13:8] dscnt[5:0]
        v_add_nc_u32    v4, 1, v3
        v_add_nc_u32    v5, 1, v2 // expect: wait
        .include        "end.s"
