// SPDX-License-Identifier: MIT
// Each workgroup waits for the flag of the one before it and reads its value (decoupled look-back);
// the bug sets the flag before the value.
// run: gfx=gfx1100,gfx1151,gfx1201 groups=5
        .include        "begin.s"
        s_mov_b32       exec_lo, 1
        v_mov_b32       v2, 0x7fff              // what a flag that is set holds
        s_lshl_b32      s11, s9, 3
        v_mov_b32       v3, s11                 // flag of this workgroup, its value 4 bytes on
        v_mov_b32       v5, s9
        s_cmp_eq_u32    s9, 0
        s_cbranch_scc1  .Lstore
.Llook:
.if GFX12
        global_load_b32 v4, v3, s[4:5] offset:-8 scope:SCOPE_DEV
.else
        global_load_b32 v4, v3, s[4:5] offset:-8 glc
.endif
        wait_loads
        v_cmp_ne_u32    vcc_lo, v2, v4
        s_cbranch_vccnz .Llook
        invalidate
        global_load_b32 v5, v3, s[4:5] offset:-4 // expect: race
        wait_loads
        v_add_nc_u32    v5, s9, v5
.Lstore:
.if BUG
        global_store_b32 v3, v2, s[4:5]
        global_store_b32 v3, v5, s[4:5] offset:4
.else
        global_store_b32 v3, v5, s[4:5] offset:4
        wait_stores
        global_store_b32 v3, v2, s[4:5]
.endif
        .include        "end.s"
