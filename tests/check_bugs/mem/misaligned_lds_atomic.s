// SPDX-License-Identifier: MIT
// So must those in LDS.
// run: gfx=gfx1151,gfx1201 lds=256
        .include        "begin.s"
        v_mov_b32       v3, 1
.if BUG
        v_add_nc_u32    v1, 1, v1
.endif
        ds_max_u32      v1, v3 // expect: mem misaligned
        .include        "end.s"
