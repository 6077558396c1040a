// SPDX-License-Identifier: MIT
// Two waves of 64 lanes: the upper half's words are the other wave's.
// run: gfx=gfx1151,gfx1201 block=128 lds=512 wave64=1
        .include        "begin.s"
        v_xor_b32       v2, 0x100, v1
        ds_store_b32    v1, v0
        wait_lds
.if !BUG
        barrier
.endif
        ds_load_b32     v3, v2 // expect: race
        .include        "end.s"
