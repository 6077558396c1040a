# SPDX-License-Identifier: MIT
"""Layers that GPTQModel, AutoGPTQ and AutoAWQ pack: nw pack reads the numbers that each one's own dequantization has."""

from __future__ import annotations

import importlib.util
import sys
import types
import unittest

from layers import Checkpoint, K, N, grid, linear, shuffled_groups  # before torch: the CPU's numbers

import torch  # isort: skip
from gptqmodel.nn_modules.qlinear.torch import TorchLinear
from gptqmodel.nn_modules.qlinear.torch_awq import AwqTorchLinear
from gptqmodel.quantization import QuantizeConfig
from gptqmodel.utils.model import convert_gptq_v2_to_v1_format_module


def without_init(*packages: str) -> None:
    """Makes their modules known without the packages' own programs, which import a transformers of their time."""
    for name in packages:
        spec = importlib.util.find_spec(name)
        package = types.ModuleType(name)
        package.__path__, package.__spec__ = list(spec.submodule_search_locations), spec
        sys.modules[name] = package


without_init("awq", "awq.modules", "awq.modules.linear", "auto_gptq", "auto_gptq.nn_modules", "auto_gptq.nn_modules.qlinear")
from auto_gptq.nn_modules.qlinear.qlinear_cuda_old import QuantLinear  # noqa: E402
from awq.modules.linear.gemm import WQLinear_GEMM  # noqa: E402
from awq.utils.packing_utils import dequantize_gemm  # noqa: E402


def tensors_of(layer: torch.nn.Module) -> dict[str, torch.Tensor]:
    return {key: value for key, value in layer.state_dict().items() if value is not None}


class GptqModel(Checkpoint):
    def same(self, form: str, group: int, symmetric: bool, order: torch.Tensor | None = None) -> None:
        kind = {"bits": 4, "group_size": group, "sym": symmetric, "desc_act": order is not None}
        config = QuantizeConfig(format=form, offload_to_disk=False, **kind)
        layer = TorchLinear(in_features=K, out_features=N, format=form, **kind)
        length = K if group == -1 else group
        scale, zero = grid(length, symmetric)
        groups = torch.arange(K, dtype=torch.int32) // length if order is None else order
        layer.pack_original(linear(), scale, torch.full_like(scale, zero) if symmetric else zero, groups)
        layer.scales = layer.scales.float()
        want = super(TorchLinear, layer).dequantize_weight().t().contiguous()  # its own compiles programs, for minutes
        layer.scales = layer.scales.half()
        if form == "gptq":
            convert_gptq_v2_to_v1_format_module(layer, config)
        self.write(tensors_of(layer), config.to_dict())
        self.assert_packed(want)

    def test_every_kind(self) -> None:
        for form in ("gptq", "gptq_v2", "gptq_p"):
            for symmetric in (True, False):
                for group in (32, 64, 128, -1):
                    with self.subTest(form=form, symmetric=symmetric, group=group):
                        self.same(form, group, symmetric)

    def test_activation_order(self) -> None:
        for form in ("gptq", "gptq_v2", "gptq_p"):
            for group in (32, 64, 128):
                with self.subTest(form=form, group=group):
                    self.same(form, group, False, shuffled_groups(group))

    def test_awq(self) -> None:
        for group in (32, 64, 128):
            with self.subTest(group=group):
                layer = AwqTorchLinear(bits=4, group_size=group, sym=False, desc_act=False, in_features=K, out_features=N)
                layer.pack(linear(), *grid(group, False))
                self.write(tensors_of(layer), QuantizeConfig(bits=4, group_size=group, sym=False, method="awq", format="gemm").to_dict())
                self.assert_packed(dequantize_gemm(layer.qweight, layer.qzeros, layer.scales.float(), 4, group).t().contiguous())


class AutoGptq(Checkpoint):
    def test_every_kind(self) -> None:
        for symmetric in (True, False):
            for group in (32, 64, 128):
                with self.subTest(symmetric=symmetric, group=group):
                    layer = QuantLinear(4, group, K, N, bias=False, weight_dtype=torch.float32)
                    scale, zero = grid(group, symmetric)
                    layer.pack(linear(), scale, torch.full_like(scale, zero) if symmetric else zero.clone(), None)
                    config = {"bits": 4, "group_size": group, "sym": symmetric, "desc_act": False, "quant_method": "gptq", "checkpoint_format": "gptq"}
                    self.write(tensors_of(layer) | {"scales": layer.scales.half()}, config)
                    self.assert_packed(layer(torch.eye(K)).t().contiguous())


class AutoAwq(Checkpoint):
    def test_every_group(self) -> None:
        for group in (32, 64, 128):
            with self.subTest(group=group):
                scale, zero = grid(group, False)
                layer = WQLinear_GEMM.from_linear(linear(), 4, group, scales=scale.t(), zeros=zero.t())
                self.write(tensors_of(layer), {"quant_method": "awq", "bits": 4, "group_size": group, "zero_point": True, "version": "gemm"})
                self.assert_packed(dequantize_gemm(layer.qweight, layer.qzeros, layer.scales.float(), 4, group).t().contiguous())


if __name__ == "__main__":
    unittest.main()
