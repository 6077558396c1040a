// SPDX-License-Identifier: MIT
// H-028: a load of one half may write the whole register, so the other half must not be written meanwhile.
// run: gfx=gfx1100,gfx1151
        .include        "begin.s"
        v_mov_b32       v2, 0
        global_load_d16_b16 v2, v1, s[4:5]
.if !BUG
        wait_loads
.endif
        v_mov_b16       v2.h, 1 // expect: wait
        wait_loads
        global_store_b32 v1, v2, s[6:7]
        .include        "end.s"
