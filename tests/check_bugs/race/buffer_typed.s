// SPDX-License-Identifier: MIT
// Four components of 8 bits are 4 bytes of memory, though four registers. Two waves that store the
// same are no race.
// run: gfx=gfx1151,gfx1201 block=64
        .include        "begin.s"
        buffer          12, 4, 256
        v_mov_b32       v4, 1
        v_mov_b32       v5, 2
        v_mov_b32       v6, 3
        v_mov_b32       v7, 4
.if BUG
        v_add_nc_u32    v7, s10, v7
.endif
        v_and_b32       v2, 0x7c, v1
        tbuffer_store_format_xyzw v[4:7], v2, s[12:15], null format:[BUF_FMT_8_8_8_8_UINT] offen // expect: race unordered
        .include        "end.s"
