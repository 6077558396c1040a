// SPDX-License-Identifier: MIT
// Kernels of the HIP tests, assembled for every target. Only one workgroup and v0 are used where the
// code must run everywhere: where the workgroup id is differs between targets.

// Scalar loads done; gfx12 spells it differently.
.macro wait_scalar
.if .amdgcn.gfx_generation_number >= 12
        s_wait_kmcnt    0
.else
        s_waitcnt       lgkmcnt(0)
.endif
.endm

.macro wait_loads
.if .amdgcn.gfx_generation_number >= 12
        s_wait_loadcnt  0
.else
        s_waitcnt       vmcnt(0)
.endif
.endm

.macro begin name
        .text
        .globl          \name
        .p2align        8
        .type           \name,@function
\name:
.endm

.macro descriptor name, kernarg, lds=0
        .rodata
        .p2align        6
        .amdhsa_kernel  \name
          .amdhsa_kernarg_size                  \kernarg
          .amdhsa_group_segment_fixed_size      \lds
          .amdhsa_user_sgpr_kernarg_segment_ptr 1
          .amdhsa_user_sgpr_count               15
          .amdhsa_next_free_vgpr                8
          .amdhsa_next_free_sgpr                32
        .end_amdhsa_kernel
.endm

// iota(int *out, int first, int n): out[i] = first + i for i < n, one workgroup.
begin iota
        s_load_b128     s[4:7], s[0:1], 0x0     // out, first, n
        wait_scalar
        v_cmpx_gt_u32   s7, v0
        v_lshlrev_b32   v1, 2, v0
        v_add_nc_u32    v2, s6, v0
        global_store_b32 v1, v2, s[4:5]
        s_endpgm
descriptor iota, 16

// increment(int *p): p[i] += 1, one workgroup of any size.
begin increment
        s_load_b64      s[4:5], s[0:1], 0x0
        v_lshlrev_b32   v1, 2, v0
        wait_scalar
        global_load_b32 v2, v1, s[4:5]
        wait_loads
        v_add_nc_u32    v2, 1, v2
        global_store_b32 v1, v2, s[4:5]
        s_endpgm
descriptor increment, 8

// dump(int *out, <hidden>): out[i] = dword i of the kernarg segment, i < 32.
begin dump
        s_load_b64      s[4:5], s[0:1], 0x0
        v_lshlrev_b32   v1, 2, v0
        v_cmpx_gt_u32   32, v0
        global_load_b32 v2, v1, s[0:1]
        wait_scalar
        wait_loads
        global_store_b32 v1, v2, s[4:5]
        s_endpgm
descriptor dump, 128

// hold(int *p, int *flag): waits until flag[0] is not 0, then adds 1 to p[0].
begin hold
        s_load_b128     s[4:7], s[0:1], 0x0
        v_mov_b32       v1, 0
        wait_scalar
L_hold:
        global_load_b32 v2, v1, s[6:7]
        wait_loads
        v_cmp_eq_u32    vcc_lo, 0, v2
        s_cbranch_vccnz L_hold
        global_load_b32 v2, v1, s[4:5]
        wait_loads
        v_add_nc_u32    v2, 1, v2
        global_store_b32 v1, v2, s[4:5]
        s_endpgm
descriptor hold, 16

// read_at(int *out, int *from): out[0] = from[0]. With a bad `from`, a memory fault.
begin read_at
        s_load_b128     s[4:7], s[0:1], 0x0
        v_mov_b32       v1, 0
        wait_scalar
        global_load_b32 v2, v1, s[6:7]
        wait_loads
        global_store_b32 v1, v2, s[4:5]
        s_endpgm
descriptor read_at, 16

// no_args(): its metadata has no .args, though it has a kernarg segment.
begin no_args
        s_endpgm
descriptor no_args, 16

// small(): at most 64 work-items, 40000 bytes of LDS.
begin small
        s_endpgm
descriptor small, 8, 40000

// add_counter(int *out): out[0] = counter++, a variable of this module.
begin add_counter
        s_load_b64      s[4:5], s[0:1], 0x0
        s_getpc_b64     s[6:7]
        s_add_u32       s6, s6, counter@rel32@lo+4
        s_addc_u32      s7, s7, counter@rel32@hi+12
        v_mov_b32       v1, 0
        global_load_b32 v2, v1, s[6:7]
        wait_scalar
        wait_loads
        global_store_b32 v1, v2, s[4:5]
        v_add_nc_u32    v2, 1, v2
        global_store_b32 v1, v2, s[6:7]
        s_endpgm
descriptor add_counter, 8

// meet(int *words, int n): adds 1 to words[0], waits until it is n, then adds 1 to words[1]. Lane 0 only, so
// each workgroup counts once.
begin meet
        s_load_b64      s[4:5], s[0:1], 0x0
        s_load_b32      s6, s[0:1], 0x8
        v_cmpx_eq_u32   0, v0
        v_mov_b32       v1, 0
        v_mov_b32       v3, 1
        wait_scalar
        global_atomic_add_u32 v1, v3, s[4:5]
L_meet:
        global_load_b32 v2, v1, s[4:5]
        wait_loads
        v_cmp_gt_i32    vcc_lo, s6, v2
        s_cbranch_vccnz L_meet
        global_atomic_add_u32 v1, v3, s[4:5] offset:4
        s_endpgm
descriptor meet, 16

        .data
        .globl          counter
        .protected      counter
        .p2align        2
        .type           counter,@object
        .size           counter, 4
counter:
        .long           42

