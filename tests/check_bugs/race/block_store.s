// SPDX-License-Identifier: MIT
// A block store writes the registers that M0 names, each to its own place.
// run: gfx=gfx1200,gfx1201 block=64 bytes=8192
        .include        "begin.s"
        v_lshlrev_b32   v2, 7, v0
        v_and_b32       v2, 0xf80, v2 // each lane's 128 bytes, the same in both waves
.irp    n, 8,9,10,11
        v_mov_b32       v\n, s10
.endr
        s_lshl_b32      m0, 1, s10 // register 0 or register 1
.if BUG
        s_or_b32        m0, m0, 2
.endif
        global_store_block v2, v[8:39], s[4:5] // expect: race unordered
        .include        "end.s"
