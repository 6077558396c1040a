// SPDX-License-Identifier: MIT
// H-029: SCHED_MODE 2 leaves it to the program that a result is written before a store reads it.
// run: gfx=gfx1200,gfx1201
        .include        "begin.s"
        s_setreg_imm32_b32 hwreg(26, 0, 2), 2
        v_add_nc_u32    v2, v0, v0
.if !BUG
        s_wait_alu      depctr_va_vdst(0)
.endif
        global_store_b32 v1, v2, s[6:7] // expect: wait
        .include        "end.s"
