// SPDX-License-Identifier: MIT
// A coordinate of an image store is never written.
// run: gfx=gfx1100,gfx1151,gfx1201
        .include        "begin.s"
        // 64 x 1 texels of f32 at b
        s_lshr_b64      s[12:13], s[6:7], 8
        s_or_b32        s13, s13, 3 << 30
.if GFX12
        s_or_b32        s13, s13, 22 << 17
.else
        s_or_b32        s13, s13, 22 << 20
.endif
        s_mov_b32       s14, 15
        s_mov_b32       s15, 9 << 28 | 0x204
        s_mov_b32       s16, 63
        s_mov_b32       s17, 0
        s_mov_b32       s18, 0
        s_mov_b32       s19, 0
.if !BUG
        v_mov_b32       v3, 0
.endif
        v_mov_b32       v4, 1.0
        image_store     v4, [v0, v3], s[12:19] dmask:0x1 dim:SQ_RSRC_IMG_2D // expect: init
        .include        "end.s"
