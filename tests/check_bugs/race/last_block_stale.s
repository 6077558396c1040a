// SPDX-License-Identifier: MIT
// Workgroups leave partial sums; the last one to count itself reads them all. The bug forgets
// that its caches may hold old data.
// run: gfx=gfx1100,gfx1151,gfx1201 groups=4
        .include        "begin.s"
        s_lshl_b32      s11, s9, 7
        v_add_nc_u32    v2, s11, v1
        global_store_b32 v2, v0, s[4:5] offset:64
        wait_stores
        v_mov_b32       v3, 0
        v_mov_b32       v4, 1
        s_mov_b32       exec_lo, 1
.if GFX12
        global_atomic_add_u32 v5, v3, v4, s[4:5] th:TH_ATOMIC_RETURN scope:SCOPE_DEV
.else
        global_atomic_add_u32 v5, v3, v4, s[4:5] glc
.endif
        wait_loads
        v_readfirstlane_b32 s12, v5
        s_mov_b32       exec_lo, -1
        s_cmp_eq_u32    s12, 3
        s_cbranch_scc0  .Lnot_last
.if !BUG
        invalidate
.endif
        global_load_b32 v6, v1, s[4:5] offset:64 // expect: race stale_cache
        global_load_b32 v7, v1, s[4:5] offset:192
        global_load_b32 v8, v1, s[4:5] offset:320
        wait_loads
        v_add3_u32      v6, v6, v7, v8
        global_store_b32 v1, v6, s[6:7]
.Lnot_last:
        .include        "end.s"
