// SPDX-License-Identifier: MIT
// Workgroups count in memory under a lock; the bug gives it back before the count has arrived.
// run: gfx=gfx1100,gfx1151,gfx1201 groups=6
        .include        "begin.s"
        s_mov_b32       exec_lo, 1
        v_mov_b32       v3, 0
        v_mov_b32       v4, 1                   // taken
        v_mov_b32       v5, 0                   // free
.Ltake:
.if GFX12
        global_atomic_cmpswap_b32 v6, v3, v[4:5], s[4:5] th:TH_ATOMIC_RETURN scope:SCOPE_DEV
.else
        global_atomic_cmpswap_b32 v6, v3, v[4:5], s[4:5] glc
.endif
        wait_loads
        v_cmp_ne_u32    vcc_lo, 0, v6
        s_cbranch_vccnz .Ltake
        invalidate
        global_load_b32 v7, v3, s[4:5] offset:128 // expect: race not_waited
        wait_loads
        v_add_nc_u32    v7, 1, v7
        global_store_b32 v3, v7, s[4:5] offset:128
.if !BUG
        wait_stores
.endif
.if GFX12
        global_store_b32 v3, v5, s[4:5] scope:SCOPE_DEV
.else
        global_store_b32 v3, v5, s[4:5]
.endif
        .include        "end.s"
