// SPDX-License-Identifier: MIT
// A register that nothing has written goes to memory.
// run: gfx=gfx1151,gfx1201
        .include        "begin.s"
.if !BUG
        v_mov_b32       v2, 0
.endif
        v_add_nc_u32    v3, v2, v0
        global_store_b32 v1, v3, s[4:5] // expect: init
        .include        "end.s"
