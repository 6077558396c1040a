// SPDX-License-Identifier: MIT
// A descriptor whose base is 16 bytes too low.
// run: gfx=gfx1151,gfx1201
        .include        "begin.s"
.if BUG
        s_sub_u32       s4, s4, 16
        s_subb_u32      s5, s5, 0
.endif
        buffer          12, 4, 4096
        buffer_store_b32 v0, v1, s[12:15], null offen // expect: mem out_of_bounds
        .include        "end.s"
