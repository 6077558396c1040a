// SPDX-License-Identifier: MIT
// A value comes from memory that nobody has written since it was allocated.
// run: gfx=gfx1100,gfx1151,gfx1201 written=2048
        .include        "begin.s"
.if BUG
        global_load_b32 v2, v1, s[6:7] offset:2048
.else
        global_load_b32 v2, v1, s[6:7] offset:1024
.endif
        wait_loads
        global_store_b32 v1, v2, s[4:5] // expect: init
        .include        "end.s"
