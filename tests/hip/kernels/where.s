// SPDX-License-Identifier: MIT
// where(u64 *out): the address of its own code. A code object without variables.
        .text
        .globl          where
        .p2align        8
        .type           where,@function
where:
        s_load_b64      s[4:5], s[0:1], 0x0
        s_getpc_b64     s[6:7]
        s_waitcnt       lgkmcnt(0)
        v_mov_b32       v0, 0
        v_mov_b32       v1, s6
        v_mov_b32       v2, s7
        global_store_b64 v0, v[1:2], s[4:5]
        s_endpgm

        .rodata
        .p2align        6
        .amdhsa_kernel  where
          .amdhsa_kernarg_size                  8
          .amdhsa_user_sgpr_kernarg_segment_ptr 1
          .amdhsa_user_sgpr_count               2
          .amdhsa_next_free_vgpr                8
          .amdhsa_next_free_sgpr                8
        .end_amdhsa_kernel

        .amdgpu_metadata
amdhsa.version: [1, 2]
amdhsa.kernels:
  - { .name: where, .symbol: where.kd, .max_flat_workgroup_size: 1024, .wavefront_size: 32,
      .sgpr_count: 8, .vgpr_count: 8, .kernarg_segment_size: 8, .kernarg_segment_align: 8,
      .group_segment_fixed_size: 0, .private_segment_fixed_size: 0,
      .args: [ { .name: out, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global } ] }
        .end_amdgpu_metadata
