// SPDX-License-Identifier: MIT
// Records of 8 bytes in a swizzled buffer: dword 1 of record 0 is 32 bytes on, not 4.
// run: gfx=gfx1151,gfx1201 block=64
        .include        "begin.s"
        buffer          12, 4, 8, 8, 1
        v_mov_b32       v2, 0
        v_mov_b32       v4, s10
        v_mov_b32       v5, s10
        v_mov_b32       v6, 4 + 28 * BUG
        s_mov_b32       exec_lo, 1
        s_cmp_eq_u32    s10, 0
        s_cbranch_scc0  .Lsecond
        buffer_store_b64 v[4:5], v2, s[12:15], null idxen
        s_endpgm
.Lsecond:
        global_store_b32 v6, v4, s[4:5] // expect: race unordered
        .include        "end.s"
