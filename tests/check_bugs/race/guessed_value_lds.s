// SPDX-License-Identifier: MIT
// The loop of guessed_value.s for a float of 16 bits in LDS: a mask that is made of the guess (is it a NaN?) chooses the
// new value, and the guess passes through scratch memory, as at -O0. In the bug one lane's mask is also stored.
// run: gfx=gfx1100,gfx1151,gfx1201 block=64 lds=256 scratch=64
        .include        "begin.s"
        v_mov_b32       v3, 0
        v_mov_b32       v4, 0
        v_cmp_eq_u32    vcc_lo, 0, v0
        s_and_saveexec_b32 s2, vcc_lo
        ds_store_b64    v3, v[3:4]
        s_or_b32        exec_lo, exec_lo, s2
        wait_lds
        barrier
        ds_load_b32     v6, v3 // expect: race
        wait_lds
        scratch_store_b32 off, v6, off offset:8
        s_branch        .Lloop
.Lloop:
        scratch_load_b32 v8, off, off offset:8
        wait_loads
        s_mov_b32       s2, 0
.Lagain:
        v_add_f32       v5, 1.0, v8
        v_cmp_u_f32     s20, v5, v5
.if GFX12
        s_wait_alu      depctr_va_sdst(0)
.endif
.if BUG
        v_mov_b32       v9, s20
        global_store_b32 v1, v9, s[6:7]
.endif
        v_cndmask_b32   v5, v5, v3, s20
        ds_cmpstore_rtn_b32 v7, v3, v5, v8
        wait_lds
        v_cmp_eq_u32    vcc_lo, v7, v8
        v_mov_b32       v8, v7
        s_or_b32        s2, vcc_lo, s2
        s_and_not1_b32  exec_lo, exec_lo, s2
        s_cbranch_execnz .Lagain
        .include        "end.s"
