// SPDX-License-Identifier: MIT
// Flat stores to scratch: each lane's own, in every workgroup; to one place in memory they race.
// run: gfx=gfx1151,gfx1201 groups=3 block=64 scratch=64
        .include        "begin.s"
        s_mov_b64       s[12:13], src_private_base
.if BUG
        v_mov_b32       v2, s4
        v_mov_b32       v3, s5
.else
        v_mov_b32       v2, 16
        v_mov_b32       v3, s13
.endif
        v_add_nc_u32    v4, s9, v0
        s_mov_b32       exec_lo, 1
        flat_store_b32  v[2:3], v4 // expect: race
        .include        "end.s"
