// SPDX-License-Identifier: MIT
// Neighbouring lanes share a word of LDS, with values that agree only in the twin.
// run: gfx=gfx1100,gfx1201 lds=128
        .include        "begin.s"
        v_and_b32       v2, ~7, v1
.if BUG
        v_mov_b32       v3, v0
.else
        v_lshrrev_b32   v3, 1, v0
.endif
        ds_store_b32    v2, v3 // expect: race lanes
        .include        "end.s"
