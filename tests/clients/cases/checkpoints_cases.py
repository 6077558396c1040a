# SPDX-License-Identifier: MIT
"""Layers that the public packages quantize and pack: nw reads the numbers that the packages' own dequantization has."""

from __future__ import annotations

import json
import os
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "formats"))
os.environ["CUDA_VISIBLE_DEVICES"] = ""  # before torch: the numbers of the CPU

import torch  # noqa: E402
from auto_round.export.export_to_awq.utils import WQLinear_GEMM, dequantize_gemm  # noqa: E402
from auto_round_extension.torch import qlinear_torch, qlinear_torch_zp  # noqa: E402
from bitsandbytes import functional as bitsandbytes  # noqa: E402
from compressed_tensors.compressors import BaseCompressor  # noqa: E402
from compressed_tensors.quantization import QuantizationArgs, QuantizationScheme  # noqa: E402
from compressed_tensors.quantization.utils import calculate_qparams  # noqa: E402
from hqq.core.quantize import BaseQuantizeConfig, HQQLinear, Quantizer  # noqa: E402
from packing import Folder, Packed, nw  # noqa: E402
from safetensors.torch import save_file  # noqa: E402
from test_quantize import Quantized  # noqa: E402

N, K = 64, 256  # N: AutoRound packs 32 rows at a time
STEM = "model.layers.0.mlp.down_proj"


def weights(dtype: torch.dtype = torch.float32, n: int = N) -> torch.Tensor:
    generator = torch.Generator().manual_seed(1)
    return (torch.randn(n, K, generator=generator) * 0.02 + 0.003).to(dtype)


class Checkpoint(Folder):
    def write(self, tensors: dict[str, torch.Tensor], config: dict) -> None:
        save_file({f"{STEM}.{key}": value.contiguous() for key, value in tensors.items()}, self.input / "model.safetensors")
        (self.input / "config.json").write_text(json.dumps({"quantization_config": config}))

    def assert_packed(self, want: torch.Tensor) -> None:
        done = nw("pack", self.input, self.packed, "--force")
        self.assertEqual(done.returncode, 0, done.stderr)
        torch.testing.assert_close(torch.tensor(Packed(self.packed).values(STEM)[0]), want, rtol=0, atol=0)


