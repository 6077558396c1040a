// SPDX-License-Identifier: MIT
// A cooperative grid: all workgroups count themselves and wait until all have; then each reads what
// its neighbour stored. The bug doesn't wait.
// run: gfx=gfx1100,gfx1151,gfx1201 groups=4 cooperative=1
        .include        "begin.s"
        s_lshl_b32      s11, s9, 7
        v_add_nc_u32    v2, s11, v1
        global_store_b32 v2, v0, s[4:5] offset:128
        wait_stores
        v_mov_b32       v3, 0
        v_mov_b32       v4, 1
        s_mov_b32       exec_lo, 1
.if GFX12
        global_atomic_add_u32 v3, v4, s[4:5] scope:SCOPE_DEV
.else
        global_atomic_add_u32 v3, v4, s[4:5]
.endif
.if !BUG
.Lwait:
.if GFX12
        global_load_b32 v5, v3, s[4:5] scope:SCOPE_DEV
.else
        global_load_b32 v5, v3, s[4:5] glc
.endif
        wait_loads
        v_cmp_gt_u32    vcc_lo, 4, v5
        s_cbranch_vccnz .Lwait
.endif
        invalidate
        s_mov_b32       exec_lo, -1
        v_xor_b32       v2, 0x80, v2
        global_load_b32 v6, v2, s[4:5] offset:128 // expect: race
        wait_loads
        global_store_b32 v2, v6, s[6:7]
        .include        "end.s"
