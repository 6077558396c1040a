// SPDX-License-Identifier: MIT
// Elements of 16 bytes, the last of which is only half allocated.
// run: gfx=gfx1151,gfx1201 bytes=504
        .include        "begin.s"
        buffer          12, 4, 4096
        v_lshlrev_b32   v2, 4, v0
.if BUG
        tbuffer_load_format_xyzw v[4:7], v2, s[12:15], null format:[BUF_FMT_32_32_32_32_FLOAT] offen // expect: mem out_of_bounds
.else
        tbuffer_load_format_xy v[4:5], v2, s[12:15], null format:[BUF_FMT_32_32_FLOAT] offen
.endif
        .include        "end.s"
