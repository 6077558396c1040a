// SPDX-License-Identifier: MIT
// gfx12 loads scalar bytes; the next byte is nobody's concern.
// run: gfx=gfx1200,gfx1201 block=64
        .include        "begin.s"
        v_mov_b32       v2, 1
        s_cmp_eq_u32    s10, 0
        s_cbranch_scc0  .Lread
        s_mov_b32       exec_lo, 1
        global_store_b8 v2, v0, s[4:5]
        s_mov_b32       exec_lo, -1
        wait_stores
.Lread:
        s_load_u8       s11, s[4:5], BUG // expect: race
        wait_scalar
        .include        "end.s"
