// SPDX-License-Identifier: MIT
// An index and an offset come in two registers: the second was forgotten.
// run: gfx=gfx1151,gfx1201
        .include        "begin.s"
        buffer          12, 4, 32, 16
        v_mov_b32       v2, v0
.if !BUG
        v_mov_b32       v3, 4
.endif
        buffer_load_b32 v4, v[2:3], s[12:15], null idxen offen // expect: init
        .include        "end.s"
