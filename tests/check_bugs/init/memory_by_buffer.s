// SPDX-License-Identifier: MIT
// A buffer load takes four dwords, the last of which nobody has written.
// run: gfx=gfx1100,gfx1151,gfx1201 written=2048
        .include        "begin.s"
        buffer          12, 6, 4096
        v_cmp_eq_u32    vcc_lo, 0, v0
        s_and_b32       exec_lo, exec_lo, vcc_lo
        v_mov_b32       v8, 2036
        buffer_load_b128 v[2:5], v8, s[12:15], null offen
        wait_loads
.if BUG
        v_mov_b32       v2, v5
.endif
        global_store_b32 v1, v2, s[4:5] // expect: init
        .include        "end.s"
