// SPDX-License-Identifier: MIT
// Two waves store bytes of the same dwords: the twin's bytes are neighbours, the bug's are the same.
// run: gfx=gfx1151,gfx1201 block=64 lds=64
        .include        "begin.s"
        v_and_b32       v2, 31, v0
        v_lshlrev_b32   v2, 1, v2
.if !BUG
        v_add_nc_u32    v2, s10, v2             // wave 1 has the odd bytes
.endif
        ds_store_b8     v2, v0 // expect: race
        .include        "end.s"
