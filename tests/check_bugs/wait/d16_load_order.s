// SPDX-License-Identifier: MIT
// H-010, H-028: gfx12's loads of two halves land in any order. Those from LDS, as in the clean twin, land in the order of issue.
// run: gfx=gfx1200,gfx1201 lds=256
        .include        "begin.s"
        ds_store_b32    v1, v0
        wait_lds
        v_mov_b32       v2, 0
.if BUG
        global_load_d16_b16 v2, v1, s[4:5]
        global_load_d16_hi_b16 v2, v1, s[4:5] // expect: wait
.else
        ds_load_u16_d16 v2, v1
        ds_load_u16_d16_hi v2, v1
.endif
        wait_loads
        wait_lds
        global_store_b32 v1, v2, s[6:7]
        .include        "end.s"
