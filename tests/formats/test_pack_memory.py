# SPDX-License-Identifier: MIT
"""nw pack and nw quantize stream: their memory is bounded by the largest tensor, not by the checkpoint."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import unittest
from pathlib import Path

from packing import BUILD, Folder

N, K, GROUP, LAYERS = 4096, 8192, 128, 10
LARGEST = N * K // 2
PLAIN_N = 1024  # of what is quantized
ZEROS = {"gptq": b"\x77", "awq": b"\x35", "compressed": b""}


def tensors(kind: str) -> dict[str, tuple[str, list[int], bytes]]:
    """A tensor of a layer: dtype, shape, and the bytes that are repeated to fill it."""
    groups = K // GROUP
    if kind == "bf16":
        return {"weight": ("BF16", [PLAIN_N, K], b"\x80\x3c\x00\xbd")}
    weights, scale = os.urandom(1 << 16), b"\x00\x24"
    if kind == "compressed":
        return {
            "weight_packed": ("I32", [N, K // 8], weights),
            "weight_scale": ("F16", [N, groups], scale),
            "weight_shape": ("I64", [2], struct.pack("<qq", N, K)),
        }
    return {
        "qweight": ("I32", [K // 8, N] if kind == "gptq" else [K, N // 8], weights),
        "qzeros": ("I32", [groups, N // 8], ZEROS[kind]),
        "scales": ("F16", [groups, N], scale),
    }


def write(path: Path, kind: str) -> None:
    """Written in parts: this process's memory would count as that of the program it starts."""
    sizes = {"I32": 4, "I64": 8, "F16": 2, "BF16": 2}
    header, parts, at = {}, [], 0
    for layer in range(LAYERS):
        for name, (dtype, shape, data) in tensors(kind).items():
            size = sizes[dtype] * shape[0] * (shape[1] if len(shape) > 1 else 1)
            header[f"layers.{layer}.{name}"] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + size]}
            parts.append((data, size))
            at += size
    text = json.dumps(header).encode()
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for data, size in parts:
            piece = data * max(1, (1 << 16) // len(data))
            for begin in range(0, size, len(piece)):
                file.write(piece[: size - begin])


def peak(*arguments: str | Path) -> int:
    """Bytes that nw had at most."""
    process = subprocess.Popen([BUILD / "bin/nw", *arguments], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise AssertionError(f"nw {arguments}: exit code {process.returncode}")
    return usage.ru_maxrss * 1024


class Memory(Folder):
    def test_below_three_times_the_largest_tensor(self) -> None:
        idle = peak("pack", "--help")  # the program itself, with LLVM, which it links
        for kind in ("gptq", "awq", "compressed"):
            with self.subTest(kind=kind):
                write(self.input / "model.safetensors", kind)
                used = peak("pack", self.input, self.packed, "--force") - idle
                self.assertLess(used, 3 * LARGEST)
                self.assertEqual(os.path.getsize(self.packed) // LARGEST, LAYERS)

    def test_quantize_below_three_times_the_largest_tensor(self) -> None:
        write(self.input / "model.safetensors", "bf16")
        idle = peak("quantize", "--help")
        for to, name, bits in (("w4a16", "x.safetensors", 4 + 16 / 128), ("q4_K", "x.gguf", 4.5), ("mxfp4", "x.gguf", 4.25)):
            with self.subTest(to=to):
                output = self.output / name
                used = peak("quantize", self.input, "-o", output, "--to", to, "--clip", "none", "--force") - idle
                self.assertLess(used, 3 * PLAIN_N * K * 2)
                self.assertAlmostEqual(os.path.getsize(output) / (LAYERS * PLAIN_N * K / 8), bits, delta=0.001)


if __name__ == "__main__":
    unittest.main()
