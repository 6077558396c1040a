// SPDX-License-Identifier: MIT
// The descriptor promises more than was allocated.
// run: gfx=gfx1100,gfx1151,gfx1201 bytes=128
        .include        "begin.s"
        buffer          12, 4, 128 + 4 * BUG
        v_add_nc_u32    v2, 4, v1
        buffer_load_b32 v3, v2, s[12:15], null offen // expect: mem out_of_bounds
        .include        "end.s"
