// SPDX-License-Identifier: MIT
// A scalar load through a descriptor that promises a dword of the next page.
// run: gfx=gfx1151,gfx1201 bytes=4096
        .include        "begin.s"
        buffer          12, 4, 4096 + 4 * BUG
        s_buffer_load_b64 s[16:17], s[12:15], 4092 // expect: mem out_of_bounds
        wait_scalar
        .include        "end.s"
