// SPDX-License-Identifier: MIT
// The store to LDS may still be on its way when the barrier lets the reader go.
// run: gfx=gfx1151,gfx1201 block=64 lds=256
        .include        "begin.s"
        v_xor_b32       v2, 0x80, v1
        ds_store_b32    v1, v0
.if !BUG
        wait_lds
.endif
        barrier
        ds_load_b32     v3, v2 // expect: race not_waited
        .include        "end.s"
