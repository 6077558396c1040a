// SPDX-License-Identifier: MIT
// H-006: the result of a matrix instruction is an input of the next.
// run: gfx=gfx1100,gfx1151
        .include        "begin.s"
.irp    n, 8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23
        v_mov_b32       v\n, 0
.endr
        v_wmma_f32_16x16x16_f16 v[8:15], v[16:23], v[16:23], v[8:15]
.if !BUG
        v_nop
.endif
        v_wmma_f32_16x16x16_f16 v[24:31], v[8:15], v[16:23], 0 // expect: wait
        global_store_b32 v1, v24, s[6:7]
        .include        "end.s"
