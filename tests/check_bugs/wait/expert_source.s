// SPDX-License-Identifier: MIT
// H-029: a vector instruction overwrites an address that a load may not have read.
// run: gfx=gfx1200,gfx1201
        .include        "begin.s"
        s_setreg_imm32_b32 hwreg(26, 0, 2), 2
        s_wait_alu      depctr_va_vdst(0)
        global_load_b32 v2, v1, s[4:5]
.if !BUG
        s_wait_alu      depctr_vm_vsrc(0)
.endif
        v_mov_b32       v1, 0 // expect: wait
        .include        "end.s"
