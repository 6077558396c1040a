// SPDX-License-Identifier: MIT
// A descriptor that promises more than the buffer has, to the end of the page.
// run: gfx=gfx1151,gfx1201 bytes=12
        .include        "begin.s"
        buffer          12, 4, 4096
        s_buffer_load_b128 s[16:19], s[12:15], 0
        wait_scalar
        v_mov_b32       v2, s[18 + BUG]
        v_mov_b32       v3, 0
        global_store_b32 v3, v2, s[6:7] // expect: init
        .include        "end.s"
