// SPDX-License-Identifier: MIT
// A kernel whose code a fuzzer's input replaces: s[0:1] points to two pointers.
        .text
        .globl          shell
        .p2align        8
        .type           shell,@function
shell:
        .rept           255
        s_nop           0
        .endr
        s_endpgm

        .rodata
        .p2align        6
        .amdhsa_kernel  shell
          .amdhsa_kernarg_size                  16
          .amdhsa_group_segment_fixed_size      256
          .amdhsa_private_segment_fixed_size    16
          .amdhsa_user_sgpr_kernarg_segment_ptr 1
          .amdhsa_next_free_vgpr                64
          .amdhsa_next_free_sgpr                64
          .amdhsa_wavefront_size32              1
        .end_amdhsa_kernel
