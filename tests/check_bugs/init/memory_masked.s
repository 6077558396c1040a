// SPDX-License-Identifier: MIT
// Bytes that nobody has written are part of the load; the bug lets them decide.
// run: gfx=gfx1100,gfx1151,gfx1201 written=2048
        .include        "begin.s"
        v_lshlrev_b32   v4, 3, v0
        v_add_nc_u32    v4, 2044, v4
        v_cmp_eq_u32    vcc_lo, 0, v0
        s_and_b32       exec_lo, exec_lo, vcc_lo // the first lane: bytes 2044 to 2051
        global_load_b64 v[2:3], v4, s[6:7]
        wait_loads
.if BUG
        v_mov_b32       v2, v3
.endif
        global_store_b32 v1, v2, s[4:5] // expect: init
        .include        "end.s"
