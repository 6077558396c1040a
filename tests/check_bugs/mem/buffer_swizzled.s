// SPDX-License-Identifier: MIT
// A swizzled buffer of 9 records takes two groups of 8, 64 bytes each: record 8's second dword is
// at byte 96.
// run: gfx=gfx1151,gfx1201 bytes=96
        .include        "begin.s"
        buffer          12, 4, 9, 8, 1
        v_mov_b32       v2, 8
        buffer_load_b32 v3, v2, s[12:15], null idxen offset:4 * BUG // expect: mem out_of_bounds
        .include        "end.s"
