// SPDX-License-Identifier: MIT
// Kernels of test_advice.py, for gfx1151 and gfx1201. All have the arguments
//   out, in; n: iterations; lane, step, group: bytes between the addresses of lanes, iterations, groups
// and write out[256 group + item].

.macro wait_loads left
.if .amdgcn.gfx_generation_number >= 12
        s_wait_loadcnt  \left
.else
        s_waitcnt       vmcnt(\left)
.endif
.endm
.macro wait_lds left
.if .amdgcn.gfx_generation_number >= 12
        s_wait_dscnt    \left
.else
        s_waitcnt       lgkmcnt(\left)
.endif
.endm
.macro wait_scalar
.if .amdgcn.gfx_generation_number >= 12
        s_wait_kmcnt    0
.else
        s_waitcnt       lgkmcnt(0)
.endif
.endm

// s[4:7]: out, in; s8: n; s10: step; v1: sum; v2: address; v4 to v15: 0
.macro begin name
        .text
        .globl          \name
        .p2align        8
        .type           \name,@function
\name:
        s_load_b128     s[4:7], s[0:1], 0x0
        s_load_b128     s[8:11], s[0:1], 0x10
.if .amdgcn.gfx_generation_number >= 12
        s_mov_b32       s3, ttmp9
.else
        s_mov_b32       s3, s2
.endif
        .irp            r, 1, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        v_mov_b32       v\r, 0
        .endr
        wait_scalar
        s_mul_i32       s12, s3, s11
        v_mul_lo_u32    v2, v0, s9
        v_add_nc_u32    v2, s12, v2
.endm

.macro end name, vgprs=24, lds=0
        v_lshl_add_u32  v3, s3, 8, v0
        v_lshlrev_b32   v3, 2, v3
        global_store_b32 v3, v1, s[4:5]
        s_endpgm
.L\name\()_end:
        .size           \name, .L\name\()_end-\name
        .rodata
        .p2align        6
        .amdhsa_kernel  \name
          .amdhsa_kernarg_size                  32
          .amdhsa_group_segment_fixed_size      \lds
          .amdhsa_user_sgpr_kernarg_segment_ptr 1
          .amdhsa_system_sgpr_workgroup_id_x    1
          .amdhsa_next_free_vgpr                \vgprs
          .amdhsa_next_free_sgpr                16
        .end_amdhsa_kernel
.endm

.macro next label, by=1
        s_sub_u32       s8, s8, \by
        s_cmp_lg_u32    s8, 0
        s_cbranch_scc1  \label
.endm

// ---- loads: each waited for at once, and one iteration ahead

.macro walk_loop label
\label:
        global_load_b32 v4, v2, s[6:7]
        v_add_nc_u32    v2, s10, v2
        wait_loads      0
        v_add_nc_u32    v1, v1, v4
        next            \label
.endm

begin walk
        walk_loop       .Lwalk
end walk

begin walk_ahead // n is even
        global_load_b32 v4, v2, s[6:7]
.Lahead:
        v_add_nc_u32    v2, s10, v2
        global_load_b32 v5, v2, s[6:7]
        wait_loads      1
        v_add_nc_u32    v1, v1, v4
        v_add_nc_u32    v2, s10, v2
        global_load_b32 v4, v2, s[6:7]
        wait_loads      1
        v_add_nc_u32    v1, v1, v5
        next            .Lahead, 2
end walk_ahead

.macro work a, b
        .rept           24
        v_fma_f32       v1, \a, \b, v1
        .endr
.endm

begin two // loads, then 24 dependent FMAs
.Ltwo:
        global_load_b64 v[4:5], v2, s[6:7]
        global_load_b64 v[6:7], v2, s[6:7] offset:512
        v_add_nc_u32    v2, s10, v2
        wait_loads      0
        work            v4, v7
        next            .Ltwo
end two

begin two_ahead
        global_load_b64 v[4:5], v2, s[6:7]
        global_load_b64 v[6:7], v2, s[6:7] offset:512
