# SPDX-License-Identifier: MIT
"""vLLM's mixtures of experts with int4 weights, by nibblewave's kernels.

One class per layout of checkpoints. It derives from vLLM's own method for the layout, and keeps its parameters and loading;
it skips vLLM's choice of a backend, converts the loaded weights to the kernels' layout, and computes.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import torch
from vllm.model_executor.layers.fused_moe import FusedMoEMethodBase
from vllm.model_executor.layers.fused_moe.activation import MoEActivation
from vllm.model_executor.layers.quantization.auto_awq import AutoAWQMoEMethod
from vllm.model_executor.layers.quantization.auto_gptq import AutoGPTQMoEMethod
from vllm.model_executor.layers.quantization.compressed_tensors.compressed_tensors_moe import compressed_tensors_moe_wna16 as compressed
from vllm.model_executor.utils import replace_parameter

import nibblewave.torch as nt

from . import device, g_idx, layouts
from .linear import GROUPS

T = torch.Tensor
PARTS = ("w13", "w2")


def refusal(moe: Any, bits: int, group: int, zeros: bool, ordered: bool = False) -> str | None:
    """Reason why a layer is left to vLLM. `moe`: its FusedMoEConfig. `ordered`: act-order."""
    reasons = [
        (device.missing_kernels(), device.missing_kernels() or ""),
        (bits != 4, f"weights of {bits} bits: it takes 4"),
        (group not in GROUPS, f"groups of {group}: it takes 32, 64 and 128"),
        (moe.in_dtype not in (torch.float16, torch.bfloat16), f"activations of type {moe.in_dtype}: it takes float16 and bfloat16"),
        (moe.activation != MoEActivation.SILU, f"activation {moe.activation}: it takes SiLU of a gate times up"),
        (any(value is not None for value in (moe.swiglu_limit, moe.swiglu_alpha, moe.swiglu_beta)), "a SwiGLU with limits"),
        (moe.is_lora_enabled, "LoRA of experts"),
        (zeros and moe.intermediate_size_per_partition % 4, "zero points of gate rows that end within a word"),
        (ordered and moe.tp_size > 1, "activation order of experts that are split over GPUs: let each have whole ones, by expert parallelism"),
        (moe.hidden_dim % group or moe.intermediate_size_per_partition % group, f"rows that are no multiple of the group, {group}"),
    ]  # fmt: skip
    return next((text for bad, text in reasons if bad), None)


class Experts(FusedMoEMethodBase):
    """Base of the layouts' methods. For a part, w13 or w2: words int32 [N, K/8] in standard order, scales [N, K/G], zeros [N/8, K/G]."""

    group: int
    ordered = False  # by act-order
    G_IDX = "g_idx"

    def expert(self, layer: Any, part: str, index: int) -> tuple[T, T, T | None]:
        raise NotImplementedError

    def names(self, part: str) -> tuple[str, ...]:
        """The layer's parameters of weights, scales and zero points."""
        raise NotImplementedError

    def create_weights(self, layer: Any, num_experts: int, hidden_size: int, intermediate_size_per_partition: int, *more: Any,
                       **attributes: Any) -> None:  # fmt: skip
        super().create_weights(layer, num_experts, hidden_size, intermediate_size_per_partition, *more, **attributes)
        if self.ordered:
            for part, k in zip(PARTS, (hidden_size, intermediate_size_per_partition)):
                g_idx.register(layer, f"{part}_{self.G_IDX}", (num_experts, k), layer._map_global_expert_id_to_local_expert_id)

    def process_weights_after_loading(self, layer: Any) -> None:
        for part in PARTS:
            count = layer.local_num_experts
            words, scales, zeros = zip(*(self.expert(layer, part, i) for i in range(count)))
            k = words[0].shape[-1] * 8
            if self.ordered:
                orders = g_idx.replace(layer, f"{part}_{self.G_IDX}", self.group)
                words = [layouts.columns(w, order) for w, order in zip(words, orders)]
            made = torch.stack([layouts.permute(w, layouts.ORDER) for w in words])
            values = (layouts.padded(made, device.row_bytes(made, k)), torch.stack(scales), None if zeros[0] is None else torch.stack(zeros))
            for name, value in zip(self.names(part), values):
                replace_parameter(layer, name, value)
            device.prepare_experts(*values, self.group, silu_gate_up=part == "w13", act_order=self.ordered)

    def operands(self, layer: Any, part: str) -> tuple[T, T, T | None, T | None]:
        """w, scales, zeros, bias."""
        w, s, *z = (getattr(layer, name) for name in self.names(part))
        bias = getattr(layer, f"{part}_bias", None) if f"{part}_bias" in layer._loaded_expert_biases else None
        return w, s, z[0] if z else None, bias

    def get_fused_moe_quant_config(self, layer: Any) -> None:
        return None  # of vLLM's modular kernels, which this is none of

    @property
    def is_monolithic(self) -> bool:
        return False  # vLLM's router chooses the experts

    @property
    def supports_eplb(self) -> bool:
        return False

    def apply(self, layer: Any, x: T, topk_weights: T, topk_ids: T, shared_experts: Any, shared_experts_input: Any) -> T:
        """Shared experts are the caller's, as for every method without a modular kernel."""
        ids = topk_ids if layer.expert_map is None else layer.expert_map[topk_ids.long()]
        ids = ids.to(torch.int32).contiguous()
        weights = None if layer.apply_router_weight_on_input else topk_weights.to(torch.float32).contiguous()
        if weights is None:
            x = x * topk_weights.to(x.dtype)
        (w, s, z, b), (w2, s2, z2, b2) = (self.operands(layer, part) for part in PARTS)
        perm, perm2 = (getattr(layer, f"{part}_{self.G_IDX}") if self.ordered else None for part in PARTS)
        between = nt.moe(x.contiguous(), w, s, ids, self.group, zeros=z, bias=b, silu_gate_up=True, perm=perm)
        out = nt.moe(between, w2, s2, ids, self.group, zeros=z2, bias=b2, weights=weights, perm=perm2)
        return out.view(*ids.shape, -1).sum(1)


