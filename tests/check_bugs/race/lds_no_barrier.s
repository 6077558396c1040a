// SPDX-License-Identifier: MIT
// A wave reads what another one stored to LDS, with no barrier between.
// run: gfx=gfx1100,gfx1151,gfx1201 block=64 lds=256
        .include        "begin.s"
        v_xor_b32       v2, 0x80, v1            // the other wave's word
        ds_store_b32    v1, v0
        wait_lds
.if !BUG
        barrier
.endif
        ds_load_b32     v3, v2 // expect: race
        .include        "end.s"