// __managed__ int shared = 7, as clang has it: the value, and the pointer that the runtime sets.
        .globl          shared
        .protected      shared
        .p2align        3
        .type           shared,@object
        .size           shared, 8
shared:
        .quad           0
        .globl          shared.managed
        .protected      shared.managed
        .type           shared.managed,@object
        .size           shared.managed, 4
shared.managed:
        .long           7

// The explicit arguments of each kernel; `dump` lists every hidden one that code object V5 defines for
// launches, at the offsets that clang gives them after one pointer.
        .amdgpu_metadata
amdhsa.version: [1, 2]
amdhsa.kernels:
  - { .name: iota, .symbol: iota.kd, .max_flat_workgroup_size: 1024, .wavefront_size: 32,
      .sgpr_count: 32, .vgpr_count: 8, .kernarg_segment_size: 16, .kernarg_segment_align: 8,
      .group_segment_fixed_size: 0, .private_segment_fixed_size: 0,
      .args: [ { .name: out, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global },
               { .name: first, .offset: 8, .size: 4, .value_kind: by_value },
               { .name: n, .offset: 12, .size: 4, .value_kind: by_value } ] }
  - { .name: increment, .symbol: increment.kd, .max_flat_workgroup_size: 1024, .wavefront_size: 32,
      .sgpr_count: 32, .vgpr_count: 8, .kernarg_segment_size: 8, .kernarg_segment_align: 8,
      .group_segment_fixed_size: 0, .private_segment_fixed_size: 0,
      .args: [ { .name: p, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global } ] }
  - { .name: meet, .symbol: meet.kd, .max_flat_workgroup_size: 1024, .wavefront_size: 32,
      .sgpr_count: 32, .vgpr_count: 8, .kernarg_segment_size: 16, .kernarg_segment_align: 8,
      .group_segment_fixed_size: 0, .private_segment_fixed_size: 0,
      .args: [ { .name: words, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global },
               { .name: n, .offset: 8, .size: 4, .value_kind: by_value } ] }
  - { .name: dump, .symbol: dump.kd, .max_flat_workgroup_size: 1024, .wavefront_size: 32,
      .sgpr_count: 32, .vgpr_count: 8, .kernarg_segment_size: 128, .kernarg_segment_align: 8,
      .group_segment_fixed_size: 0, .private_segment_fixed_size: 0,
      .args: [ { .name: out, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global },
               { .offset: 8, .size: 4, .value_kind: hidden_block_count_x },
               { .offset: 12, .size: 4, .value_kind: hidden_block_count_y },
               { .offset: 16, .size: 4, .value_kind: hidden_block_count_z },
               { .offset: 20, .size: 2, .value_kind: hidden_group_size_x },
               { .offset: 22, .size: 2, .value_kind: hidden_group_size_y },
               { .offset: 24, .size: 2, .value_kind: hidden_group_size_z },
               { .offset: 26, .size: 2, .value_kind: hidden_remainder_x },
               { .offset: 28, .size: 2, .value_kind: hidden_remainder_y },
               { .offset: 30, .size: 2, .value_kind: hidden_remainder_z },
               { .offset: 48, .size: 8, .value_kind: hidden_global_offset_x },
               { .offset: 56, .size: 8, .value_kind: hidden_global_offset_y },
               { .offset: 64, .size: 8, .value_kind: hidden_global_offset_z },
               { .offset: 72, .size: 2, .value_kind: hidden_grid_dims },
               { .offset: 120, .size: 4, .value_kind: hidden_dynamic_lds_size } ] }
  - { .name: hold, .symbol: hold.kd, .max_flat_workgroup_size: 1024, .wavefront_size: 32,
      .sgpr_count: 32, .vgpr_count: 8, .kernarg_segment_size: 16, .kernarg_segment_align: 8,
      .group_segment_fixed_size: 0, .private_segment_fixed_size: 0,
      .args: [ { .name: p, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global },
               { .name: flag, .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global } ] }
  - { .name: read_at, .symbol: read_at.kd, .max_flat_workgroup_size: 1024, .wavefront_size: 32,
      .sgpr_count: 32, .vgpr_count: 8, .kernarg_segment_size: 16, .kernarg_segment_align: 8,
      .group_segment_fixed_size: 0, .private_segment_fixed_size: 0,
      .args: [ { .name: out, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global },
               { .name: from, .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global } ] }
  - { .name: no_args, .symbol: no_args.kd, .max_flat_workgroup_size: 1024, .wavefront_size: 32,
      .sgpr_count: 32, .vgpr_count: 8, .kernarg_segment_size: 16, .kernarg_segment_align: 8,
      .group_segment_fixed_size: 0, .private_segment_fixed_size: 0 }
  - { .name: small, .symbol: small.kd, .max_flat_workgroup_size: 64, .wavefront_size: 32,
      .sgpr_count: 32, .vgpr_count: 8, .kernarg_segment_size: 8, .kernarg_segment_align: 8,
      .group_segment_fixed_size: 40000, .private_segment_fixed_size: 0,
      .args: [ { .name: out, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global } ] }
  - { .name: add_counter, .symbol: add_counter.kd, .max_flat_workgroup_size: 1024, .wavefront_size: 32,
      .sgpr_count: 32, .vgpr_count: 8, .kernarg_segment_size: 8, .kernarg_segment_align: 8,
      .group_segment_fixed_size: 0, .private_segment_fixed_size: 0,
      .args: [ { .name: out, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global } ] }
...
        .end_amdgpu_metadata
