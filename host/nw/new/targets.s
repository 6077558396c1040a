// SPDX-License-Identifier: MIT
// ---- what targets before gfx12 spell otherwise: the kernel below is in gfx12's words ----
.set gfx, .amdgcn.gfx_generation_number         // 10, 11 or 12
.set user_sgprs, 2                              // s[0:1]: the kernarg segment
.if gfx == 11 && .amdgcn.gfx_generation_minor == 0 && (.amdgcn.gfx_generation_stepping & 1) == 0
.set user_sgprs, 15                             // gfx1100 and gfx1102 want 16 initialised SGPRs
.endif
.macro workgroup_ids x, y                       // one after the other behind the user SGPRs, or in trap temporaries
.if gfx >= 12
        s_mov_b32       \x, ttmp9
        s_and_b32       \y, ttmp7, 0xffff
.else
        s_mov_b32       \x, s[user_sgprs]
        s_mov_b32       \y, s[user_sgprs+1]
.endif
.endm
.if gfx < 12
.macro s_wait_kmcnt left                        // scalar loads
        s_waitcnt       lgkmcnt(\left)
.endm
.macro s_wait_dscnt left                        // LDS
        s_waitcnt       lgkmcnt(\left)
.endm
.macro s_wait_loadcnt left                      // vector loads
        s_waitcnt       vmcnt(\left)
.endm
.macro s_barrier_signal all
.endm
.macro s_barrier_wait all
        s_barrier
.endm
.endif
.if gfx < 11
.macro s_load_b32 operands:vararg
        s_load_dword    \operands
.endm
.macro s_load_b64 operands:vararg
        s_load_dwordx2  \operands
.endm
.macro s_load_b128 operands:vararg
        s_load_dwordx4  \operands
.endm
.macro global_load_b32 operands:vararg
        global_load_dword \operands
.endm
.macro global_load_b128 operands:vararg
        global_load_dwordx4 \operands
.endm
.macro global_store_b32 operands:vararg
        global_store_dword \operands
.endm
.macro ds_load_b32 operands:vararg
        ds_read_b32     \operands
.endm
.macro ds_load_b128 operands:vararg
        ds_read_b128    \operands
.endm
.macro ds_store_b32 operands:vararg
        ds_write_b32    \operands
.endm
.endif
