// SPDX-License-Identifier: MIT
// A tile in LDS is overwritten for the next step while other waves still read this one.
// run: gfx=gfx1100,gfx1151,gfx1201 block=128 lds=512
        .include        "begin.s"
        v_xor_b32       v2, 0x180, v1
        s_mov_b32       s11, 0
.Lstep:
        ds_store_b32    v1, v0 // expect: race
        wait_lds
        barrier
        ds_load_b32     v3, v2
        wait_lds
.if !BUG
        barrier
.endif
        s_addk_i32      s11, 1
        s_cmp_lt_i32    s11, 3
        s_cbranch_scc1  .Lstep
        global_store_b32 v1, v3, s[4:5]
        .include        "end.s"
