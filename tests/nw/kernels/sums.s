// SPDX-License-Identifier: MIT
// Kernels for the tests of nw time and nw annotate.
        .amdgcn_target  "amdgcn-amd-amdhsa--gfx1151"

.macro descriptor name
        .rodata
        .p2align        6
        .amdhsa_kernel  \name
          .amdhsa_kernarg_size                  24
          .amdhsa_group_segment_fixed_size      0
          .amdhsa_user_sgpr_kernarg_segment_ptr 1
          .amdhsa_system_sgpr_workgroup_id_x    1
          .amdhsa_next_free_vgpr                8
          .amdhsa_next_free_sgpr                32
        .end_amdhsa_kernel
.endm

// sums(u32 *out, u32 *in, u32 n, f16 unused): out[i] = sum of in[i + 128 j], j < n; n > 0
        .text
        .globl          sums
        .p2align        8
        .type           sums,@function
sums:
        s_load_b128     s[4:7], s[0:1], 0x0
        s_load_b32      s8, s[0:1], 0x10
        v_mov_b32       v1, 0
        v_lshlrev_b32   v2, 2, v0
        v_lshl_add_u32  v3, s2, 7, v0
        v_lshlrev_b32   v3, 2, v3
        s_waitcnt       lgkmcnt(0)
L_next:
        global_load_b32 v4, v2, s[6:7]
        v_add_nc_u32    v2, 0x200, v2
        s_sub_u32       s8, s8, 1
        s_waitcnt       vmcnt(0)
        v_add_nc_u32    v1, v1, v4
        s_cmp_lg_u32    s8, 0
        s_cbranch_scc1  L_next
        s_barrier
        global_store_b32 v3, v1, s[4:5]
        s_endpgm
descriptor sums

// nothing(): ends
        .text
        .globl          nothing
        .p2align        8
        .type           nothing,@function
nothing:
        s_endpgm
descriptor nothing

// spin(u32 *n): counts n[0] & 255 down to 0: three instructions each time, and seven
        .text
        .globl          spin
        .p2align        8
        .type           spin,@function
spin:
        s_load_b64      s[4:5], s[0:1], 0x0
        s_waitcnt       lgkmcnt(0)
        s_load_b32      s8, s[4:5], 0x0
        s_waitcnt       lgkmcnt(0)
        s_and_b32       s8, s8, 255
        s_cbranch_scc0  L_end
L_down: s_add_u32       s8, s8, -1      // "<b>" & </td> must not become part of a page
        s_cmp_lg_u32    s8, 0
        s_cbranch_scc1  L_down
L_end:
        s_endpgm
descriptor spin

        .amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: sums
    .symbol: sums.kd
    .kernarg_segment_size: 24
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 32
    .sgpr_count: 32
    .vgpr_count: 8
    .max_flat_workgroup_size: 128
    .args:
      - {.name: out, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}
      - {.name: in, .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global}
      - {.name: n, .offset: 16, .size: 4, .value_kind: by_value}
      - {.name: unused, .offset: 20, .size: 2, .value_kind: by_value}
  - .name: nothing
    .symbol: nothing.kd
    .kernarg_segment_size: 24
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 32
    .sgpr_count: 32
    .vgpr_count: 8
    .max_flat_workgroup_size: 64
  - .name: spin
    .symbol: spin.kd
    .kernarg_segment_size: 24
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 32
    .sgpr_count: 32
    .vgpr_count: 8
    .max_flat_workgroup_size: 32
    .args:
      - {.name: n, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}
...
        .end_amdgpu_metadata
