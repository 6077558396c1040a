# SPDX-License-Identifier: MIT
"""Queries of the GPU for the plugin: whether it has kernels, the row stride of weights, and loading of kernels before graphs are captured."""

from __future__ import annotations

import torch

import nibblewave.torch as nt

from ..library import KERNELS

# Numbers of rows whose kernels are loaded: 0 is all of 1 to 8; then those of the graphs that vLLM captures by default.
_ROWS = (0, *range(16, 513, 8))


def gfx() -> str:
    """vLLM's GPU, such as "gfx1151"; "" if it is not from AMD."""
    from vllm.platforms import current_platform

    if not current_platform.is_rocm():
        return ""
    from vllm.platforms import rocm

    return str(rocm._GCN_ARCH).partition(":")[0]


def missing_kernels() -> str | None:
    """Reason why there are no kernels for this GPU."""
    name = gfx()
    if not name:
        return "the platform is not ROCm: it takes AMD's RDNA3, 3.5 and 4"
    if not (KERNELS / name).is_dir():
        return f"nibblewave has no kernels for {name}: build its wheel with NIBBLEWAVE_WHEEL_GFX={name}"
    return None


def row_bytes(words: torch.Tensor, k: int) -> int:
    """Row stride of packed weights on that tensor's device."""
    return nt.context(words.device.index).weight_row_stride(k) if words.device.type == "cuda" else k // 2


def prepare(w: torch.Tensor, scales: torch.Tensor, group: int, zeros: torch.Tensor | None, act_order: bool) -> None:
    """Loads the kernels of a layer: a stream that is being captured may not."""
    if w.device.type == "cuda":
        for rows in _ROWS:
            nt.context(w.device.index).prepare_linear(w, scales, group=group, zeros=zeros, rows=rows, act_order=act_order)


def prepare_experts(w: torch.Tensor, scales: torch.Tensor, zeros: torch.Tensor | None, group: int, silu_gate_up: bool, act_order: bool) -> None:
    """As prepare(), of a mixture of experts."""
    if w.device.type == "cuda":
        nt.context(w.device.index).prepare_moe(w, scales, group=group, zeros=zeros, silu_gate_up=silu_gate_up, act_order=act_order)
