// SPDX-License-Identifier: MIT
// A scalar buffer load, and LDS: on gfx12 they have counters of their own.
// run: gfx=gfx1100,gfx1151,gfx1201 lds=256
        .include        "begin.s"
        buffer          12, 4, 4096
        s_buffer_load_b32 s16, s[12:15], 0x0
.if GFX12 & BUG
        s_wait_dscnt    0
.elseif !BUG
        wait_scalar
.endif
        s_add_u32       s17, s16, 1 // expect: wait
        .include        "end.s"
