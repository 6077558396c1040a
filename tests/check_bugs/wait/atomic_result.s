// SPDX-License-Identifier: MIT
// An atomic's result is used before it has arrived.
// run: gfx=gfx1151,gfx1201
        .include        "begin.s"
        v_mov_b32       v3, 1
.if GFX12
        global_atomic_add_u32 v2, v1, v3, s[4:5] th:TH_ATOMIC_RETURN
.else
        global_atomic_add_u32 v2, v1, v3, s[4:5] glc
.endif
.if !BUG
        wait_loads
.endif
        v_add_nc_u32    v2, 1, v2 // expect: wait
        .include        "end.s"
