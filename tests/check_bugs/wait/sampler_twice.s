// SPDX-License-Identifier: MIT
// H-010: gfx11.5 may do a sample as a plain load, so two samples return in no order, either.
// run: gfx=gfx1150,gfx1151
        .include        "begin.s"
        .include        "image.s"
        image_at        4, 5
        s_mov_b32       s20, 1 << 15 | 2 | 2 << 3 | 2 << 6
        s_mov_b32       s21, 0
        s_mov_b32       s22, 0
        s_mov_b32       s23, 0
        v_cvt_f32_u32   v2, v0
        v_mov_b32       v3, 0
        image_sample_lz v4, [v2, v3], s[12:19], s[20:23] dmask:0x1 dim:SQ_RSRC_IMG_2D
.if !BUG
        wait_loads
.endif
        image_sample_lz v4, [v2, v3], s[12:19], s[20:23] dmask:0x1 dim:SQ_RSRC_IMG_2D // expect: wait
        wait_loads
        global_store_b32 v1, v4, s[6:7]
        .include        "end.s"
