# SPDX-License-Identifier: MIT
"""Act-order: GPTQ's desc_act and compressed-tensors' actorder "group", where g_idx says which group a column is of.

vLLM 0.33 refuses both in its configs, and its loaders drop g_idx. With the plugin the configs keep them, and layers have a
parameter for it. A layer that nibblewave does not support is then an error: vLLM's own kernels would assume columns in group order.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

from vllm.model_executor.layers.quantization import auto_gptq
from vllm.model_executor.layers.quantization.compressed_tensors import compressed_tensors
from vllm.model_executor.layers.quantization.compressed_tensors.schemes import CompressedTensorsWNA16
from vllm.model_executor.models.utils import WeightsMapper

from . import g_idx
from .linear import NibblewaveW4A16LinearKernel


class Refused(ValueError):
    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"{name}: activation order, which only nibblewave takes, but not here: {reason}. Take a checkpoint without it, or "
                         "with a static one")  # fmt: skip


# ---- dense layers ----


def add_to(layer: Any, kernel: Any, name: str, k: int, full: int) -> None:
    """g_idx of a dense layer, whose kernel vLLM has chosen."""
    if not isinstance(kernel, NibblewaveW4A16LinearKernel):
        raise Refused("a dense layer", NibblewaveW4A16LinearKernel.can_implement(kernel.config)[1] or "another kernel comes first" if kernel else
                      "vLLM multiplies without a kernel")  # fmt: skip
    if k != full:
        raise Refused("a dense layer", f"its {full} columns are split over GPUs, {k} each")
    g_idx.register(layer, name, (k,))
    kernel.g_idx_name = name


class NibblewaveActOrderLinearMethod(auto_gptq.AutoGPTQLinearMethod):
    def __init__(self, quant_config: Any) -> None:  # vLLM's asks whether Marlin supports it
        self.quant_config, self.quant_type, self.input_dtype = quant_config, quant_config.quant_type, None

    def create_weights(self, layer: Any, input_size_per_partition: int, output_partition_sizes: list[int], input_size: int, *more: Any,
                       **attributes: Any) -> None:  # fmt: skip
        super().create_weights(layer, input_size_per_partition, output_partition_sizes, input_size, *more, **attributes)
        add_to(layer, self.kernel, "g_idx", input_size_per_partition, input_size)


class NibblewaveActOrderScheme(CompressedTensorsWNA16):
    def create_weights(self, layer: Any, *sizes: Any, **named: Any) -> None:
        super().create_weights(layer, *sizes, **named)
        k, full = named["input_size_per_partition"], named["input_size"]
        add_to(layer, self.kernel, "weight_g_idx", k, full)


# ---- vLLM's configs ----


def in_gptq(config: Any) -> bool:
    """Whether any layer has desc_act."""
    return config.desc_act or any(isinstance(rule, Mapping) and rule.get("desc_act") for rule in config.dynamic.values())


def normalize_gptq(original: Callable[..., bool]) -> Callable[..., bool]:
    """Instead of vLLM's, which raises; one group of a row has no order."""
    return lambda desc_act, group_size, dynamic: bool(desc_act) and group_size != -1


def gptq_mapper(original: Callable[[], Any]) -> Callable[[Any], Any]:
    return lambda config: WeightsMapper() if in_gptq(config) else original()


def compressed_schemes(original: Callable[..., Any]) -> Callable[..., Any]:
    """vLLM's map of targets to arguments, which raises for these orders: it sees them as static."""

    def schemes(config: dict[str, Any]) -> Any:
        config, ordered = copy.deepcopy(config), []
        for group in config.get("config_groups", {}).values():
            if (group.get("weights") or {}).get("actorder") in g_idx.GROUP:
                group["weights"]["actorder"] = "static"
                ordered += group["targets"]
        made = original(config)
        for target in ordered:
            made[target]["weights"] = made[target]["weights"].model_copy(update={"actorder": "group"})
        return made

    return schemes


def compressed_scheme(original: Callable[..., Any]) -> Callable[..., Any]:
    """vLLM's choice of a dense layer's scheme."""

    def choose(config: Any, weight_quant: Any, *more: Any, **named: Any) -> Any:
        scheme = original(config, weight_quant, *more, **named)
        if weight_quant is None or weight_quant.actorder not in g_idx.GROUP:
            return scheme
        if type(scheme) is not CompressedTensorsWNA16:
            raise Refused(str(named.get("layer_name")), f"its scheme is {type(scheme).__name__}")
        return NibblewaveActOrderScheme(strategy=scheme.strategy, num_bits=scheme.num_bits, group_size=scheme.group_size,
                                        symmetric=scheme.symmetric, layer_name=scheme.layer_name)  # fmt: skip

    return choose


def wraps() -> tuple[tuple[Any, str, Callable[..., Any]], ...]:
    return (
        (auto_gptq, "normalize_and_validate_gptq_desc_act", normalize_gptq),
        (auto_gptq.AutoGPTQConfig, "get_checkpoint_weight_mapper", gptq_mapper),
        (compressed_tensors.CompressedTensorsConfig, "_quantization_scheme_map_from_config", compressed_schemes),
        (compressed_tensors.CompressedTensorsConfig, "_get_scheme_from_parts", compressed_scheme),
    )
