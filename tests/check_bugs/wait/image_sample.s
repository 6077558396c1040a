// SPDX-License-Identifier: MIT
// A sample's result is read while the sample is in flight: on gfx12 it has a counter of its own.
// run: gfx=gfx1100,gfx1151,gfx1201
        .include        "begin.s"
        .include        "image.s"
        // 64 x 1 texels of f32 at a, unnormalized coordinates
        image_at        4, 5
        s_mov_b32       s20, 1 << 15 | 2 | 2 << 3 | 2 << 6
        s_mov_b32       s21, 0
        s_mov_b32       s22, 0
        s_mov_b32       s23, 0
        v_cvt_f32_u32   v2, v0
        v_mov_b32       v3, 0
        image_sample_lz v4, [v2, v3], s[12:19], s[20:23] dmask:0x1 dim:SQ_RSRC_IMG_2D
.if BUG || !GFX12
        wait_loads
.endif
.if GFX12 && !BUG
        s_wait_samplecnt 0
.endif
.if !GFX12 && BUG
        image_sample_lz v4, [v2, v3], s[12:19], s[20:23] dmask:0x1 dim:SQ_RSRC_IMG_2D
.endif
        v_add_nc_u32    v4, 1, v4 // expect: wait
        .include        "end.s"
