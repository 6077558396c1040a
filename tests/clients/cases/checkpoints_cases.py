# SPDX-License-Identifier: MIT
"""Layers that the public packages quantize and pack: nw reads the numbers that the packages' own dequantization has."""

from __future__ import annotations

import json
import unittest

import torch
from auto_round.export.export_to_awq.utils import WQLinear_GEMM, dequantize_gemm
from auto_round_extension.torch import qlinear_torch, qlinear_torch_zp
from bitsandbytes import functional as bitsandbytes
from compressed_tensors.compressors import BaseCompressor
from compressed_tensors.compressors.nvfp4.helpers import unpack_fp4_from_uint8
from compressed_tensors.quantization import QuantizationArgs, QuantizationScheme
from compressed_tensors.quantization.utils import calculate_qparams, generate_gparam
from hqq.core.quantize import BaseQuantizeConfig, HQQLinear, Quantizer
from layers import STEM, Checkpoint, K, N, grid, linear, shuffled_groups, weights
from packing import Packed, nw
from safetensors.torch import save_file
from safetensors_file import decode
from test_pack_fp4 import mxfp4_rows, nvfp4_rows
from test_quantize import Quantized
from transformers.integrations.mxfp4 import convert_moe_packed_tensors


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


class AutoRound(Checkpoint):
    """It has the packing of GPTQ and of AWQ as well."""

    def gptq(self, kind: type, group: int, symmetric: bool, config: dict, order: torch.Tensor | None = None) -> None:
        layer = kind(4, group, K, N, bias=False, g_idx=order is not None)
        layer.device = "cpu"
        layer.pack(linear(), *grid(group, symmetric), device="cpu")
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
                config = {"quant_method": "gptq", "checkpoint_format": form, "desc_act": True}
                with self.subTest(form=form, group=group):
                    self.gptq(kind.QuantLinear, group, False, config, shuffled_groups(group))

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
                    layer = WQLinear_GEMM.from_linear(linear(), 4, group, scales=scale.t(), zeros=zero.t(), device="cpu")
                    tensors = {key: value for key, value in layer.state_dict().items() if value is not None}
                    self.write(tensors, {"bits": 4, "group_size": group, "zero_point": True} | said)
                    want = dequantize_gemm(layer.qweight, layer.qzeros, layer.scales.float(), 4, group)
                    self.assert_packed(want.t())


class E2m1(Checkpoint):
    def rows(self, kind: str, name: str) -> tuple[torch.Tensor, float]:
        """Numbers by their blocks' scales, and the scale of the whole tensor."""
        self.pack()
        (row,) = json.loads(self.packed.with_suffix(".json").read_text())["fp4"]
        self.assertEqual((row["name"], row["type"]), (name, kind))
        of = mxfp4_rows if kind == "mxfp4" else nvfp4_rows
        return torch.tensor(of(decode(self.packed)[0][row["w"]].data, row["shape"][-1]), dtype=torch.float64), row.get("scale", 1.0)

    def compressed(self, form: str, args: QuantizationArgs, whole: torch.Tensor | None) -> dict[str, torch.Tensor]:
        blocks = weights().view(N, K // args.group_size, args.group_size)
        scale, _ = calculate_qparams(blocks.amin(-1), blocks.amax(-1), args, global_scale=whole)
        state = {"weight": weights(), "weight_scale": scale} | ({} if whole is None else {"weight_global_scale": whole})
        self.compressor, self.scheme = BaseCompressor.get_value_from_registry(form), QuantizationScheme(targets=["Linear"], weights=args)
        packed = self.compressor.compress(state, self.scheme)
        groups = {"group_0": {"targets": ["Linear"], "weights": json.loads(args.model_dump_json())}}
        self.write(packed, {"quant_method": "compressed-tensors", "format": form, "config_groups": groups})
        return packed

    def test_mxfp4_of_compressed_tensors(self) -> None:
        args = QuantizationArgs(num_bits=4, type="float", strategy="group", group_size=32, symmetric=True, scale_dtype="torch.uint8")
        packed = self.compressed("mxfp4-pack-quantized", args, None)
        want = self.compressor.decompress(packed, self.scheme)["weight"]  # bf16, which has them all
        got, _ = self.rows("mxfp4", STEM)
        torch.testing.assert_close(got, want.double(), rtol=0, atol=0)

    def test_nvfp4_of_compressed_tensors(self) -> None:
        args = QuantizationArgs(num_bits=4, type="float", strategy="tensor_group", group_size=16, symmetric=True, scale_dtype="torch.float8_e4m3fn")
        packed = self.compressed("nvfp4-pack-quantized", args, generate_gparam(weights().min(), weights().max()))
        codes = unpack_fp4_from_uint8(packed["weight_packed"], N, K).double()  # its decompress() rounds to bf16
        got, scale = self.rows("nvfp4", STEM)
        torch.testing.assert_close(got, codes * packed["weight_scale"].double().repeat_interleave(16, 1), rtol=0, atol=0)
        self.assertAlmostEqual(scale * packed["weight_global_scale"].item(), 1, delta=2**-23)

    def test_mxfp4_of_gpt_oss(self) -> None:
        generator = torch.Generator().manual_seed(3)
        blocks = torch.randint(0, 256, (3, 40, K // 32, 16), generator=generator, dtype=torch.uint8)
        scales = torch.randint(100, 140, (3, 40, K // 32), generator=generator, dtype=torch.uint8)
        name = "model.layers.0.mlp.experts.gate_up_proj"
        save_file({f"{name}_blocks": blocks, f"{name}_scales": scales}, self.input / "model.safetensors")
        want = convert_moe_packed_tensors(blocks, scales).transpose(1, 2)  # its rows are columns
        got, _ = self.rows("mxfp4", name)
        torch.testing.assert_close(got, want.double().reshape(got.shape), rtol=0, atol=0)


class Hqq(Quantized):
    def layer(self, group: int | None, whole: bool) -> torch.Tensor:
        """Writes it, and gives the package's numbers. `whole`: zero points are rounded after quantization, as w4a16 can have them."""
        made = HQQLinear(linear(), BaseQuantizeConfig(nbits=4, group_size=group, axis=1), compute_dtype=torch.float32, device="cpu")
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
