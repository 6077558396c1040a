// SPDX-License-Identifier: MIT
// The counter of finished workgroups is updated by a load and a store instead of an atomic.
// run: gfx=gfx1151,gfx1201 groups=4
        .include        "begin.s"
        v_mov_b32       v3, 0
        v_mov_b32       v4, 1
        s_mov_b32       exec_lo, 1
.if BUG
        global_load_b32 v5, v3, s[4:5] // expect: race
        wait_loads
        v_add_nc_u32    v5, 1, v5
        global_store_b32 v3, v5, s[4:5]
.else
        global_atomic_add_u32 v3, v4, s[4:5]
.endif
        .include        "end.s"
