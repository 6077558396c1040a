// SPDX-License-Identifier: MIT
// H-008: a 64-bit multiply-add overwrites its own source.
// run: gfx=gfx1100,gfx1101,gfx1102,gfx1103
        .include        "begin.s"
        v_mov_b32       v3, 0
        v_mov_b32       v2, v0
.if BUG
        v_mad_u64_u32   v[2:3], null, v0, v0, v[2:3] // expect: wait
.else
        v_mad_u64_u32   v[4:5], null, v0, v0, v[2:3]
.endif
        global_store_b32 v1, v0, s[6:7]
        .include        "end.s"
