// SPDX-License-Identifier: MIT
// Images of several samples are not simulated.
// run: gfx=gfx1151,gfx1201
        .include        "begin.s"
        v_mov_b32       v4, 0
        v_mov_b32       v5, 0
.if BUG
        image_msaa_load v[0:3], [v4, v5, v4], s[16:23] dmask:0x1 dim:SQ_RSRC_IMG_2D_MSAA // expect: fault illegal_instruction
.endif
        .include        "end.s"
