# SPDX-License-Identifier: MIT
"""nw quantize of layers that are 4 bits already: bitsandbytes' nf4 and fp4, and HQQ with any zero points."""

from __future__ import annotations

import ctypes
import importlib.util
import json
import random
import unittest
from pathlib import Path

import make_checkpoints
from make_checkpoints import make_matrix, reals, text
from packing import nw
from safetensors_file import Tensor, decode
from test_quantize import LINEAR, Quantized, nmse, pack, unpack

STEM = LINEAR.removesuffix(".weight")
EVEN = [(i - 8) / 8 for i in range(16)]  # a code book that w4a16 has exactly, where a group has code 0
NF4 = [
    -1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334,
    -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
    0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0,
]  # fmt: skip
FP4 = [x / 12 for x in (0, 0.0625, 8, 12, 4, 6, 2, 3, 0, -0.0625, -8, -12, -4, -6, -2, -3)]


def f32s(values: list[float]) -> Tensor:
    return reals("F32", [len(values)], values)


def bitsandbytes(codes: list[int], n: int, k: int, book: list[float], absmax: list[float], kind: str = "nf4", **state: object) -> dict:
    """The first of a byte's two codes is the high one."""
    data = bytes(a << 4 | b for a, b in zip(codes[::2], codes[1::2], strict=True))
    said = {"quant_type": kind, "blocksize": 64, "dtype": "bfloat16", "shape": [n, k]} | state
    return {
        LINEAR: Tensor("U8", [len(data), 1], data),
        LINEAR + ".quant_map": f32s(book),
        LINEAR + ".absmax": f32s(absmax),
        LINEAR + f".quant_state.bitsandbytes__{kind}": text(json.dumps(said)),
    }


def double_quantized(tensors: dict, codes: bytes, book: list[float], absmax: list[float], offset: float) -> dict:
    (key,) = (key for key in tensors if "quant_state" in key)
    state = json.loads(tensors[key].data) | {"nested_blocksize": 256, "nested_dtype": "float32", "nested_offset": offset}
    return tensors | {
        LINEAR + ".absmax": Tensor("U8", [len(codes)], codes),
        LINEAR + ".nested_quant_map": f32s(book),
        LINEAR + ".nested_absmax": f32s(absmax),
        key: text(json.dumps(state)),
    }


def even_codes(rng: random.Random, count: int) -> list[int]:
    return [0 if i % 64 == 0 else rng.randrange(16) for i in range(count)]


def library() -> ctypes.CDLL:
    """bitsandbytes' own code for CPUs, which needs none of its Python."""
    found = importlib.util.find_spec("bitsandbytes")
    if not found or not found.origin:
        raise unittest.SkipTest("the package bitsandbytes is not installed")
    return ctypes.CDLL(str(Path(found.origin).parent / "libbitsandbytes_cpu.so"))