.Ltwo_ahead:
        v_add_nc_u32    v2, s10, v2
        global_load_b64 v[8:9], v2, s[6:7]
        global_load_b64 v[10:11], v2, s[6:7] offset:512
        wait_loads      2
        work            v4, v7
        v_add_nc_u32    v2, s10, v2
        global_load_b64 v[4:5], v2, s[6:7]
        global_load_b64 v[6:7], v2, s[6:7] offset:512
        wait_loads      2
        work            v8, v11
        next            .Ltwo_ahead, 2
end two_ahead

begin straight // no loop: eight loads
        .irp            at, 0, 128, 256, 384, 512, 640, 768, 896
        global_load_b32 v4, v2, s[6:7] offset:\at
        wait_loads      0
        v_add_nc_u32    v1, v1, v4
        .endr
end straight

begin straight_first
        .irp            at, 0, 1, 2, 3, 4, 5, 6, 7
        global_load_b32 v[4+\at], v2, s[6:7] offset:128*\at
        .endr
        .irp            at, 0, 1, 2, 3, 4, 5, 6, 7
        wait_loads      7-\at
        v_add_nc_u32    v1, v1, v[4+\at]
        .endr
end straight_first

begin chase // no load can be earlier: each has the address of the next
.Lchase:
        global_load_b32 v4, v2, s[6:7]
        wait_loads      0
        v_add_nc_u32    v2, v2, v4
        v_add_nc_u32    v2, s10, v2
        next            .Lchase
end chase

// ---- occupancy: the same with more registers

begin walk_200
        walk_loop       .Lwalk_200
end walk_200, 200

begin walk_192
        walk_loop       .Lwalk_192
end walk_192, 192

// ---- LDS

.macro lds_loop label, load, store, registers
        v_mul_lo_u32    v3, v0, s9
        \store          v3, \registers
        wait_lds        0
\label:
        \load           \registers, v3
        wait_lds        0
        v_add_nc_u32    v1, v1, v4
        next            \label
.endm

begin lds
        lds_loop        .Llds, ds_load_b32, ds_store_b32, v4
end lds, 24, 16384

begin lds_four
        lds_loop        .Llds_four, ds_load_b128, ds_store_b128, v[4:7]
end lds_four, 24, 16384

begin lds_many // four loads in flight
        v_mul_lo_u32    v3, v0, s9
        ds_store_b32    v3, v4
        wait_lds        0
.Llds_many:
        ds_load_b32     v4, v3
        ds_load_b32     v5, v3
        ds_load_b32     v6, v3
        ds_load_b32     v7, v3
        wait_lds        0
        v_add3_u32      v1, v1, v4, v5
        v_add3_u32      v1, v1, v6, v7
        next            .Llds_many
end lds_many, 24, 16384

// ---- VALU

.macro singles mul_a, add_b
        v_mul_f32       v\mul_a, s10, v\mul_a
        v_add_f32       v\add_b, s11, v\add_b
.endm
.macro dual mul_a, add_b
        v_dual_mul_f32  v\mul_a, s10, v\mul_a :: v_dual_add_f32 v\add_b, s11, v\add_b
.endm
.macro six_pairs of
        \of             4, 7
        \of             6, 5
        \of             8, 11
        \of             10, 9
        \of             12, 15
        \of             14, 13
.endm

begin muls // pairs side by side
.Lmuls:
        .rept           3
        six_pairs       singles
        .endr
        next            .Lmuls
end muls

begin muls_dual
.Lmuls_dual:
        .rept           3
        six_pairs       dual
        .endr
        next            .Lmuls_dual
end muls_dual

begin apart // halves of pairs with other instructions between
.Lapart:
        .rept           4
        v_mul_f32       v4, s10, v4
        v_mul_f32       v8, s10, v8
        v_mul_f32       v10, s10, v10
        v_exp_f32       v12, v13
        v_xor_b32       v14, v14, v15
        v_add_f32       v7, s11, v7
        v_add_f32       v11, s11, v11
        v_add_f32       v9, s11, v9
        .endr
        next            .Lapart
end apart

begin apart_dual
.Lapart_dual:
        .rept           4
        dual            4, 7
        dual            8, 11
        dual            10, 9
        v_exp_f32       v12, v13
        v_xor_b32       v14, v14, v15
        .endr
        next            .Lapart_dual
end apart_dual
