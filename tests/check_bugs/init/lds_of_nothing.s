// SPDX-License-Identifier: MIT
// LDS is read that nobody has written.
// run: gfx=gfx1151,gfx1201 lds=256
        .include        "begin.s"
.if !BUG
        ds_store_b32    v1, v0 offset:128
.endif
        ds_load_b32     v2, v1 offset:128
        wait_lds
        global_store_b32 v1, v2, s[4:5] // expect: init
        .include        "end.s"
