// SPDX-License-Identifier: MIT
// The last lane's dword is past the workgroup's LDS.
// run: gfx=gfx1100,gfx1151,gfx1201 lds=128
        .include        "begin.s"
.if BUG
        ds_store_b32    v1, v0 offset:4 // expect: mem lds_out_of_bounds
.else
        ds_store_b32    v1, v0
.endif
        .include        "end.s"
