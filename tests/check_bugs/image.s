// SPDX-License-Identifier: MIT
// s[12:19] = the descriptor of an image of 64 x 1 texels of f32 at s[\low:\high] (S-081).
.macro image_at low, high
        s_lshr_b64      s[12:13], s[\low:\high], 8
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
.endm
