# SPDX-License-Identifier: MIT
"""vLLM's mixed-precision linear layers, W4A16, by nibblewave's kernels."""

from __future__ import annotations

from typing import Any

import torch
from vllm.model_executor.kernels.linear import MPLinearKernel, MPLinearLayerConfig
from vllm.model_executor.parameter import permute_param_layout_
from vllm.scalar_type import scalar_types

import nibblewave.torch as nt

from . import device, g_idx, layouts

GROUPS = (32, 64, 128)


class NibblewaveW4A16LinearKernel(MPLinearKernel):
    """GPTQ, AWQ (in GPTQ's order, as vLLM converts it) and compressed-tensors; with zero points or without."""

    g_idx_name: str | None = None  # of act-order: the layer's parameter; act_order.py

    @classmethod
    def get_min_capability(cls) -> int:
        return 0  # of CUDA; can_implement asks for the GPU

    @classmethod
    def can_implement(cls, c: MPLinearLayerConfig) -> tuple[bool, str | None]:
        k = c.partition_weight_shape[0]
        reasons = [
            (device.missing_kernels(), device.missing_kernels() or ""),
            (c.weight_type not in (scalar_types.uint4b8, scalar_types.uint4), f"weights of type {c.weight_type}: it takes uint4b8 and uint4"),
            (c.zero_points != (c.weight_type == scalar_types.uint4), f"zero points with {c.weight_type}: uint4 has them, uint4b8 not"),
            (c.act_type not in (torch.float16, torch.bfloat16), f"activations of type {c.act_type}: it takes float16 and bfloat16"),
            (c.out_type not in (None, c.act_type), f"results of type {c.out_type}: they are of the activations' type"),
            (c.group_size not in (*GROUPS, -1), f"groups of {c.group_size}: it takes 32, 64 and 128, and -1, one scale to a row"),
            (k % 32 or c.group_size > 0 and k % c.group_size, f"K = {k}: it must be a multiple of the group, or of 32"),
            (c.group_size == -1 and c.zero_points, "zero points of a row's only group: it takes them with groups of 32, 64 and 128"),
        ]  # fmt: skip
        return next(((False, text) for bad, text in reasons if bad), (True, None))

    def process_weights_after_loading(self, layer: torch.nn.Module) -> None:
        k, group = self.config.partition_weight_shape[0], self._group()
        order = g_idx.replace(layer, self.g_idx_name, group) if self.g_idx_name else None

        def weights(p: Any) -> torch.Tensor:
            words = permute_param_layout_(p, input_dim=1, output_dim=0, packed_dim=1).data.contiguous()
            return layouts.weights(words if order is None else layouts.columns(words, order), device.row_bytes(words, k))

        def scales(p: Any) -> torch.Tensor:
            return layouts.scales(permute_param_layout_(p, input_dim=1, output_dim=0).data.to(self.config.act_type), k, group)

        def zeros(p: Any) -> torch.Tensor:
            return permute_param_layout_(p, input_dim=1, output_dim=0, packed_dim=0).data.contiguous()

        self._transform_param(layer, self.w_q_name, weights)
        self._transform_param(layer, self.w_s_name, scales)
        if self.config.zero_points:
            self._transform_param(layer, self.w_zp_name, zeros)
        w, s, z = self._operands(layer)
        device.prepare(w, s, group, z, act_order=order is not None)

    def apply_weights(self, layer: torch.nn.Module, x: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
        w, s, z = self._operands(layer)
        perm = getattr(layer, self.g_idx_name) if self.g_idx_name else None
        return nt.linear_w4a16(x.contiguous(), w, s, self._group(), zeros=z, bias=bias, perm=perm)

    def _group(self) -> int:
        return layouts.per_row_group(self.config.partition_weight_shape[0]) if self.config.group_size == -1 else self.config.group_size

    def _operands(self, layer: torch.nn.Module) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor | None]:
        w, s, z = self._get_weight_params(layer)
        return w, s, z if self.config.zero_points else None
