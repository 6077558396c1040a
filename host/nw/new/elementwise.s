// SPDX-License-Identifier: MIT
// elementwise(x, y, a, b, n): y[i] = a * x[i] + b for i < n, in f32, rounded once.
//   x, y   f32[n], 4-byte aligned; y may be x
//   n      1 to 2^30
//   grid   ceil(n / 256) workgroups of 256 work-items
//
//   nw run  elementwise.s --gfx gfx1151 --grid 4 --args x=buf:4000:f32 y=buf:4000 a=f32:2 b=f32:0.5 n=u32:1000 --check all --print y:f32:8
//   nw time elementwise.s --gfx gfx1151 --grid 4 --args x=buf:4000:f32 y=buf:4000 a=f32:2 b=f32:0.5 n=u32:1000

        .include        "targets.s"

        // Registers by name. s0 to s16 hold what the hardware brings.
        .set s_x, 20                            // s[20:21]: address of x
        .set s_y, 22
        .set s_a, 24
        .set s_b, 25
        .set s_n, 26
        .set s_group, 27                        // workgroup ids x and y
        .set s_group_y, 28
        .set s_end, 29

        .text
        .globl          elementwise
        .p2align        8
        .type           elementwise,@function
elementwise:
        s_load_b128     s[s_x:s_y+1], s[0:1], 0 // x, y
        s_load_b64      s[s_a:s_b], s[0:1], 16
        s_load_b32      s[s_n], s[0:1], 24
        workgroup_ids   s[s_group], s[s_group_y]
        v_lshl_add_u32  v0, s[s_group], 8, v0   // i = 256 * workgroup + work-item
        s_wait_kmcnt    0                       // the arguments are here
        v_cmpx_gt_u32   s[s_n], v0              // lanes with i >= n are off from here on
        s_cbranch_execz L_end
        v_lshlrev_b32   v0, 2, v0               // bytes
        global_load_b32 v1, v0, s[s_x:s_x+1]
        s_wait_loadcnt  0                       // x[i] is here
        v_fma_f32       v1, s[s_a], v1, s[s_b]
        global_store_b32 v0, v1, s[s_y:s_y+1]
L_end:
        s_endpgm
L_code_end:
        .size           elementwise, L_code_end-elementwise
        .fill           64, 4, 0xbf9f0000       // s_code_end: the prefetcher reads past the end

        .rodata
        .p2align        6
        .amdhsa_kernel  elementwise
          .amdhsa_kernarg_size                  28
          .amdhsa_user_sgpr_kernarg_segment_ptr 1
          .amdhsa_user_sgpr_count               user_sgprs
          .amdhsa_system_sgpr_workgroup_id_y    1
          .amdhsa_wavefront_size32              1
          .amdhsa_next_free_vgpr                2
          .amdhsa_next_free_sgpr                s_end
        .end_amdhsa_kernel

        .amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: elementwise
    .symbol: elementwise.kd
    .kernarg_segment_size: 28
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 32
    .sgpr_count: 29
    .vgpr_count: 2
    .max_flat_workgroup_size: 256
    .args:
      - {.name: x, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
      - {.name: y, .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: write_only}
      - {.name: a, .offset: 16, .size: 4, .value_kind: by_value}
      - {.name: b, .offset: 20, .size: 4, .value_kind: by_value}
      - {.name: n, .offset: 24, .size: 4, .value_kind: by_value}
...
        .end_amdgpu_metadata
