// SPDX-License-Identifier: MIT
// A coordinate of an image store is never written; components that the format lacks needn't be.
// run: gfx=gfx1100,gfx1151,gfx1201
        .include        "begin.s"
        .include        "image.s"
        // 64 x 1 texels of f32 at b
        image_at        6, 7
.if !BUG
        v_mov_b32       v3, 0
.endif
        v_mov_b32       v4, 1.0
        s_cmp_lg_u32    s4, s4                                  // never: a path that the lint sees
        s_cbranch_scc0  L_store
        v_mov_b32       v5, 0
        v_mov_b32       v6, 0
        v_mov_b32       v7, 0
L_store:
        image_store     v[4:7], [v0, v3], s[12:19] dmask:0xf dim:SQ_RSRC_IMG_2D // expect: init
        .include        "end.s"
