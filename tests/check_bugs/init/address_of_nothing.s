// SPDX-License-Identifier: MIT
// A register that nothing has written is an address.
// run: gfx=gfx1151,gfx1201
        .include        "begin.s"
.if !BUG
        v_mov_b32       v2, 0
.endif
        v_and_b32       v2, 0x7c, v2
        global_load_b32 v3, v2, s[4:5] // expect: init
        wait_loads
        .include        "end.s"
