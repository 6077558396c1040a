# SPDX-License-Identifier: MIT
"""The source of one kernel with one pointer as its argument, around lines that a test gives."""

from __future__ import annotations


def code(name: str, body: str, gfx: str = "gfx1151", after: str = "") -> str:
    """The code and its descriptor: 8 VGPRs, 32 SGPRs. `body` has s_endpgm where it ends; `after` follows the code."""
    return f"""        .amdgcn_target "amdgcn-amd-amdhsa--{gfx}"
        .text
        .globl {name}
        .p2align 8
        .type {name},@function
{name}:
{body}
.Lend:
        .size {name}, .Lend - {name}
{after}
        .rodata
        .p2align 6
        .amdhsa_kernel {name}
          .amdhsa_kernarg_size 8
          .amdhsa_user_sgpr_kernarg_segment_ptr 1
          .amdhsa_user_sgpr_count 15
          .amdhsa_next_free_vgpr 8
          .amdhsa_next_free_sgpr 32
        .end_amdhsa_kernel
"""


def metadata(name: str, items: int = 1024) -> str:
    """Says that a workgroup has at most `items`."""
    return f"""        .amdgpu_metadata
---
amdhsa.version: [ 1, 2 ]
amdhsa.kernels:
  - {{ .name: {name}, .symbol: {name}.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8, .group_segment_fixed_size: 0,
      .private_segment_fixed_size: 0, .max_flat_workgroup_size: {items}, .wavefront_size: 32, .sgpr_count: 32, .vgpr_count: 8,
      .args: [ {{ .name: a, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }} ] }}
...
        .end_amdgpu_metadata
"""


def kernel(name: str, body: str, items: int = 1024) -> str:
    return code(name, body) + metadata(name, items)
