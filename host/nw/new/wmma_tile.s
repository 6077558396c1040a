// SPDX-License-Identifier: MIT
// wmma_tile(a, b, c, n, k): c[i, j] = sum of a[i, l] * b[j, l] for l < k: f16 in, f32 sums, by WMMA.
//   a      f16[m, k], 16-byte aligned
//   b      f16[n, k], the same
//   c      f32[m, n]
//   m, n, k  multiples of 16; each matrix has less than 2^32 bytes
//   grid   n / 16, m / 16 workgroups of 32 work-items: a wave and its tile of c
//   runs on gfx11 and gfx12, whose registers hold the operands differently
//
//   nw run  wmma_tile.s --gfx gfx1151 --grid 2,1 --args a=buf:2048:f16 b=buf:4096:f16 c=buf:2048 n=u32:32 k=u32:64 --check all --print c:f32:8
//   nw time wmma_tile.s --gfx gfx1151 --grid 2,1 --args a=buf:2048:f16 b=buf:4096:f16 c=buf:2048 n=u32:32 k=u32:64

        .include        "targets.s"

        // gfx11: a lane has all 16 k of row lane % 16, in 8 registers; lanes 16 to 31 repeat it.
        // gfx12: lanes 0 to 15 have the first 8 k of it, in 4 registers, lanes 16 to 31 the others.
.if gfx >= 12
        .set operand, 4                         // registers of A or B
        .set row_step, 1                        // register e of C: row e + 8 * (lane / 16)
.else
        .set operand, 8
        .set row_step, 2                        // row 2 e + lane / 16
.endif

        // Registers by name. s0 to s16 hold what the hardware brings.
        .set s_a, 20                            // s[20:21]: address of a
        .set s_b, 22
        .set s_c, 24
        .set s_n, 26
        .set s_k, 27
        .set s_tile_x, 28                       // workgroup ids x and y
        .set s_tile_y, 29
        .set s_t, 30
        .set s_left, 32                         // of k; alone in its pair: gfx12 wants a wait before a rewrite of what VALU read
        .set s_end, 34
        .set v_a_at, 1                          // byte in a, b
        .set v_b_at, 2
        .set v_row, 3                           // lane % 16
        .set v_t, 4
        .set v_a, 8                             // operands begin in different banks
        .set v_b, v_a + operand + 1
        .set v_c, 26                            // v[26:33]

        .text
        .globl          wmma_tile
        .p2align        8
        .type           wmma_tile,@function
wmma_tile:
        s_load_b128     s[s_a:s_b+1], s[0:1], 0 // a, b
        s_load_b128     s[s_c:s_k], s[0:1], 16  // c, n, k
        workgroup_ids   s[s_tile_x], s[s_tile_y]
        v_and_b32       v[v_row], 15, v0
        .irp e, 0, 1, 2, 3, 4, 5, 6, 7
        v_mov_b32       v[v_c+\e], 0
        .endr
        s_wait_kmcnt    0                       // the arguments are here
        v_lshl_add_u32  v[v_a_at], s[s_tile_y], 4, v[v_row] // row 16 tile_y + lane % 16 of a
        v_lshl_add_u32  v[v_b_at], s[s_tile_x], 4, v[v_row] // row 16 tile_x + lane % 16 of b
        v_mul_lo_u32    v[v_a_at], v[v_a_at], s[s_k]
        v_mul_lo_u32    v[v_b_at], v[v_b_at], s[s_k]
        v_lshlrev_b32   v[v_a_at], 1, v[v_a_at] // bytes
        v_lshlrev_b32   v[v_b_at], 1, v[v_b_at]
.if gfx >= 12
        v_and_b32       v[v_t], 16, v0          // the upper lanes' k: 16 bytes on
        v_add_nc_u32    v[v_a_at], v[v_a_at], v[v_t]
        v_add_nc_u32    v[v_b_at], v[v_b_at], v[v_t]
.endif
        s_mov_b32       s[s_left], s[s_k]

L_step:                                         // 16 of k
        global_load_b128 v[v_a:v_a+3], v[v_a_at], s[s_a:s_a+1]
        global_load_b128 v[v_b:v_b+3], v[v_b_at], s[s_b:s_b+1]
.if gfx < 12
        global_load_b128 v[v_a+4:v_a+7], v[v_a_at], s[s_a:s_a+1] offset:16
        global_load_b128 v[v_b+4:v_b+7], v[v_b_at], s[s_b:s_b+1] offset:16
.endif
        v_add_nc_u32    v[v_a_at], 32, v[v_a_at]
        v_add_nc_u32    v[v_b_at], 32, v[v_b_at]
        s_sub_u32       s[s_left], s[s_left], 16
        s_wait_loadcnt  0
        v_wmma_f32_16x16x16_f16 v[v_c:v_c+7], v[v_a:v_a+operand-1], v[v_b:v_b+operand-1], v[v_c:v_c+7]
        s_cmp_lg_u32    s[s_left], 0
        s_cbranch_scc1  L_step

        // Lane l holds column l % 16 of the tile: c[16 tile_y + first row, 16 tile_x + l % 16]
        v_lshrrev_b32   v[v_t], 4, v0
.if gfx >= 12
        v_lshlrev_b32   v[v_t], 3, v[v_t]
.endif
        v_lshl_add_u32  v[v_t], s[s_tile_y], 4, v[v_t]
        v_mul_lo_u32    v[v_t], v[v_t], s[s_n]
        v_lshl_add_u32  v[v_row], s[s_tile_x], 4, v[v_row]
        v_add_nc_u32    v[v_t], v[v_t], v[v_row]
        v_lshlrev_b32   v[v_t], 2, v[v_t]
        s_mul_i32       s[s_t], s[s_n], 4 * row_step // bytes from register to register
        .irp e, 0, 1, 2, 3, 4, 5, 6, 7
        global_store_b32 v[v_t], v[v_c+\e], s[s_c:s_c+1]
        v_add_nc_u32    v[v_t], s[s_t], v[v_t]
        .endr
        s_endpgm
L_code_end:
        .size           wmma_tile, L_code_end-wmma_tile
        .fill           64, 4, 0xbf9f0000       // s_code_end: the prefetcher reads past the end

        .rodata
        .p2align        6
        .amdhsa_kernel  wmma_tile
          .amdhsa_kernarg_size                  32
          .amdhsa_user_sgpr_kernarg_segment_ptr 1
          .amdhsa_user_sgpr_count               user_sgprs
          .amdhsa_system_sgpr_workgroup_id_y    1
          .amdhsa_wavefront_size32              1
          .amdhsa_next_free_vgpr                34
          .amdhsa_next_free_sgpr                s_end
        .end_amdhsa_kernel

        .amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: wmma_tile
    .symbol: wmma_tile.kd
    .kernarg_segment_size: 32
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 32
    .sgpr_count: 34
    .vgpr_count: 34
    .max_flat_workgroup_size: 32
    .args:
      - {.name: a, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
      - {.name: b, .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
      - {.name: c, .offset: 16, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: write_only}
      - {.name: n, .offset: 24, .size: 4, .value_kind: by_value}
      - {.name: k, .offset: 28, .size: 4, .value_kind: by_value}
...
        .end_amdgpu_metadata