class Bitsandbytes(Quantized):
    def test_a_book_of_equal_steps_is_exact(self) -> None:
        rng = random.Random(1)
        n, k = 5, 192
        codes = even_codes(rng, n * k)
        absmax = [2.0 ** rng.randint(-6, 2) for _ in range(n * k // 64)]
        self.write(bitsandbytes(codes, n, k, EVEN, absmax))
        report = self.quantize("--group", "64", "--clip", "none")
        self.assertEqual((report["nmse"], report["tensors"][0]["dtype"]), (0, "nf4"))
        self.assertEqual(report["copied_tensors"], 0)
        self.assertEqual(self.repacked(LINEAR), [EVEN[c] * absmax[i // 64] for i, c in enumerate(codes)])

    def test_double_quantization(self) -> None:
        rng = random.Random(2)
        n, k = 260, 64  # more than 256 blocks
        codes = even_codes(rng, n * k)
        book = [i / 256 for i in range(256)]
        coded = bytes(rng.choice((0, 64, 192)) for _ in range(n))
        tensors = bitsandbytes(codes, n, k, EVEN, [0.0] * n)
        self.write(double_quantized(tensors, coded, book, [1.0, 4.0], 0.25))
        self.assertEqual(self.quantize("--group", "64", "--clip", "none")["nmse"], 0)
        absmax = [book[c] * (1.0 if b < 256 else 4.0) + 0.25 for b, c in enumerate(coded)]
        self.assertEqual(self.repacked(LINEAR), [EVEN[c] * absmax[i // 64] for i, c in enumerate(codes)])

    def test_error_of_the_real_books(self) -> None:
        rng = random.Random(3)
        n, k = 8, 256
        codes = [rng.randrange(16) for _ in range(n * k)]
        absmax = [rng.uniform(0.02, 0.1) for _ in range(n * k // 64)]
        for kind, book in (("nf4", NF4), ("fp4", FP4)):
            for options in ((), ("--zero-points",)):
                self.write(bitsandbytes(codes, n, k, book, absmax, kind))
                report = self.quantize("--group", "64", *options)
                want = [book[c] * absmax[i // 64] for i, c in enumerate(codes)]
                self.assertAlmostEqual(report["nmse"], nmse(self.repacked(LINEAR), want), delta=1e-6)
                self.assertGreater(report["nmse"], 1e-4)

    def test_the_package_has_the_same_numbers(self) -> None:
        own = library()
        rng = random.Random(4)
        n, k = 16, 256
        codes = [rng.randrange(16) for _ in range(n * k)]
        absmax = [rng.uniform(0.02, 0.1) for _ in range(n * k // 64)]
        for kind, book in (("nf4", NF4), ("fp4", FP4)):
            tensors = bitsandbytes(codes, n, k, book, absmax, kind)
            self.write(tensors)
            report = self.quantize("--group", "32", "--zero-points")
            want = (ctypes.c_float * (n * k))()
            getattr(own, f"cdequantize_blockwise_cpu_{kind}_fp32")(
                tensors[LINEAR].data, (ctypes.c_float * len(absmax))(*absmax), want,
                ctypes.c_longlong(64), ctypes.c_longlong(n), ctypes.c_longlong(k),
            )  # fmt: skip
            self.assertAlmostEqual(report["nmse"], nmse(self.repacked(LINEAR), list(want)), delta=1e-9)

    def test_refused(self) -> None:
        good = bitsandbytes([0] * 512, 8, 64, NF4, [1.0] * 8)
        (state,) = (key for key in good if "quant_state" in key)

        def refused(change: dict, *words: str) -> None:
            self.write({key: value for key, value in (good | change).items() if value})
            with self.subTest(words=words):
                self.assert_refused(nw("quantize", self.input, "-o", self.packed, "--group", "64"), *words)

        refused({LINEAR + ".absmax": None}, state, 'absmax" is missing')
        refused({LINEAR + ".absmax": f32s([1.0] * 7)}, "absmax", "8 elements of F32", "N = 8, K = 64")
        refused({LINEAR + ".quant_map": f32s([1.0] * 15)}, "quant_map", "16 elements")
        refused({LINEAR: Tensor("U8", [255, 1], bytes(255))}, LINEAR, "256 elements of U8")
        refused({LINEAR + ".nested_absmax": f32s([1.0])}, "nested_blocksize")
        for wrong, *words in (
            ({"shape": [8]}, "shape"), ({"shape": [8, -64]}, "shape"), ({"shape": [8, 1 << 40]}, "2^31 - 1"),
            ({"blocksize": 0}, "blocksize"), ({"dtype": "int8"}, "dtype", "float16"),
        ):  # fmt: skip
            said = json.loads(good[state].data) | wrong
            refused({state: text(json.dumps(said))}, state, *words)
        refused({state: text("{")}, "is not JSON")
        self.assert_refused(nw("quantize", self.input, "-o", self.packed, "--group", "128"), LINEAR)


class Hqq(Quantized):
    def test_real_zero_points(self) -> None:
        rng = random.Random(5)
        m = make_matrix(rng, 6, 128, 64, asym=True)
        m.z = [[8.25 - g for g in range(m.groups)] for _ in range(m.n)]
        self.write({f"{STEM}.{key}": tensor for key, tensor in make_checkpoints.hqq(m, "F16").items()})
        self.assert_refused(nw("pack", self.input, self.packed), f"{STEM}.zero", "8.25", "nw quantize")
        report = self.quantize("--group", "32", "--zero-points")
        self.assertEqual((report["tensors"][0]["name"], report["tensors"][0]["dtype"]), (LINEAR, "hqq"))
        want = [x for row in m.values() for x in row]
        self.assertAlmostEqual(report["nmse"], nmse(self.repacked(LINEAR), want), delta=1e-9)
        self.assertLess(report["nmse"], 5e-3)

    def test_a_bias_is_copied(self) -> None:
        m = make_matrix(random.Random(6), 6, 64, 32, asym=True, bias=True)
        parts = make_checkpoints.hqq(m, "F16") | {"bias": Tensor("F16", [6], pack(m.bias, "F16"))}
        self.write({f"{STEM}.{key}": tensor for key, tensor in parts.items()})
        report = self.quantize("--group", "32")
        self.assertEqual(report["copied_tensors"], 1)
        self.assertEqual(unpack(decode(self.packed)[0][STEM + ".bias"]), m.bias)


if __name__ == "__main__":
    unittest.main()
