#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Against the public `gguf` package (PyPI): every bit of ref::dequantize_row, and the files of nw quantize."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from safetensors_file import Tensor, encode

try:
    import numpy as np
    from gguf import GGML_QUANT_SIZES, GGMLQuantizationType, GGUFReader, quants

    MISSING = ""
except ImportError as error:
    MISSING = str(error)

BUILD = Path(os.environ["NW_BUILD_DIR"])
TYPES = ("q4_0", "q4_1", "q5_0", "q5_1", "q8_0", "q2_K", "q3_K", "q4_K", "q5_K", "q6_K", "iq4_nl", "iq4_xs", "mxfp4", "nvfp4")
BLOCKS = 3000


def with_finite_halves(blocks: "np.ndarray", at: list[int]) -> "np.ndarray":
    """Any bytes, but f16 scales whose exponent is not all ones."""
    for offset in at:
        blocks[:, offset + 1] &= 0xFB
    return blocks


@unittest.skipIf(MISSING, f"needs the packages gguf and numpy of PyPI: {MISSING}")
class Package(unittest.TestCase):
    # Where a block's f16 scales are; none of mxfp4 and nvfp4.
    HALVES = {"q4_1": [0, 2], "q5_1": [0, 2], "q2_K": [80, 82], "q3_K": [108], "q4_K": [0, 2], "q5_K": [0, 2], "q6_K": [208], "mxfp4": [], "nvfp4": []}

    def test_every_type(self) -> None:
        for name in TYPES:
            with self.subTest(name):
                kind = GGMLQuantizationType[name.upper()]
                _, size = GGML_QUANT_SIZES[kind]
                rng = np.random.default_rng(7)
                blocks = with_finite_halves(rng.integers(0, 256, (BLOCKS, size), dtype=np.uint8), self.HALVES.get(name, [0]))
                done = subprocess.run([BUILD / "bin/tests/dequantize", name], input=blocks.tobytes(), capture_output=True, check=True, timeout=60)
                got = np.frombuffer(done.stdout, np.float32)
                want = quants.dequantize(blocks, kind).astype(np.float32).reshape(-1)
                # -0 and 0 are one number; a sum of the two may have either sign.
                different = np.flatnonzero(got.view(np.uint32) != want.view(np.uint32))
                different = different[(got[different] != 0) | (want[different] != 0)]
                self.assertEqual(got.size, want.size)
                self.assertEqual(different.size, 0, f"the first at {different[:1]}: {got[different[:1]]}, not {want[different[:1]]}")

    def test_quantized_files(self) -> None:
        weights = np.random.default_rng(7).normal(0, 0.02, (24, 1024)).astype(np.float32)
        norm = np.arange(5, dtype=np.float32)
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "in.safetensors"
            source.write_bytes(encode({"up.weight": Tensor("F32", [24, 1024], weights.tobytes()), "norm": Tensor("F32", [5], norm.tobytes())}))
            for name in ("q4_K", "mxfp4"):
                with self.subTest(name):
                    path = Path(folder) / f"{name}.gguf"
                    command = [BUILD / "bin/nw", "quantize", source, "-o", path, "--to", name, "--json"]
                    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
                    tensors = {t.name: t for t in GGUFReader(path).tensors}
                    self.assertEqual(tensors["up.weight"].tensor_type, GGMLQuantizationType[name.upper()])
                    got = quants.dequantize(tensors["up.weight"].data, tensors["up.weight"].tensor_type)
                    error = np.square(got.astype(np.float64) - weights).sum() / np.square(weights.astype(np.float64)).sum()
                    self.assertAlmostEqual(json.loads(done.stdout)["nmse"], error, delta=1e-7 * error)
                    rounded = self.rounded(name, weights)
                    if rounded is not None:
                        self.assertLessEqual(error, np.square(rounded.astype(np.float64) - weights).sum() / np.square(weights.astype(np.float64)).sum())
                    np.testing.assert_array_equal(tensors["norm"].data, norm)

    def rounded(self, name: str, weights: "np.ndarray") -> "np.ndarray | None":
        """The weights as quantized by the package itself, if it supports the type."""
        kind = GGMLQuantizationType[name.upper()]
        try:
            return quants.dequantize(quants.quantize(weights, kind), kind)
        except NotImplementedError:
            return None


if __name__ == "__main__":
    unittest.main()
