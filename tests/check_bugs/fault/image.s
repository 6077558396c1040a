// SPDX-License-Identifier: MIT
// Images are not part of what is simulated.
// run: gfx=gfx1151,gfx1201
        .include        "begin.s"
        v_mov_b32       v4, 0
        v_mov_b32       v5, 0
.if BUG
        image_load      v[0:3], [v4, v5], s[16:23] dmask:0xf dim:SQ_RSRC_IMG_2D // expect: fault illegal_instruction
.endif
        .include        "end.s"
