// SPDX-License-Identifier: MIT
// Waves add floats by a loop of compare-exchanges that begins with a plain load, as LLVM has it: the exchange
// checks the loaded value. In the bug the value is also stored, unchecked.
// run: gfx=gfx1100,gfx1151,gfx1201 block=64
        .include        "begin.s"
        v_mov_b32       v3, 0
        global_load_b32 v6, v3, s[4:5] // expect: race
        wait_loads
.if BUG
        global_store_b32 v1, v6, s[6:7]
.endif
        s_mov_b32       s2, 0
.Lagain:
        v_add_f32       v5, 1.0, v6
.if GFX12
        global_atomic_cmpswap_b32 v5, v3, v[5:6], s[4:5] th:TH_ATOMIC_RETURN scope:SCOPE_DEV
.else
        global_atomic_cmpswap_b32 v5, v3, v[5:6], s[4:5] glc
.endif
        wait_loads
        v_cmp_eq_u32    vcc_lo, v5, v6
        v_mov_b32       v6, v5
        s_or_b32        s2, vcc_lo, s2
        s_and_not1_b32  exec_lo, exec_lo, s2
        s_cbranch_execnz .Lagain
        .include        "end.s"
