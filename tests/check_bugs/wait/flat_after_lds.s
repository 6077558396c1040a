// SPDX-License-Identifier: MIT
// H-010: once nothing of a flat atomic can come from LDS, a load from memory lands after it.
// run: gfx=gfx1100,gfx1151
        .include        "begin.s"
        v_mov_b32       v2, s4
        v_mov_b32       v3, s5
        v_mov_b32       v4, 7
        v_mov_b32       v5, 0
        flat_atomic_inc_u64 v[4:5], v[2:3], v[4:5] glc
.if !BUG
        wait_lds
.endif
        global_load_b32 v4, v1, s[4:5] // expect: wait
        wait_loads
        global_store_b32 v1, v4, s[6:7]
        .include        "end.s"
