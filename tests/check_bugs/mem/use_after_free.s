// SPDX-License-Identifier: MIT
// b was freed before the launch.
// run: gfx=gfx1100,gfx1151,gfx1201 free_b=1
        .include        "begin.s"
.if BUG
        global_load_b32 v2, v1, s[6:7] // expect: mem use_after_free
.else
        global_load_b32 v2, v1, s[4:5]
.endif
        .include        "end.s"
