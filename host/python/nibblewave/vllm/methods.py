# SPDX-License-Identifier: MIT
"""Hooks where vLLM chooses the method of a quantized layer: nibblewave's comes first, vLLM's own is unchanged.

vLLM has a list of dense kernels, but none of methods. So the functions that choose are wrapped, each once.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from vllm.logger import init_logger
from vllm.model_executor.layers.fused_moe import RoutedExperts
from vllm.model_executor.layers.quantization import auto_awq, auto_gptq
from vllm.model_executor.layers.quantization.compressed_tensors.compressed_tensors_moe import compressed_tensors_moe_wna16 as compressed

from . import act_order, device, g_idx
from .experts import NibblewaveAWQMoEMethod, NibblewaveCompressedTensorsMoEMethod, NibblewaveGPTQMoEMethod, refusal
from .linear import GROUPS

logger = init_logger(__name__)
Choice = Callable[..., Any]


class NibblewaveAWQLinearMethod(auto_awq.AutoAWQMarlinLinearMethod):
    """AWQ's dense layers by vLLM's list of kernels. On ROCm vLLM takes its Triton kernels for AWQ without looking there."""

    def __init__(self, quant_config: Any) -> None:  # vLLM's asks whether Marlin supports it
        self.quant_config, self.quant_type, self.input_dtype = quant_config, quant_config.quant_type, None


def _ours(made: Callable[[], Any], reason: str | None, name: str) -> Any:
    """The method, or None for vLLM's own."""
    if reason is not None:
        logger.info_once("%s is not used: %s", name, reason)
        return None
    logger.info_once("Using %s", name)
    return made()


def _compressed(original: Choice) -> Choice:
    """Instead of the class CompressedTensorsWNA16MoEMethod, where vLLM makes one."""

    def choose(weight_quant: Any, input_quant: Any, moe: Any, layer_name: str | None = None) -> Any:
        ordered = weight_quant.actorder in g_idx.GROUP
        reason = refusal(moe, weight_quant.num_bits, weight_quant.group_size or -1, not weight_quant.symmetric, ordered)
        if ordered and reason:
            raise act_order.Refused(layer_name or "experts", reason)
        made = functools.partial(NibblewaveCompressedTensorsMoEMethod, weight_quant, input_quant, moe)
        return _ours(made, reason, "NibblewaveCompressedTensorsMoEMethod") or original(weight_quant, input_quant, moe, layer_name)

    return choose


def _gptq(original: Choice) -> Choice:
    def of_layer(config: Any, moe: Any) -> Any:
        """With the layer's own settings, which vLLM has put into this config."""
        reason = refusal(moe, config.weight_bits, config.group_size, False, config.desc_act)
        if config.desc_act and reason:
            raise act_order.Refused("experts", reason)
        return _ours(functools.partial(NibblewaveGPTQMoEMethod, config, moe), reason, "NibblewaveGPTQMoEMethod")

    def dense(config: Any) -> Any:
        return act_order.NibblewaveActOrderLinearMethod(config) if config.desc_act else None

    def choose(self: Any, layer: Any, prefix: str) -> Any:
        method = None
        if isinstance(layer, RoutedExperts):
            method = auto_gptq.get_moe_quant_method(self, layer, prefix, of_layer)
        elif act_order.in_gptq(self):
            method = auto_gptq.get_linear_quant_method(self, layer, prefix, dense)
        return method or original(self, layer, prefix)

    return choose


def _awq(original: Choice) -> Choice:
    def choose(self: Any, layer: Any, prefix: str) -> Any:
        skipped = auto_awq.is_layer_skipped(prefix, self.modules_to_not_convert or [], match_mode="substring")
        if isinstance(layer, RoutedExperts) and not skipped:
            reason = refusal(layer.moe_config, self.weight_bits, self.group_size, self.zero_point)
            ours = _ours(functools.partial(NibblewaveAWQMoEMethod, self, layer.moe_config), reason, "NibblewaveAWQMoEMethod")
            return ours or original(self, layer, prefix)
        method = original(self, layer, prefix)
        fits = self.weight_bits == 4 and self.group_size in GROUPS and device.missing_kernels() is None
        return NibblewaveAWQLinearMethod(self) if fits and type(method) is auto_awq.AutoAWQLinearMethod else method

    return choose


def _wrap(owner: Any, name: str, wrapper: Callable[[Choice], Choice]) -> None:
    original = getattr(owner, name)
    if not hasattr(original, "nibblewave"):
        wrapped = wrapper(original)
        wrapped.nibblewave = original  # type: ignore[attr-defined]
        setattr(owner, name, wrapped)


def install() -> None:
    _wrap(compressed, "CompressedTensorsWNA16MoEMethod", _compressed)
    _wrap(auto_gptq.AutoGPTQConfig, "get_quant_method", _gptq)
    _wrap(auto_awq.AutoAWQConfig, "get_quant_method", _awq)
    for owner, name, wrapper in act_order.wraps():
        _wrap(owner, name, wrapper)
