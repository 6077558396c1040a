#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ref::dequantize_row against the public `gguf` package (PyPI): every bit of every type that kernels take."""

from __future__ import annotations

import os
import subprocess
import unittest
from pathlib import Path

try:
    import numpy as np
    from gguf import GGML_QUANT_SIZES, GGMLQuantizationType, quants

    MISSING = ""
except ImportError as error:
    MISSING = str(error)

BUILD = Path(os.environ["NW_BUILD_DIR"])
TYPES = ("q4_0", "q4_1", "q5_0", "q5_1", "q8_0", "q2_K", "q3_K", "q4_K", "q5_K", "q6_K", "iq4_nl", "iq4_xs", "mxfp4")
BLOCKS = 3000


def with_finite_halves(blocks: "np.ndarray", at: list[int]) -> "np.ndarray":
    """Any bytes, but f16 scales whose exponent is not all ones."""
    for offset in at:
        blocks[:, offset + 1] &= 0xFB
    return blocks


@unittest.skipIf(MISSING, f"needs the packages gguf and numpy of PyPI: {MISSING}")
class Package(unittest.TestCase):
    # Where a block's f16 scales are; none of mxfp4.
    HALVES = {"q4_1": [0, 2], "q5_1": [0, 2], "q2_K": [80, 82], "q3_K": [108], "q4_K": [0, 2], "q5_K": [0, 2], "q6_K": [208], "mxfp4": []}

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


if __name__ == "__main__":
    unittest.main()