class NibblewaveCompressedTensorsMoEMethod(Experts, compressed.CompressedTensorsWNA16MoEMethod):
    G_IDX = "weight_g_idx"

    def __init__(self, weight_quant: Any, input_quant: Any, moe: Any) -> None:
        FusedMoEMethodBase.__init__(self, moe)
        self.weight_quant, self.input_quant = weight_quant, input_quant
        self.num_bits, self.symmetric, self.strategy = weight_quant.num_bits, weight_quant.symmetric, weight_quant.strategy
        self.group = self.group_size = weight_quant.group_size
        self.packed_factor = Fraction(32, weight_quant.num_bits)
        self.ordered = weight_quant.actorder in g_idx.GROUP

    def names(self, part: str) -> tuple[str, ...]:
        return f"{part}_weight_packed", f"{part}_weight_scale", *(() if self.symmetric else (f"{part}_weight_zero_point",))

    def expert(self, layer: Any, part: str, index: int) -> tuple[T, T, T | None]:
        words, scales, *zeros = (getattr(layer, name).data[index] for name in self.names(part))
        return words, scales, zeros[0] if zeros else None


class NibblewaveGPTQMoEMethod(Experts, AutoGPTQMoEMethod):
    """Symmetric, as vLLM takes GPTQ: zero points are stored, and not read."""

    def __init__(self, quant_config: Any, moe: Any) -> None:
        FusedMoEMethodBase.__init__(self, moe)
        self.quant_config, self.group, self.input_dtype = quant_config, quant_config.group_size, None
        self.ordered = quant_config.desc_act

    def names(self, part: str) -> tuple[str, ...]:
        return f"{part}_qweight", f"{part}_scales"

    def expert(self, layer: Any, part: str, index: int) -> tuple[T, T, T | None]:
        words, scales = (getattr(layer, name).data[index] for name in self.names(part))
        return words.t().contiguous(), scales.t().contiguous(), None


class NibblewaveAWQMoEMethod(Experts, AutoAWQMoEMethod):
    def __init__(self, quant_config: Any, moe: Any) -> None:
        FusedMoEMethodBase.__init__(self, moe)
        self.quant_config, self.group, self.input_dtype = quant_config, quant_config.group_size, None

    def names(self, part: str) -> tuple[str, ...]:
        return f"{part}_qweight", f"{part}_scales", *((f"{part}_qzeros",) if self.quant_config.zero_point else ())

    def expert(self, layer: Any, part: str, index: int) -> tuple[T, T, T | None]:
        words, scales, *zeros = (getattr(layer, name).data[index] for name in self.names(part))
        z = layouts.permute(zeros[0].t().contiguous(), layouts.AWQ_ORDER) if zeros else None
        return layouts.repack(words, layouts.AWQ_ORDER).t().contiguous(), scales.t().contiguous(), z
