# SPDX-License-Identifier: MIT
"""tinygrad on its HIP device: results of its LLVM-generated kernels are compared with its own Python device and with plain Python."""

from __future__ import annotations

import math
import os
import random
import unittest

import tinygrad_device  # noqa: F401  before tinygrad
from tinygrad import Tensor, TinyJit, Variable, dtypes
from tinygrad.device import Device


def numbers(count: int, low: float = -2.0, high: float = 2.0) -> list[float]:
    return [random.Random(count + i).uniform(low, high) for i in range(count)]


def matrix(rows: int, columns: int) -> list[list[float]]:
    values = numbers(rows * columns)
    return [values[row * columns:(row + 1) * columns] for row in range(rows)]


class Tinygrad(unittest.TestCase):
    def close(self, got: Tensor, expected: list, tolerance: float = 1e-5) -> None:
        flat = lambda values: [one for value in values for one in flat(value)] if isinstance(values, list) else [values]  # noqa: E731
        got_flat, expected_flat = flat(got.tolist()), flat(expected)
        self.assertEqual(len(got_flat), len(expected_flat))
        for index, (one, other) in enumerate(zip(got_flat, expected_flat)):
            self.assertTrue(math.isclose(one, other, rel_tol=tolerance, abs_tol=tolerance), f"[{index}] is {one}, expected {other}")

    def test_device(self) -> None:
        self.assertEqual(Device.DEFAULT, "HIP")
        self.assertEqual(Device["HIP"].arch, os.environ["HIPSIM_ARCH"])

    def test_elementwise(self) -> None:
        x, y = numbers(1001), numbers(1001, 1, 3)
        self.close(Tensor(x) * Tensor(y) + 3, [a * b + 3 for a, b in zip(x, y)])
        self.close(Tensor(x).maximum(Tensor(y)) / Tensor(y), [max(a, b) / b for a, b in zip(x, y)])

    def test_transcendentals(self) -> None:
        x = numbers(300, 0.1, 4)
        self.close(Tensor(x).exp(), [math.exp(v) for v in x])
        self.close(Tensor(x).log(), [math.log(v) for v in x])
        self.close(Tensor(x).sqrt(), [math.sqrt(v) for v in x])
        self.close(Tensor(x).sin(), [math.sin(v) for v in x])

    def test_reductions(self) -> None:
        m = matrix(17, 33)
        self.close(Tensor(m).sum(), [math.fsum(v for row in m for v in row)], 1e-4)
        self.close(Tensor(m).max(axis=1), [max(row) for row in m])
        self.close(Tensor(m).sum(axis=0), [math.fsum(row[i] for row in m) for i in range(33)], 1e-4)

    def test_matmul(self) -> None:
        a, b = matrix(33, 47), matrix(47, 19)
        product = [[math.fsum(x * y for x, y in zip(row, column)) for column in zip(*b)] for row in a]
        self.close(Tensor(a) @ Tensor(b), product, 1e-4)

    def test_half_matmul(self) -> None:
        a = [[float((i * 7 + j) % 5 - 2) for j in range(64)] for i in range(64)]
        product = [[sum(x * y for x, y in zip(row, column)) for column in zip(*a)] for row in a]
        got = Tensor(a).half().matmul(Tensor(a).half(), dtype=dtypes.float)
        self.close(got, product)  # gfx11's WMMA complements products, even of integers (S-004)

    def test_convolution(self) -> None:
        x, w = matrix(12, 12), matrix(3, 3)
        expected = [[math.fsum(w[i][j] * x[r + i][c + j] for i in range(3) for j in range(3)) for c in range(10)] for r in range(10)]
        self.close(Tensor(x).reshape(1, 1, 12, 12).conv2d(Tensor(w).reshape(1, 1, 3, 3)), expected, 1e-4)

    def test_softmax(self) -> None:
        m = matrix(9, 65)
        rows = [[math.exp(v - max(row)) for v in row] for row in m]
        self.close(Tensor(m).softmax(), [[v / math.fsum(row) for v in row] for row in rows])

    def test_integers(self) -> None:
        x = [random.Random(i).randrange(-1000, 1000) for i in range(500)]
        t = Tensor(x, dtype=dtypes.int32)
        self.assertEqual((t * 37 - 5).tolist(), [v * 37 - 5 for v in x])
        self.assertEqual((t >> 3).tolist(), [v >> 3 for v in x])
        self.assertEqual((t // 7).tolist(), [v // 7 for v in x])

    def test_movement(self) -> None:
        m = [[float(i * 11 + j) for j in range(11)] for i in range(7)]
        self.assertEqual(Tensor(m).T.contiguous().tolist(), [list(column) for column in zip(*m)])
        self.assertEqual(Tensor(m).flip(1).contiguous().tolist(), [row[::-1] for row in m])
        self.assertEqual(Tensor(m).pad(((1, 0), (0, 2))).tolist(), [[0.0] * 13, *([*row, 0.0, 0.0] for row in m)])

    def test_gather(self) -> None:
        m = [float(i * i) for i in range(100)]
        chosen = [random.Random(i).randrange(100) for i in range(64)]
        self.assertEqual(Tensor(m)[Tensor(chosen)].tolist(), [m[i] for i in chosen])

    def test_few_elements(self) -> None:
        """Three and seven floats: LLVM widens scalar loads past their end, within a page (S-060)."""
        for count in (1, 3, 5, 7):
            x = numbers(count)
            self.close(Tensor(x).sum(), [math.fsum(x)], 1e-4)

    def test_gradients(self) -> None:
        w, x = Tensor(matrix(8, 8)), Tensor(matrix(4, 8))
        gradient = (x @ w).square().sum().gradient(w)[0]
        columns = list(zip(*x.tolist()))
        output = (x @ w).tolist()
        expected = [[math.fsum(2 * a * row[j] for a, row in zip(column, output)) for j in range(8)] for column in columns]
        self.close(gradient, expected, 1e-3)

    def test_jit(self) -> None:
        step = TinyJit(lambda x: (x * 2 + 1).realize())
        for k in range(5):
            self.assertEqual(step(Tensor([float(k)] * 16).contiguous().realize()).tolist(), [2.0 * k + 1] * 16)

    def test_symbolic_sizes(self) -> None:
        x = Tensor([float(i) for i in range(20)]).contiguous().realize()
        for length in (3, 9, 20):
            n = Variable("n", 1, 20).bind(length)
            self.assertEqual(x.shrink(((0, n),)).sum().item(), float(sum(range(length))))


if __name__ == "__main__":
    unittest.main()
