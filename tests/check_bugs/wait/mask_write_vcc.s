// SPDX-License-Identifier: MIT
// H-005: a lane mask is overwritten behind a wait that is VCC's only, and read again, in wave64.
// run: gfx=gfx1100,gfx1150,gfx1151 wave64=1 block=64
        .include        "begin.s"
        s_mov_b64       s[12:13], 5
        v_cndmask_b32   v2, 0, v0, s[12:13]
.if BUG
        s_waitcnt_depctr depctr_va_vcc(0)
.else
        s_waitcnt_depctr depctr_sa_sdst(0)
.endif
        s_mov_b64       s[12:13], 9
        s_mov_b64       s[14:15], s[12:13] // expect: wait
        global_store_b32 v1, v2, s[6:7]
        .include        "end.s"
