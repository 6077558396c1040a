# SPDX-License-Identifier: MIT
"""Helpers of the tests of nw pack: run it, and read its output by the contract of the kernels."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import tempfile
import unittest
from pathlib import Path

from safetensors_file import Tensor, decode

BUILD = Path(os.environ["NW_BUILD_DIR"])
KERNEL_ORDER = (0, 2, 4, 6, 1, 3, 5, 7)  # k of each nibble of a dword, from bit 0 up


def nw(*arguments: str | Path, **options) -> subprocess.CompletedProcess[str]:
    return subprocess.run([BUILD / "bin/nw", *arguments], capture_output=True, text=True, timeout=60, **options)


def stderr_on_terminal(*arguments: str | Path) -> tuple[int, str]:
    """The exit code, and nw's output if stderr is a terminal."""
    try:
        ours, theirs = os.openpty()
    except OSError as error:
        raise unittest.SkipTest(f"no terminals here: {error}") from error
    done = subprocess.run([BUILD / "bin/nw", *arguments], stdout=subprocess.DEVNULL, stderr=theirs, timeout=60)
    os.close(theirs)
    said = b""
    try:
        while part := os.read(ours, 1 << 16):  # at most a few KB at a time
            said += part
    except OSError:  # EIO: the other end is closed, and all was read
        pass
    os.close(ours)
    return done.returncode, said.decode()


class Folder(unittest.TestCase):
    """A test with a folder of its own, in which `in` is the checkpoint and `out` where output goes."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.input = self.folder / "in"
        self.output = self.folder / "out"
        self.input.mkdir()
        self.output.mkdir()
        self.packed = self.output / "model.safetensors"

    def assert_refused(self, done: subprocess.CompletedProcess[str], *words: str) -> None:
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertTrue(done.stderr.startswith("nw: "), done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertEqual(sorted(self.output.iterdir()), [], "something was left behind")


def numbers(tensor: Tensor) -> list:
    if tensor.dtype == "BF16":
        halves = struct.unpack(f"<{len(tensor.data) // 2}H", tensor.data)
        return [struct.unpack("<f", struct.pack("<I", h << 16))[0] for h in halves]
    code = {"U32": "I", "F16": "e", "F32": "f"}[tensor.dtype]
    return list(struct.unpack(f"<{len(tensor.data) // struct.calcsize(code)}{code}", tensor.data))


class Packed:
    """A packed file: its layers by name, experts as lists of rows of numbers."""

    def __init__(self, path: Path) -> None:
        self.tensors, self.metadata = decode(path)
        self.layout = json.loads(path.with_suffix(".json").read_text())
        self.linears = {row["name"]: row for row in self.layout["linears"]}

    def strided(self, row: dict, slices: int) -> list[list[list[int]]]:
        tensor = self.tensors[row["w"]]
        stride = row["w_stride"]
        shape = [row["n"], stride // 4]
        assert tensor.shape == ([slices, *shape] if "experts" in row else shape), tensor.shape
        step = row.get("w_expert_stride", 0)
        return [
            [list(struct.unpack_from(f"<{stride // 4}I", tensor.data, e * step + n * stride)) for n in range(row["n"])]
            for e in range(slices)
        ]

    def values(self, name: str) -> list[list[list[float]]]:
        """[expert][n][k], columns where the checkpoint has them."""
        row = self.linears[name]
        n_rows, k_columns, slices = row["n"], row["k"], row.get("experts", 1)
        group = k_columns if row["group"] == -1 else row["group"]
        groups = k_columns // group
        words = self.strided(row, slices)
        scales = numbers(self.tensors[row["s"]])
        zeros = numbers(self.tensors[row["zp"]]) if "zp" in row else None
        perm = numbers(self.tensors[row["perm"]]) if "perm" in row else None
        zero_rows = -(-n_rows // 8)
        out = []
        for e in range(slices):
            out.append([[0.0] * k_columns for _ in range(n_rows)])
            for n in range(n_rows):
                for j in range(k_columns):
                    g = j // group
                    q = words[e][n][j // 8] >> 4 * KERNEL_ORDER.index(j % 8) & 15
                    z = 8
                    if zeros:
                        z = zeros[(e * zero_rows + n // 8) * groups + g] >> 4 * (n % 8) & 15
                    k = perm[e * k_columns + j] if perm else j
                    out[e][n][k] = (q - z) * scales[(e * n_rows + n) * groups + g]
        return out

    def padding(self, name: str) -> set[int]:
        """The dwords that occur between the rows of a layer's weights."""
        row = self.linears[name]
        return {x for part in self.strided(row, row.get("experts", 1)) for line in part for x in line[row["k"] // 8 :]}
