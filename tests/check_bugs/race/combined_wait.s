// SPDX-License-Identifier: MIT
// gfx12's combined waits: one is for stores and LDS, the other for loads and LDS.
// run: gfx=gfx1200,gfx1201 block=64
        .include        "begin.s"
        v_xor_b32       v2, 0x80, v1
        global_store_b32 v1, v0, s[4:5]
.if BUG
        s_wait_loadcnt_dscnt 0
.else
        s_wait_storecnt_dscnt 0
.endif
        barrier
        global_load_b32 v3, v2, s[4:5] // expect: race not_waited
        wait_loads
        .include        "end.s"
