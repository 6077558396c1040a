// SPDX-License-Identifier: MIT
// A flat load counts as a load and as LDS: both must have come back.
// run: gfx=gfx1100,gfx1151,gfx1201
        .include        "begin.s"
        v_add_co_u32    v2, vcc_lo, s4, v1
        v_mov_b32       v3, s5
.if GFX12
        s_wait_alu      depctr_va_vcc(0)
.endif
        v_add_co_ci_u32 v3, vcc_lo, 0, v3, vcc_lo
        flat_load_b32   v4, v[2:3]
        wait_loads
.if !BUG
        wait_lds
.endif
        v_add_nc_u32    v4, v4, v0 // expect: wait
        global_store_b32 v1, v4, s[6:7]
        .include        "end.s"
