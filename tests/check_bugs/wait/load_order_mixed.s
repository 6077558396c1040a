// SPDX-License-Identifier: MIT
// H-010 between loads of two kinds. The registers are two in the clean twin.
// run: gfx=gfx1200,gfx1201
        .include        "begin.s"
        buffer          12, 4, 4096
        global_load_b32 v2, v1, s[4:5]
        buffer_load_b32 v[3 - BUG], v1, s[12:15], null offen // expect: wait
        .include        "end.s"
