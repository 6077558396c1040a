// SPDX-License-Identifier: MIT
// A byte load into the low half of a register leaves the other half as it was.
// run: gfx=gfx1151,gfx1201
        .include        "begin.s"
        buffer          12, 4, 4096
        buffer_load_d16_u8 v2, v1, s[12:15], null offen
        wait_loads
.if !BUG
        buffer_load_d16_hi_u8 v2, v1, s[12:15], null offen
.endif
        wait_loads
        buffer_store_b32 v2, v1, s[12:15], null offen // expect: init
        .include        "end.s"
