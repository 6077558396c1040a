// SPDX-License-Identifier: MIT
// Only lanes 32 and up of a wave64 are past the end.
// run: gfx=gfx1151,gfx1201 bytes=128 block=64 wave64=1
        .include        "begin.s"
.if !BUG
        v_and_b32       v1, 0x7c, v1
.endif
        global_load_b32 v2, v1, s[4:5] // expect: mem out_of_bounds
        wait_loads
        .include        "end.s"
