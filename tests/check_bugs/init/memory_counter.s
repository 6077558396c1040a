// SPDX-License-Identifier: MIT
// A counter in memory was never cleared: what an atomic returns is an address.
// run: gfx=gfx1100,gfx1151,gfx1201 written=2048
        .include        "begin.s"
.if GFX12
.macro add_counter offset
        global_atomic_add_u32 v3, v1, v2, s[6:7] offset:\offset th:TH_ATOMIC_RETURN
.endm
.else
.macro add_counter offset
        global_atomic_add_u32 v3, v1, v2, s[6:7] offset:\offset glc
.endm
.endif
        v_mov_b32       v2, 4
.if BUG
        add_counter     2048
.else
        add_counter     1024
.endif
        wait_loads
        v_and_b32       v3, 0x7c, v3
        global_store_b32 v3, v2, s[4:5] // expect: init
        .include        "end.s"
