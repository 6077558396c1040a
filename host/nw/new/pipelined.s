// SPDX-License-Identifier: MIT
// pipelined(x, w, y, k): y[row] = sum of x[row, i] * w[i] for i < k, in f32; loads run a step ahead.
//   x      f32[rows, k], 16-byte aligned
//   w      f32[k], the same
//   y      f32[rows]
//   k      a multiple of 128, 128 to 2^29
//   grid   rows workgroups of 32 work-items: a wave for a row
//   order  a lane adds elements 4 lane + j of each 128 into sum j; then its four sums, then 32 lanes
//
//   nw run  pipelined.s --gfx gfx1151 --grid 4 --args x=buf:8192:f32 w=buf:2048:f32 y=buf:16 k=u32:512 --check all --print y:f32:4
//   nw time pipelined.s --gfx gfx1151 --grid 4 --args x=buf:8192:f32 w=buf:2048:f32 y=buf:16 k=u32:512

        .include        "targets.s"

        // Registers by name. s0 to s16 hold what the hardware brings.
        .set s_x, 20                            // s[20:21]: address of the row
        .set s_w, 22
        .set s_y, 24
        .set s_k, 26
        .set s_row, 27                          // workgroup ids x and y
        .set s_group_y, 28
        .set s_steps, 29                        // left to load
        .set s_at, 30                           // s[30:31]: where the row begins, from x
        .set s_end, 32
        .set v_at, 1                            // byte in the row and in w
        .set v_t, 2
        .set v_sum, 4                           // v[4:7]
        .set v_even, 8                          // v[8:11] of x, v[12:15] of w: even steps
        .set v_odd, 16                          // and odd ones

.macro load_step set                            // 128 elements, 4 of each lane
        global_load_b128 v[\set:\set+3], v[v_at], s[s_x:s_x+1]
        global_load_b128 v[\set+4:\set+7], v[v_at], s[s_w:s_w+1]
        v_add_nc_u32    v[v_at], 512, v[v_at]
.endm
.macro add_step set
        .irp j, 0, 1, 2, 3
        v_fmac_f32      v[v_sum+\j], v[\set+\j], v[\set+4+\j]
        .endr
.endm

        .text
        .globl          pipelined
        .p2align        8
        .type           pipelined,@function
pipelined:
        s_load_b128     s[s_x:s_w+1], s[0:1], 0 // x, w
        s_load_b64      s[s_y:s_y+1], s[0:1], 16
        s_load_b32      s[s_k], s[0:1], 24
        workgroup_ids   s[s_row], s[s_group_y]
        v_lshlrev_b32   v[v_at], 4, v0
        .irp j, 0, 1, 2, 3
        v_mov_b32       v[v_sum+\j], 0
        .endr
        s_wait_kmcnt    0                       // the arguments are here
        s_mul_i32       s[s_at], s[s_row], s[s_k]
        s_mul_hi_u32    s[s_at+1], s[s_row], s[s_k]
        s_lshl_b64      s[s_at:s_at+1], s[s_at:s_at+1], 2
        s_add_u32       s[s_x], s[s_x], s[s_at] // x += 4 * row * k
        s_addc_u32      s[s_x+1], s[s_x+1], s[s_at+1]
        s_lshr_b32      s[s_steps], s[s_k], 7
        load_step       v_even

L_even:                                         // an even step is in flight: load the odd one, then add
        s_sub_u32       s[s_steps], s[s_steps], 1
        s_cmp_eq_u32    s[s_steps], 0
        s_cbranch_scc1  L_last_even
        load_step       v_odd
        s_wait_loadcnt  2                       // the odd step's two loads may still fly
        add_step        v_even
        s_sub_u32       s[s_steps], s[s_steps], 1
        s_cmp_eq_u32    s[s_steps], 0
        s_cbranch_scc1  L_last_odd
        load_step       v_even
        s_wait_loadcnt  2
        add_step        v_odd
        s_branch        L_even
L_last_even:
        s_wait_loadcnt  0
        add_step        v_even
        s_branch        L_sum
L_last_odd:
        s_wait_loadcnt  0
        add_step        v_odd

L_sum:
        v_add_f32       v[v_sum], v[v_sum], v[v_sum+1]
        v_add_f32       v[v_sum+2], v[v_sum+2], v[v_sum+3]
        v_add_f32       v[v_sum], v[v_sum], v[v_sum+2]
        .irp lanes, 8, 4, 2, 1
        v_add_f32_dpp   v[v_sum], v[v_sum], v[v_sum] row_xmask:\lanes row_mask:0xf bank_mask:0xf
        .endr
        v_permlanex16_b32 v[v_t], v[v_sum], -1, -1 // lane 15 of the other 16 lanes
        v_add_f32       v[v_sum], v[v_sum], v[v_t]
        v_mov_b32       v[v_at], s[s_row]
        v_lshlrev_b32   v[v_at], 2, v[v_at]
        s_mov_b32       exec_lo, 1              // lane 0 stores
        global_store_b32 v[v_at], v[v_sum], s[s_y:s_y+1]
        s_endpgm
L_code_end:
        .size           pipelined, L_code_end-pipelined
        .fill           64, 4, 0xbf9f0000       // s_code_end: the prefetcher reads past the end

        .rodata
        .p2align        6
        .amdhsa_kernel  pipelined
          .amdhsa_kernarg_size                  28
          .amdhsa_user_sgpr_kernarg_segment_ptr 1
          .amdhsa_user_sgpr_count               user_sgprs
          .amdhsa_system_sgpr_workgroup_id_y    1
          .amdhsa_wavefront_size32              1
          .amdhsa_next_free_vgpr                24
          .amdhsa_next_free_sgpr                s_end
        .end_amdhsa_kernel

        .amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: pipelined
    .symbol: pipelined.kd
    .kernarg_segment_size: 28
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 32
    .sgpr_count: 32
    .vgpr_count: 24
    .max_flat_workgroup_size: 32
    .args:
      - {.name: x, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
      - {.name: w, .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
      - {.name: y, .offset: 16, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: write_only}
      - {.name: k, .offset: 24, .size: 4, .value_kind: by_value}
...
        .end_amdgpu_metadata
