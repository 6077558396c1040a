// SPDX-License-Identifier: MIT
// Scalar loads return in any order: one outstanding says nothing about which.
// run: gfx=gfx1100,gfx1151,gfx1201
        .include        "begin.s"
        s_load_b32      s12, s[4:5], 0x0
        s_load_b32      s13, s[4:5], 0x4
.if BUG
.if GFX12
        s_wait_kmcnt    1
.else
        s_waitcnt       lgkmcnt(1)
.endif
.else
        wait_scalar
.endif
        v_add_nc_u32    v3, s12, v0 // expect: wait
        wait_scalar
        global_store_b32 v1, v3, s[6:7]
        .include        "end.s"
