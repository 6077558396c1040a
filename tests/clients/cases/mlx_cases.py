# SPDX-License-Identifier: MIT
"""Layers that MLX quantizes, on its CPU backend: nw reads the numbers of its own dequantization."""

from __future__ import annotations

import json
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "formats"))

import mlx.core as mx  # noqa: E402
import numpy  # noqa: E402
from packing import nw  # noqa: E402
from safetensors_file import decode  # noqa: E402
from test_pack_fp4 import mxfp4_rows, nvfp4_rows  # noqa: E402
from test_quantize import LINEAR, Quantized, nmse, unpack  # noqa: E402

STEM, EMBEDDING = LINEAR.removesuffix(".weight"), "model.embed_tokens"
N, K = 24, 384
ULP = {mx.float32: 2.0**-23, mx.float16: 2.0**-10, mx.bfloat16: 2.0**-7}  # of a number, at most


def weights() -> mx.array:
    return mx.array((numpy.random.default_rng(1).standard_normal((N, K)) * 0.02 + 0.003).astype(numpy.float32))


class Mlx(Quantized):
    def save(self, parts: tuple[mx.array, ...], names: tuple[str, ...], **quantization: object) -> None:
        tensors = {f"{name}.{key}": part for name in names for key, part in zip(("weight", "scales", "biases"), parts)}
        mx.save_safetensors(str(self.input / "model.safetensors"), tensors, metadata={"format": "mlx"})
        (self.input / "config.json").write_text(json.dumps({"quantization": quantization}))

    def test_affine(self) -> None:
        """A converted embedding is within a rounding of MLX's in f32. Where a linear has no more than 4 bits, the second
        quantization adds less than a quarter of the error of MLX's."""
        for dtype in ULP:
            for bits in (2, 3, 4, 5, 6, 8):
                for group in (32, 64, 128):
                    with self.subTest(dtype=dtype, bits=bits, group=group):
                        q, s, b = mx.quantize(weights().astype(dtype), group_size=group, bits=bits)
                        self.save((q, s, b), (EMBEDDING, STEM), group_size=group, bits=bits)
                        report = self.quantize("--group", str(group), "--zero-points")
                        got = numpy.array(unpack(decode(self.packed)[0][f"{EMBEDDING}.weight"])).reshape(N, K)
                        exact = mx.dequantize(q, s.astype(mx.float32), b.astype(mx.float32), group_size=group, bits=bits)
                        want = numpy.array(exact).astype(float)
                        self.assertTrue((numpy.abs(got - want) <= ULP[dtype] * numpy.abs(want).max() / 2).all())
                        self.assertAlmostEqual(report["nmse"], nmse(self.repacked(LINEAR), want.reshape(-1).tolist()), delta=1e-9)
                        first = nmse(want.reshape(-1).tolist(), numpy.array(weights()).reshape(-1).tolist())
                        self.assertLess(report["nmse"], first / 4 if bits <= 4 else 0.011)

    def test_fp4(self) -> None:
        for mode, rows in (("mxfp4", mxfp4_rows), ("nvfp4", nvfp4_rows)):
            parts = mx.quantize(weights(), mode=mode)
            self.save(parts, (STEM,), group_size=32 if mode == "mxfp4" else 16, bits=4, mode=mode)
            path = self.folder / "packed.safetensors"
            done = nw("pack", self.input, path, "--force")
            self.assertEqual(done.returncode, 0, done.stderr)
            (tensor,) = decode(path)[0].values()
            self.assertEqual(rows(tensor.data, K), mx.dequantize(*parts, mode=mode, dtype=mx.float32).tolist())


if __name__ == "__main__":
    unittest.main()
