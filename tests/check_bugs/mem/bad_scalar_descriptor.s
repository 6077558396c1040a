// SPDX-License-Identifier: MIT
// A reserved swizzle mode, seen by a scalar load.
// run: gfx=gfx1151,gfx1201
        .include        "begin.s"
        buffer          12, 4, 4096, 0, 2 * BUG
        s_buffer_load_b32 s16, s[12:15], 0x0 // expect: mem illegal_address
        wait_scalar
        .include        "end.s"
