// SPDX-License-Identifier: MIT
// The last lane of a wave64 stores the first dword past the buffer.
// run: gfx=gfx1100,gfx1151,gfx1201 bytes=256 block=64 wave64=1
        .include        "begin.s"
.if BUG
        global_store_b32 v1, v0, s[4:5] offset:4 // expect: mem out_of_bounds
.else
        global_store_b32 v1, v0, s[4:5]
.endif
        .include        "end.s"