class CompressedTensors(Checkpoint):
    def same(self, n: int, dtype: torch.dtype, **options: object) -> None:
        args = QuantizationArgs(num_bits=4, type="int", **options)
        scheme = QuantizationScheme(targets=["Linear"], weights=args)
        weight = weights(n=n)
        group = args.group_size or K
        blocks = weight.view(n, K // group, group)
        scale, zero = calculate_qparams(blocks.amin(-1), blocks.amax(-1), args)
        state = {"weight": weight, "weight_scale": scale.to(dtype).float(), "weight_zero_point": zero.to(torch.int8)}
        compressor = BaseCompressor.get_value_from_registry("pack-quantized")
        packed = compressor.compress(state, scheme)
        want = compressor.decompress(packed, scheme)["weight"]  # by f32 scales: not rounded
        packed["weight_scale"] = packed["weight_scale"].to(dtype)
        groups = {"group_0": {"targets": ["Linear"], "weights": json.loads(args.model_dump_json())}}
        self.write(packed, {"quant_method": "compressed-tensors", "format": "pack-quantized", "config_groups": groups})
        self.assert_packed(want)

    def test_every_kind(self) -> None:
        for dtype in (torch.bfloat16, torch.float16):
            for symmetric in (True, False):
                for n in (N, 13):
                    with self.subTest(dtype=dtype, symmetric=symmetric, n=n):
                        for group in (32, 64, 128):
                            self.same(n, dtype, symmetric=symmetric, strategy="group", group_size=group)
                        self.same(n, dtype, symmetric=symmetric, strategy="channel")

    def test_static_activation_order(self) -> None:
        self.same(N, torch.bfloat16, symmetric=False, strategy="group", group_size=64, actorder="static")


def grid(group: int, symmetric: bool) -> tuple[torch.Tensor, torch.Tensor | int]:
    """Scales that f16 has, and zero points, [N, K / group]."""
    blocks = weights().view(N, K // group, group)
    scale = ((blocks.amax(-1) - blocks.amin(-1)) / 15).half().float()
    return scale, 8 if symmetric else (-blocks.amin(-1) / scale).round().clamp(1, 15)


class AutoRound(Checkpoint):
    """It has the packing of GPTQ and of AWQ as well."""

    def linear(self) -> torch.nn.Linear:
        linear = torch.nn.Linear(K, N, bias=False)
        linear.weight.data = weights()
        return linear

    def gptq(self, kind: type, group: int, symmetric: bool, config: dict, order: torch.Tensor | None = None) -> None:
        layer = kind(4, group, K, N, bias=False, g_idx=order is not None)
        layer.device = "cpu"
        layer.pack(self.linear(), *grid(group, symmetric), device="cpu")
        if order is not None:
            layer.g_idx = order
        tensors = {key: value for key, value in layer.state_dict().items() if value is not None}
        self.write(tensors, {"bits": 4, "group_size": group, "sym": symmetric} | config)
        layer.scales = layer.scales.float()
        self.assert_packed(layer(torch.eye(K)).t())

    def test_gptq(self) -> None:
        for group in (32, 64, 128):
            for symmetric in (True, False):
                with self.subTest(group=group, symmetric=symmetric):
                    self.gptq(qlinear_torch_zp.QuantLinear, group, symmetric, {"quant_method": "gptq", "checkpoint_format": "gptq"})
                    self.gptq(qlinear_torch.QuantLinear, group, symmetric, {"quant_method": "gptq", "checkpoint_format": "gptq_v2"})

    def test_activation_order(self) -> None:
        for kind, form in ((qlinear_torch_zp, "gptq"), (qlinear_torch, "gptq_v2")):
            for group in (32, 64, 128):
                order = torch.arange(K, dtype=torch.int32)[torch.randperm(K, generator=torch.Generator().manual_seed(2))] // group
                config = {"quant_method": "gptq", "checkpoint_format": form, "desc_act": True}
                with self.subTest(form=form, group=group):
                    self.gptq(kind.QuantLinear, group, False, config, order)

    def test_its_own_names(self) -> None:
        for kind, packing in ((qlinear_torch_zp, "auto_round:auto_gptq"), (qlinear_torch, "auto_round")):
            for symmetric in (True, False):
                with self.subTest(packing=packing, symmetric=symmetric):
                    self.gptq(kind.QuantLinear, 64, symmetric, {"quant_method": "auto-round", "packing_format": packing})

    def test_awq(self) -> None:
        for group in (32, 64, 128):
            for said in ({"quant_method": "awq", "version": "gemm"}, {"quant_method": "auto-round", "packing_format": "auto_round:auto_awq"}):
                with self.subTest(group=group, said=said):
                    scale, zero = grid(group, False)
                    layer = WQLinear_GEMM.from_linear(self.linear(), 4, group, scales=scale.t(), zeros=zero.t(), device="cpu")
                    tensors = {key: value for key, value in layer.state_dict().items() if value is not None}
                    self.write(tensors, {"bits": 4, "group_size": group, "zero_point": True} | said)
                    want = dequantize_gemm(layer.qweight, layer.qzeros, layer.scales.float(), 4, group)
                    self.assert_packed(want.t())


class Hqq(Quantized):
    def layer(self, group: int | None, whole: bool) -> torch.Tensor:
        """Writes it, and gives the package's numbers. `whole`: zero points are rounded after quantization, as w4a16 can have them."""
        linear = torch.nn.Linear(K, N, bias=False)
        linear.weight.data = weights()
        made = HQQLinear(linear, BaseQuantizeConfig(nbits=4, group_size=group, axis=1), compute_dtype=torch.float32, device="cpu")
        if whole:
            made.meta["zero"] = made.meta["zero"].round().clamp(0, 15)
            made.meta["scale"] = made.meta["scale"].half().float()
        save_file({f"{STEM}.{key}": value.contiguous() for key, value in made.state_dict().items()}, self.input / "model.safetensors")
        return Quantizer.dequantize(made.W_q, made.meta)

    def test_whole_zero_points(self) -> None:
        for group in (32, 64, 128, None):
            with self.subTest(group=group):
                want = self.layer(group, whole=True)
                done = nw("pack", self.input, self.packed, "--force", "--dtype", "f16")
                self.assertEqual(done.returncode, 0, done.stderr)
                torch.testing.assert_close(torch.tensor(Packed(self.packed).values(STEM)[0]), want, rtol=0, atol=0)

    def test_quantize_reads_its_numbers(self) -> None:
        for group in (32, 64, 128, None):
            with self.subTest(group=group):
                want = self.layer(group, whole=False).double().flatten()
                report = self.quantize("--group", "32", "--zero-points")
                got = torch.tensor(self.repacked(f"{STEM}.weight"), dtype=torch.float64)
                error = ((got - want) ** 2).sum() / (want**2).sum()
                self.assertAlmostEqual(report["nmse"], error.item(), delta=1e-6 * error.item())


class Bitsandbytes(Quantized):
    def test_double_quantization_too(self) -> None:
        for kind in ("nf4", "fp4"):
            for double in (False, True):
                for dtype in (torch.bfloat16, torch.float16, torch.float32):
                    with self.subTest(kind=kind, double=double, dtype=dtype):
                        self.same(kind, double, dtype)

    def same(self, kind: str, double: bool, dtype: torch.dtype) -> None:
        """nw quantize rounds these weights once more: its error against the package's numbers is the one it reports."""
        codes, state = bitsandbytes.quantize_4bit(weights(dtype, 272), blocksize=64, compress_statistics=double, quant_type=kind)
        name = f"{STEM}.weight"
        tensors = {name: codes} | {f"{name}.{key}": value for key, value in state.as_dict(packed=True).items()}
        save_file({key: value.contiguous() for key, value in tensors.items()}, self.input / "model.safetensors")
        report = self.quantize("--group", "32", "--zero-points")
        state.dtype = torch.float32
        want = bitsandbytes.dequantize_4bit(codes, state).double().flatten()
        got = torch.tensor(self.repacked(name), dtype=torch.float64)
        error = ((got - want) ** 2).sum() / (want**2).sum()
        self.assertAlmostEqual(report["nmse"], error.item(), delta=1e-6 * error.item())


if __name__ == "__main__":
    unittest.main()
