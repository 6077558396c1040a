// SPDX-License-Identifier: MIT
// The last of four registers that a buffer store takes was never written.
// run: gfx=gfx1151,gfx1201
        .include        "begin.s"
        buffer          12, 4, 4096
        v_mov_b32       v4, 1
        v_mov_b32       v5, 1
        v_mov_b32       v6, 1
.if !BUG
        v_mov_b32       v7, 1
.endif
        v_lshlrev_b32   v2, 4, v0
        buffer_store_b128 v[4:7], v2, s[12:15], null offen // expect: init
        .include        "end.s"
