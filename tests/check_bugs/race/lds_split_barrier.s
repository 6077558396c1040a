// SPDX-License-Identifier: MIT
// The signal stands before the store: other waves may pass the barrier before it.
// run: gfx=gfx1200,gfx1201 block=64 lds=256
        .include        "begin.s"
        v_xor_b32       v2, 0x80, v1
.if BUG
        s_barrier_signal -1
        ds_store_b32    v1, v0
        wait_lds
.else
        ds_store_b32    v1, v0
        wait_lds
        s_barrier_signal -1
.endif
        s_barrier_wait  -1
        ds_load_b32     v3, v2 // expect: race
        .include        "end.s"
