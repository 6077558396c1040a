// SPDX-License-Identifier: MIT
// reduction(x, y, k): y[row] = sum of x[row * k + i] for i < k, in f32.
//   x      f32[rows, k], 4-byte aligned
//   y      f32[rows]
//   k      1 to 2^29
//   grid   rows workgroups of 256 work-items
//   order  a work-item adds every 256th element; then 32 lanes, then 8 waves as a tree
//
//   nw run  reduction.s --gfx gfx1151 --grid 4 --args x=buf:16000:f32 y=buf:16 k=u32:1000 --check all --print y:f32:4
//   nw time reduction.s --gfx gfx1151 --grid 4 --args x=buf:16000:f32 y=buf:16 k=u32:1000

        .include        "targets.s"

        // Registers by name. s0 to s16 hold what the hardware brings.
        .set s_x, 20                            // s[20:21]: address of the row
        .set s_y, 22
        .set s_k, 24
        .set s_bytes, 25                        // of a row
        .set s_row, 26                          // workgroup ids x and y
        .set s_group_y, 27
        .set s_at, 28                           // s[28:29]: where the row begins, from x
        .set s_end, 30
        .set v_sum, 1
        .set v_at, 2                            // byte in the row
        .set v_t, 3
        .set v_sums, 4                          // v[4:11]: of the 8 waves

        .text
        .globl          reduction
        .p2align        8
        .type           reduction,@function
reduction:
        s_load_b128     s[s_x:s_y+1], s[0:1], 0 // x, y
        s_load_b32      s[s_k], s[0:1], 16
        workgroup_ids   s[s_row], s[s_group_y]
        v_mov_b32       v[v_sum], 0
        v_lshlrev_b32   v[v_at], 2, v0
        s_wait_kmcnt    0                       // the arguments are here
        s_mul_i32       s[s_at], s[s_row], s[s_k]
        s_mul_hi_u32    s[s_at+1], s[s_row], s[s_k]
        s_lshl_b64      s[s_at:s_at+1], s[s_at:s_at+1], 2
        s_add_u32       s[s_x], s[s_x], s[s_at] // x += 4 * row * k
        s_addc_u32      s[s_x+1], s[s_x+1], s[s_at+1]
        s_lshl_b32      s[s_bytes], s[s_k], 2

L_next:                                         // 256 elements of the row
        v_cmp_gt_u32    vcc_lo, s[s_bytes], v[v_at]
        s_and_b32       exec_lo, exec_lo, vcc_lo // lanes past its end are off; v_cmpx after a load: a hazard of gfx1010
        s_cbranch_execz L_lanes
        global_load_b32 v[v_t], v[v_at], s[s_x:s_x+1]
        v_add_nc_u32    v[v_at], 1024, v[v_at]
        s_wait_loadcnt  0
        v_add_f32       v[v_sum], v[v_sum], v[v_t]
        s_branch        L_next

L_lanes:                                        // the sum of the wave's 32 lanes, in all of them
        s_mov_b32       exec_lo, -1
        v_add_f32_dpp   v[v_sum], v[v_sum], v[v_sum] row_xmask:8 row_mask:0xf bank_mask:0xf
        v_add_f32_dpp   v[v_sum], v[v_sum], v[v_sum] row_xmask:4 row_mask:0xf bank_mask:0xf
        v_add_f32_dpp   v[v_sum], v[v_sum], v[v_sum] row_xmask:2 row_mask:0xf bank_mask:0xf
        v_add_f32_dpp   v[v_sum], v[v_sum], v[v_sum] row_xmask:1 row_mask:0xf bank_mask:0xf
        v_permlanex16_b32 v[v_t], v[v_sum], -1, -1 // lane 15 of the other 16 lanes
        v_add_f32       v[v_sum], v[v_sum], v[v_t]

        // The sum of the waves, through LDS: the lanes of each store the same.
.if gfx == 10 && .amdgcn.gfx_generation_minor == 1
        s_waitcnt_vscnt null, 0                 // a hazard of gfx101x: LDS behind a branch and a load
.endif
        v_lshrrev_b32   v[v_at], 5, v0          // wave
        v_lshlrev_b32   v[v_at], 2, v[v_at]
        ds_store_b32    v[v_at], v[v_sum]
        s_wait_dscnt    0                       // before the barrier: it does not wait for LDS
        s_barrier_signal -1
        s_barrier_wait  -1
        v_mov_b32       v[v_t], 0
        v_cmp_eq_u32    vcc_lo, 0, v0
        s_and_b32       exec_lo, exec_lo, vcc_lo // work-item 0 alone
        s_cbranch_execz L_end
        ds_load_b128    v[v_sums:v_sums+3], v[v_t]
        ds_load_b128    v[v_sums+4:v_sums+7], v[v_t] offset:16
        s_wait_dscnt    0
        v_add_f32       v[v_sums], v[v_sums], v[v_sums+4]
        v_add_f32       v[v_sums+1], v[v_sums+1], v[v_sums+5]
        v_add_f32       v[v_sums+2], v[v_sums+2], v[v_sums+6]
        v_add_f32       v[v_sums+3], v[v_sums+3], v[v_sums+7]
        v_add_f32       v[v_sums], v[v_sums], v[v_sums+2]
        v_add_f32       v[v_sums+1], v[v_sums+1], v[v_sums+3]
        v_add_f32       v[v_sums], v[v_sums], v[v_sums+1]
        v_mov_b32       v[v_at], s[s_row]
        v_lshlrev_b32   v[v_at], 2, v[v_at]
        global_store_b32 v[v_at], v[v_sums], s[s_y:s_y+1]
L_end:
        s_endpgm
L_code_end:
        .size           reduction, L_code_end-reduction
        .fill           64, 4, 0xbf9f0000       // s_code_end: the prefetcher reads past the end

        .rodata
        .p2align        6
        .amdhsa_kernel  reduction
          .amdhsa_kernarg_size                  20
          .amdhsa_group_segment_fixed_size      32
          .amdhsa_user_sgpr_kernarg_segment_ptr 1
          .amdhsa_user_sgpr_count               user_sgprs
          .amdhsa_system_sgpr_workgroup_id_y    1
          .amdhsa_wavefront_size32              1
          .amdhsa_next_free_vgpr                12
          .amdhsa_next_free_sgpr                s_end
        .end_amdhsa_kernel

        .amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: reduction
    .symbol: reduction.kd
    .kernarg_segment_size: 20
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 32
    .private_segment_fixed_size: 0
    .wavefront_size: 32
    .sgpr_count: 30
    .vgpr_count: 12
    .max_flat_workgroup_size: 256
    .args:
      - {.name: x, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
      - {.name: y, .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: write_only}
      - {.name: k, .offset: 16, .size: 4, .value_kind: by_value}
...
        .end_amdgpu_metadata
