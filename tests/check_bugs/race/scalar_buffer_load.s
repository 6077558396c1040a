// SPDX-License-Identifier: MIT
// A scalar buffer load of what another wave stored, with no barrier between.
// run: gfx=gfx1151,gfx1201 block=64
        .include        "begin.s"
        buffer          12, 4, 64
        v_mov_b32       v2, 8
        s_cmp_eq_u32    s10, 0
        s_cbranch_scc0  .Lread
        s_mov_b32       exec_lo, 1
        global_store_b32 v2, v0, s[4:5]
        s_mov_b32       exec_lo, -1
        wait_stores
.Lread:
.if !BUG
        barrier
.endif
        s_buffer_load_b128 s[16:19], s[12:15], 0x0 // expect: race
        wait_scalar
        v_mov_b32       v3, s18
        global_store_b32 v1, v3, s[6:7]
        .include        "end.s"
