// SPDX-License-Identifier: MIT
// The first lane's dword lies before the buffer.
// run: gfx=gfx1151,gfx1201 bytes=256
        .include        "begin.s"
.if BUG
        global_load_b32 v2, v1, s[4:5] offset:-4 // expect: mem out_of_bounds
.else
        global_load_b32 v2, v1, s[4:5]
.endif
        .include        "end.s"
