// SPDX-License-Identifier: MIT
// A store to the kernel's arguments; reading there is fine.
// run: gfx=gfx1151,gfx1201
        .include        "begin.s"
        v_mov_b32       v2, 0
.if BUG
        global_store_b32 v2, v2, s[0:1] // expect: mem write_to_arguments
.else
        global_load_b32 v2, v2, s[0:1]
.endif
        .include        "end.s"
