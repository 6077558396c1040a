// SPDX-License-Identifier: MIT
// End of a kernel with a seeded bug. LDS, SCRATCH, DYNAMIC and WAVE64 come from the test's `run:` line.
        s_endpgm
.Lend:
        .size           test, .Lend - test

// after(unsigned *a): a[0] = 0x600d. Runs when `test` is done, however that ended.
        .globl          after
        .p2align        8
        .type           after,@function
after:
        s_load_b64      s[4:5], s[0:1], 0x0
        v_mov_b32       v1, 0
        v_mov_b32       v2, 0x600d
        s_mov_b32       exec_lo, 1
        wait_scalar
        global_store_b32 v1, v2, s[4:5]
        s_endpgm
.Lafter_end:
        .size           after, .Lafter_end - after

        .rodata
        .p2align        6
        .amdhsa_kernel  test
          .amdhsa_kernarg_size                  24
          .amdhsa_group_segment_fixed_size      LDS
          .amdhsa_private_segment_fixed_size    SCRATCH
          .amdhsa_enable_private_segment        !!SCRATCH
          .amdhsa_uses_dynamic_stack            DYNAMIC
          .amdhsa_user_sgpr_kernarg_segment_ptr 1
          .amdhsa_user_sgpr_count               15
          .amdhsa_next_free_vgpr                64
          .amdhsa_next_free_sgpr                64
          .amdhsa_wavefront_size32              1 - WAVE64
        .end_amdhsa_kernel

        .p2align        6
        .amdhsa_kernel  after
          .amdhsa_kernarg_size                  8
          .amdhsa_user_sgpr_kernarg_segment_ptr 1
          .amdhsa_user_sgpr_count               15
          .amdhsa_next_free_vgpr                8
          .amdhsa_next_free_sgpr                16
          .amdhsa_wavefront_size32              1 - WAVE64
        .end_amdhsa_kernel

        .macro metadata wave
        .amdgpu_metadata
---
amdhsa.version: [ 1, 2 ]
amdhsa.kernels:
  - .name: test
    .symbol: test.kd
    .kernarg_segment_size: 24
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .max_flat_workgroup_size: 1024
    .wavefront_size: \wave
    .sgpr_count: 64
    .vgpr_count: 64
    .args:
      - { .name: a, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .name: b, .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .name: n, .offset: 16, .size: 4, .value_kind: by_value }
  - .name: after
    .symbol: after.kd
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .max_flat_workgroup_size: 1024
    .wavefront_size: \wave
    .sgpr_count: 16
    .vgpr_count: 8
    .args:
      - { .name: a, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
...
        .end_amdgpu_metadata
        .endm
        .if WAVE64
        metadata 64
        .else
        metadata 32
        .endif
