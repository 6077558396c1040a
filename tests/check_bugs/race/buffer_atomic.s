// SPDX-License-Identifier: MIT
// Both waves count through a buffer; one of them also stores a plain 0 there.
// run: gfx=gfx1151,gfx1201 block=64
        .include        "begin.s"
        buffer          12, 4, 64
        v_mov_b32       v2, 1
        v_mov_b32       v3, 0
        s_mov_b32       exec_lo, 1
        s_cmp_eq_u32    s10, 0
        s_cbranch_scc0  .Lcount
        buffer_store_b32 v3, off, s[12:15], null offset:4
        wait_stores
.Lcount:
.if !BUG
        barrier
.endif
        buffer_atomic_add_u32 v2, off, s[12:15], null offset:4 // expect: race unordered
        .include        "end.s"
