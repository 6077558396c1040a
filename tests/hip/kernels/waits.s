// SPDX-License-Identifier: MIT
// Kernels that read the time: apart from basic.s, as launches of such a code object are modelled
// while they run, not replayed.

.macro begin name
        .text
        .globl          \name
        .p2align        8
        .type           \name,@function
\name:
.endm

.macro descriptor name
        .rodata
        .p2align        6
        .amdhsa_kernel  \name
          .amdhsa_kernarg_size                  16
          .amdhsa_user_sgpr_kernarg_segment_ptr 1
          .amdhsa_user_sgpr_count               2
          .amdhsa_next_free_vgpr                8
          .amdhsa_next_free_sgpr                16
        .end_amdhsa_kernel
.endm

// Ticks of 100 MHz.
.macro read_time to
        s_sendmsg_rtn_b64 \to, sendmsg(MSG_RTN_GET_REALTIME)
        s_waitcnt       lgkmcnt(0)
.endm

// wait_for(int *out, int ticks): waits until they have gone by; out[0] = how many did.
begin wait_for
        s_load_b128     s[4:7], s[0:1], 0x0     // out, ticks
        read_time       s[8:9]
L_wait:
        read_time       s[10:11]
        s_sub_u32       s10, s10, s8
        s_cmp_lt_u32    s10, s6
        s_cbranch_scc1  L_wait
        v_mov_b32       v1, 0
        v_mov_b32       v2, s10
        global_store_b32 v1, v2, s[4:5]
        s_endpgm
descriptor wait_for

// poll(int *out, int count): reads out[0] and the time so often; out[1] = the ticks gone by.
begin poll
        s_load_b128     s[4:7], s[0:1], 0x0     // out, count
        read_time       s[8:9]
        v_mov_b32       v1, 0
L_poll:
        global_load_b32 v2, v1, s[4:5]
        s_waitcnt       vmcnt(0)
        read_time       s[10:11]
        s_sub_u32       s6, s6, 1
        s_cbranch_scc0  L_poll
        s_sub_u32       s10, s10, s8
        v_mov_b32       v2, s10
        global_store_b32 v1, v2, s[4:5] offset:4
        s_endpgm
descriptor poll

        .amdgpu_metadata
amdhsa.version: [1, 2]
amdhsa.kernels:
  - { .name: wait_for, .symbol: wait_for.kd, .max_flat_workgroup_size: 1024, .wavefront_size: 32,
      .sgpr_count: 16, .vgpr_count: 8, .kernarg_segment_size: 16, .kernarg_segment_align: 8,
      .group_segment_fixed_size: 0, .private_segment_fixed_size: 0,
      .args: [ { .name: out, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global },
               { .name: ticks, .offset: 8, .size: 4, .value_kind: by_value } ] }
  - { .name: poll, .symbol: poll.kd, .max_flat_workgroup_size: 1024, .wavefront_size: 32,
      .sgpr_count: 16, .vgpr_count: 8, .kernarg_segment_size: 16, .kernarg_segment_align: 8,
      .group_segment_fixed_size: 0, .private_segment_fixed_size: 0,
      .args: [ { .name: out, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global },
               { .name: count, .offset: 8, .size: 4, .value_kind: by_value } ] }
        .end_amdgpu_metadata
