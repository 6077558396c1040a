// SPDX-License-Identifier: MIT
// lds_tile(x, y, rows, cols): y[c, r] = x[r, c], a transpose of f32 by tiles of 32 x 32 in LDS.
//   x      f32[rows, cols], 4-byte aligned
//   y      f32[cols, rows]; not x
//   rows, cols  multiples of 32; rows * cols at most 2^30
//   grid   cols / 32, rows / 32 workgroups of 256 work-items: x and y of the tile
//   loads and stores are both of whole cache lines, since LDS turns the tile
//
//   nw run  lds_tile.s --gfx gfx1151 --grid 3,2 --args x=buf:24576:f32 y=buf:24576 rows=u32:64 cols=u32:96 --check all --print y:f32:8
//   nw time lds_tile.s --gfx gfx1151 --grid 3,2 --args x=buf:24576:f32 y=buf:24576 rows=u32:64 cols=u32:96

        .include        "targets.s"

        // Registers by name. s0 to s16 hold what the hardware brings.
        .set s_x, 20                            // s[20:21]: address of x
        .set s_y, 22
        .set s_rows, 24
        .set s_cols, 25
        .set s_tile_x, 26                       // workgroup ids x and y
        .set s_tile_y, 27
        .set s_t, 28
        .set s_end, 29
        .set v_low, 1                           // work-item & 31: column of x's tile, row of its transpose
        .set v_high, 2                          // work-item >> 5: 0 to 7, a wave's own
        .set v_at, 3                            // byte in x, then y
        .set v_lds, 4
        .set v_x, 5                             // v[5:8]: four elements
        .set pitch, 4 * 33                      // bytes of a tile's row in LDS: 33 dwords keep a column's out of one bank

        .text
        .globl          lds_tile
        .p2align        8
        .type           lds_tile,@function
lds_tile:
        s_load_b128     s[s_x:s_y+1], s[0:1], 0 // x, y
        s_load_b64      s[s_rows:s_cols], s[0:1], 16
        workgroup_ids   s[s_tile_x], s[s_tile_y]
        v_and_b32       v[v_low], 31, v0
        v_lshrrev_b32   v[v_high], 5, v0
        s_wait_kmcnt    0                       // the arguments are here

        // x[32 tile_y + high + 8 i, 32 tile_x + low] of i = 0 to 3
        v_lshl_add_u32  v[v_at], s[s_tile_y], 5, v[v_high]
        v_mul_lo_u32    v[v_at], v[v_at], s[s_cols]
        v_lshl_add_u32  v[v_lds], s[s_tile_x], 5, v[v_low]
        v_add_nc_u32    v[v_at], v[v_at], v[v_lds]
        v_lshlrev_b32   v[v_at], 2, v[v_at]
        s_lshl_b32      s[s_t], s[s_cols], 5    // bytes of 8 rows
        .irp i, 0, 1, 2, 3
        global_load_b32 v[v_x+\i], v[v_at], s[s_x:s_x+1]
        v_add_nc_u32    v[v_at], s[s_t], v[v_at]
        .endr

        // into LDS as it lies in x
        v_mul_u32_u24   v[v_lds], pitch, v[v_high]
        v_lshl_add_u32  v[v_lds], v[v_low], 2, v[v_lds]
        .irp i, 0, 1, 2, 3
        s_wait_loadcnt  3-\i                    // loads return in order
        ds_store_b32    v[v_lds], v[v_x+\i] offset:8*pitch*\i
        .endr
        s_wait_dscnt    0
        s_barrier_signal -1
        s_barrier_wait  -1

        // out of it by columns: row `low`, columns high + 8 i
        v_mul_u32_u24   v[v_lds], pitch, v[v_low]
        v_lshl_add_u32  v[v_lds], v[v_high], 2, v[v_lds]
        .irp i, 0, 1, 2, 3
        ds_load_b32     v[v_x+\i], v[v_lds] offset:4*8*\i
        .endr

        // y[32 tile_x + high + 8 i, 32 tile_y + low]
        v_lshl_add_u32  v[v_at], s[s_tile_x], 5, v[v_high]
        v_mul_lo_u32    v[v_at], v[v_at], s[s_rows]
        v_lshl_add_u32  v[v_lds], s[s_tile_y], 5, v[v_low]
        v_add_nc_u32    v[v_at], v[v_at], v[v_lds]
        v_lshlrev_b32   v[v_at], 2, v[v_at]
        v_mov_b32       v[v_lds], s[s_rows]
        v_lshlrev_b32   v[v_lds], 5, v[v_lds]   // bytes of 8 rows
        .irp i, 0, 1, 2, 3
        s_wait_dscnt    3-\i                    // so does LDS
        global_store_b32 v[v_at], v[v_x+\i], s[s_y:s_y+1]
        v_add_nc_u32    v[v_at], v[v_lds], v[v_at]
        .endr
        s_endpgm
L_code_end:
        .size           lds_tile, L_code_end-lds_tile
        .fill           64, 4, 0xbf9f0000       // s_code_end: the prefetcher reads past the end

        .rodata
        .p2align        6
        .amdhsa_kernel  lds_tile
          .amdhsa_kernarg_size                  24
          .amdhsa_group_segment_fixed_size      4224
          .amdhsa_user_sgpr_kernarg_segment_ptr 1
          .amdhsa_user_sgpr_count               user_sgprs
          .amdhsa_system_sgpr_workgroup_id_y    1
          .amdhsa_wavefront_size32              1
          .amdhsa_next_free_vgpr                9
          .amdhsa_next_free_sgpr                s_end
        .end_amdhsa_kernel

        .amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: lds_tile
    .symbol: lds_tile.kd
    .kernarg_segment_size: 24
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 4224
    .private_segment_fixed_size: 0
    .wavefront_size: 32
    .sgpr_count: 29
    .vgpr_count: 9
    .max_flat_workgroup_size: 256
    .args:
      - {.name: x, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: read_only}
      - {.name: y, .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global, .actual_access: write_only}
      - {.name: rows, .offset: 16, .size: 4, .value_kind: by_value}
      - {.name: cols, .offset: 20, .size: 4, .value_kind: by_value}
...
        .end_amdgpu_metadata
