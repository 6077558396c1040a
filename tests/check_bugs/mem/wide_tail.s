// SPDX-License-Identifier: MIT
// 16 bytes per lane, of which the last lane has only 12.
// run: gfx=gfx1151,gfx1201 bytes=508
        .include        "begin.s"
        v_lshlrev_b32   v1, 4, v0
.if !BUG
        v_min_u32       v1, 0x1ec, v1           // the last 16 bytes
.endif
        global_load_b128 v[4:7], v1, s[4:5] // expect: mem out_of_bounds
        wait_loads
        .include        "end.s"
