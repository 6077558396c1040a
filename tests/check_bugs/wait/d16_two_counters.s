// SPDX-License-Identifier: MIT
// H-028: a half from memory and a half from LDS are not in one order.
// run: gfx=gfx1100,gfx1151,gfx1201 lds=256
        .include        "begin.s"
        ds_store_b32    v1, v0
        wait_lds
        v_mov_b32       v2, 0
        global_load_d16_b16 v2, v1, s[4:5]
.if !BUG
        wait_loads
.endif
        ds_load_u16_d16_hi v2, v1 // expect: wait
        wait_loads
        wait_lds
        global_store_b32 v1, v2, s[6:7]
        .include        "end.s"
