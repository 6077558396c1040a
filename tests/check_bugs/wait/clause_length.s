// SPDX-License-Identifier: MIT
// H-031: a clause of 33 instructions. The twin's has 32.
// run: gfx=gfx1100,gfx1151,gfx1201
        .include        "begin.s"
        s_clause        31 + BUG // expect: wait
        .rept           32 + BUG
        global_load_b32 v[2 + \+], v1, s[4:5]
        .endr
        wait_loads
        .include        "end.s"
