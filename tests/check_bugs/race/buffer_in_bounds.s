// SPDX-License-Identifier: MIT
// Stores out of a buffer's bounds don't happen, and are no race: only dwords in bounds count.
// run: gfx=gfx1151,gfx1201 block=64
        .include        "begin.s"
        buffer          12, 4, 512 + 4 * BUG
        v_lshlrev_b32   v2, 4, v0
        v_mov_b32       v3, s10
        v_mov_b32       v4, 0
        v_lshlrev_b32   v5, 4, v0
        v_and_b32       v5, 0x1f0, v5
        v_mov_b32       v6, s10
        v_mov_b32       v7, s10
        v_mov_b32       v8, s10
        s_cmp_eq_u32    s10, 0
        s_cbranch_scc0  .Lsecond
        v_add_nc_u32    v5, 16, v5 // 16 to 528: the last lane's first dword is at 512
        buffer_store_b128 v[5:8], v5, s[12:15], null offen
        s_endpgm
.Lsecond:
        s_mov_b32       exec_lo, 1
        v_mov_b32       v5, 0x200
        global_store_b32 v5, v3, s[4:5] // expect: race unordered
        .include        "end.s"
