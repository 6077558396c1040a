// SPDX-License-Identifier: MIT
// A scalar load through a descriptor that promises too much.
// run: gfx=gfx1151,gfx1201 bytes=128
        .include        "begin.s"
        buffer          12, 4, 128 + 4 * BUG
        s_buffer_load_b64 s[16:17], s[12:15], 124 // expect: mem out_of_bounds
        wait_scalar
        .include        "end.s"
