// SPDX-License-Identifier: MIT
// A descriptor of memory that has been freed.
// run: gfx=gfx1151,gfx1201 free_b=1
        .include        "begin.s"
.if BUG
        buffer          12, 6, 4096
.else
        buffer          12, 4, 4096
.endif
        buffer_load_b32 v3, v1, s[12:15], null offen // expect: mem use_after_free
        .include        "end.s"
