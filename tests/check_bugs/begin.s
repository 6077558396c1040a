// SPDX-License-Identifier: MIT
// Start of a kernel with a seeded bug. Leaves
//   s[4:5], s[6:7]  pointers a and b     s8  a number     s9  workgroup id     s10  wave number
//   v0  work-item id     v1  4 * v0
// and the waits of both gfx11 and gfx12 as macros.

.set GFX12, .amdgcn.gfx_generation_number >= 12

.macro wait_scalar
.if GFX12
        s_wait_kmcnt    0
.else
        s_waitcnt       lgkmcnt(0)
.endif
.endm

.macro wait_loads left=0
.if GFX12
        s_wait_loadcnt  \left
.else
        s_waitcnt       vmcnt(\left)
.endif
.endm

.macro wait_stores
.if GFX12
        s_wait_storecnt 0
.else
        s_waitcnt_vscnt null, 0
.endif
.endm

.macro wait_lds left=0
.if GFX12
        s_wait_dscnt    \left
.else
        s_waitcnt       lgkmcnt(\left)
.endif
.endm

.macro barrier
.if GFX12
        s_barrier_signal -1
        s_barrier_wait  -1
.else
        s_barrier
.endif
.endm

// Reads other workgroups' stores from memory, not from a stale cache line.
.macro invalidate
.if GFX12
        global_inv      scope:SCOPE_DEV
.else
        buffer_gl1_inv
        buffer_gl0_inv
.endif
.endm

// s[d:d+3] becomes a buffer of `records` (bytes, or of `stride` bytes each) from s[p:p+1] on. With
// `swizzle` 1 or 3, bytes that stay together are 4 or 16. Out of bounds is as in raw buffers.
.macro buffer d, p, records, stride=0, swizzle=0
        s_mov_b32       s[\d], s[\p]
        s_or_b32        s[\d+1], s[\p+1], (\stride) << 16 | (\swizzle) << 30
        s_mov_b32       s[\d+2], \records
        s_mov_b32       s[\d+3], 0x30016fac
.endm

        .text
        .globl          test
        .p2align        8
        .type           test,@function
test:
        s_load_b128     s[4:7], s[0:1], 0x0
        s_load_b32      s8, s[0:1], 0x10
.if GFX12
        s_mov_b32       s9, ttmp9
.else
        s_mov_b32       s9, s15
.endif
        v_readfirstlane_b32 s10, v0
        v_lshlrev_b32   v1, 2, v0
        s_lshr_b32      s10, s10, 5
        wait_scalar
