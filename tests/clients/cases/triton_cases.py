# SPDX-License-Identifier: MIT
"""Triton without torch: its AMD driver on the simulated library, memory by hip-python, results against plain Python."""

from __future__ import annotations

import array
import math
import random
import struct
import unittest

import triton
import triton.language as tl
from hip import hip
from triton.backends.amd.driver import HIPDriver, HIPLauncher, HIPUtils

FORMATS = {"float32": "f", "int32": "i", "float16": "e"}


class Driver(HIPDriver):
    """Triton's driver without its calls of torch."""

    def __init__(self) -> None:
        self.utils = HIPUtils()
        self.launcher_cls = HIPLauncher
        self.get_current_device = lambda: 0
        self.get_current_stream = lambda device: 0


triton.runtime.driver.set_active(Driver())


def check(result):
    error, *values = result
    if int(error) != 0:
        raise RuntimeError(str(error))
    return values[0] if values else None


class Tensor:
    """An argument as Triton needs it: an address and the name of a type."""

    def __init__(self, values: list, kind: str = "float32") -> None:
        self.dtype, self.count, self._format = f"torch.{kind}", len(values), FORMATS[kind]
        data = struct.pack(f"{len(values)}{self._format}", *values)
        self._bytes = len(data)
        self._memory = check(hip.hipMalloc(self._bytes))
        check(hip.hipMemcpy(self._memory, data, self._bytes, hip.hipMemcpyKind.hipMemcpyHostToDevice))

    def data_ptr(self) -> int:
        return int(self._memory)

    def values(self) -> list:
        data = array.array("B", bytes(self._bytes))
        check(hip.hipDeviceSynchronize())
        check(hip.hipMemcpy(data, self._memory, self._bytes, hip.hipMemcpyKind.hipMemcpyDeviceToHost))
        return list(struct.unpack(f"{self.count}{self._format}", data.tobytes()))

    def __del__(self) -> None:
        hip.hipFree(self._memory)


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)


@triton.jit
def softmax(x, out, columns, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = tl.load(x + tl.program_id(0) * columns + at, mask=at < columns, other=-float("inf"))
    power = tl.exp(row - tl.max(row, axis=0))
    tl.store(out + tl.program_id(0) * columns + at, power / tl.sum(power, axis=0), mask=at < columns)


@triton.jit
def product(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, K, BK):
        left = tl.load(a + m[:, None] * K + (start + k)[None, :])
        right = tl.load(b + (start + k)[:, None] * N + n[None, :])
        total += tl.dot(left, right)
    tl.store(c + m[:, None] * N + n[None, :], total)


@triton.jit
def count(x, bins, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(bins + tl.load(x + at, mask=at < n, other=0), 1, mask=at < n)


@triton.jit
def ordered(x, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.sort(tl.load(x + at)))


@triton.jit
def running(x, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.cumsum(tl.load(x + at), axis=0))


@triton.jit
def transpose(x, out, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    r, c = tl.arange(0, ROWS), tl.arange(0, COLUMNS)
    tile = tl.load(x + r[:, None] * COLUMNS + c[None, :])
    tl.store(out + c[:, None] * ROWS + r[None, :], tl.trans(tile))


@triton.jit
def uniform(out, seed, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.rand(seed, at))


@triton.jit
def collatz(x, out, BLOCK: tl.constexpr):
    at = tl.program_id(0)
    value, steps = tl.load(x + at), 0
    while value != 1:
        value = tl.where(value % 2 == 0, value // 2, 3 * value + 1)
        steps += 1
    tl.store(out + at, steps)


@triton.jit
def functions(x, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n, other=1.0)
    tl.store(out + at, tl.sqrt(v) + tl.log(v) + tl.sin(v) + tl.sigmoid(v), mask=at < n)


def numbers(count: int) -> list[float]:
    source = random.Random(count)
    return [struct.unpack("f", struct.pack("f", source.uniform(0.1, 4)))[0] for _ in range(count)]


class Triton(unittest.TestCase):
    def close(self, got: list, expected: list, tolerance: float = 1e-5) -> None:
        self.assertEqual(len(got), len(expected))
        for index, (one, other) in enumerate(zip(got, expected)):
            self.assertTrue(math.isclose(one, other, rel_tol=tolerance, abs_tol=tolerance), f"[{index}] is {one}, expected {other}")

    def test_add(self) -> None:
        for n in (1, 1000, 4096):
            x, y, out = numbers(n), numbers(n)[::-1], Tensor([0.0] * n)
            add[(triton.cdiv(n, 256),)](Tensor(x), Tensor(y), out, n, BLOCK=256)
            self.close(out.values(), [a + b for a, b in zip(x, y)], 1e-6)

    def test_softmax(self) -> None:
        rows, columns = 7, 100
        x, out = numbers(rows * columns), Tensor([0.0] * rows * columns)
        softmax[(rows,)](Tensor(x), out, columns, BLOCK=128)
        parts = [x[row * columns:(row + 1) * columns] for row in range(rows)]
        self.close(out.values(), [math.exp(v) / math.fsum(map(math.exp, part)) for part in parts for v in part])

    def test_dot(self) -> None:
        """WMMA: small integers, which a half holds."""
        for m, n, k in ((16, 16, 16), (64, 32, 96)):
            a = [float((i * 7) % 5 - 2) for i in range(m * k)]
            b = [float((i * 3) % 7 - 3) for i in range(k * n)]
            out = Tensor([0.0] * m * n)
            product[(m // 16, n // 16)](Tensor(a, "float16"), Tensor(b, "float16"), out, m, n, k, BM=16, BN=16, BK=16)
            self.close(out.values(), [sum(a[i * k + p] * b[p * n + j] for p in range(k)) for i in range(m) for j in range(n)])

    def test_f32_dot(self) -> None:
        m = n = k = 32
        a, b, out = numbers(m * k), numbers(k * n + 0)[::-1], Tensor([0.0] * m * n)
        product[(2, 2)](Tensor(a), Tensor(b), out, m, n, k, BM=16, BN=16, BK=16)
        self.close(out.values(), [math.fsum(a[i * k + p] * b[p * n + j] for p in range(k)) for i in range(m) for j in range(n)], 1e-4)

    def test_atomics(self) -> None:
        x, bins = [random.Random(i).randrange(16) for i in range(1000)], Tensor([0] * 16, "int32")
        count[(4,)](Tensor(x, "int32"), bins, 1000, BLOCK=256)
        self.assertEqual(bins.values(), [x.count(i) for i in range(16)])

    def test_sort(self) -> None:
        x, out = numbers(256), Tensor([0.0] * 256)
        ordered[(1,)](Tensor(x), out, BLOCK=256)
        self.assertEqual(out.values(), sorted(x))

    def test_scan(self) -> None:
        x, out = list(range(512)), Tensor([0] * 512, "int32")
        running[(1,)](Tensor(x, "int32"), out, BLOCK=512)
        self.assertEqual(out.values(), [i * (i + 1) // 2 for i in range(512)])

    def test_transpose(self) -> None:
        x, out = numbers(32 * 64), Tensor([0.0] * 32 * 64)
        transpose[(1,)](Tensor(x), out, ROWS=32, COLUMNS=64)
        self.assertEqual(out.values(), [x[r * 64 + c] for c in range(64) for r in range(32)])

    def test_random_numbers(self) -> None:
        out, same, other = (Tensor([0.0] * 1024) for _ in range(3))
        for tensor, seed in ((out, 1), (same, 1), (other, 2)):
            uniform[(1,)](tensor, seed, BLOCK=1024)
        self.assertEqual(out.values(), same.values())
        self.assertNotEqual(out.values(), other.values())
        self.assertTrue(all(0 <= value < 1 for value in out.values()))
        self.assertAlmostEqual(sum(out.values()) / 1024, 0.5, delta=0.05)

    def test_loops_that_depend_on_data(self) -> None:
        out = Tensor([0] * 40, "int32")
        collatz[(40,)](Tensor(list(range(1, 41)), "int32"), out, BLOCK=1)

        def steps(value: int) -> int:
            return 0 if value == 1 else 1 + steps(value // 2 if value % 2 == 0 else 3 * value + 1)

        self.assertEqual(out.values(), [steps(value) for value in range(1, 41)])

    def test_functions(self) -> None:
        x, out = numbers(100), Tensor([0.0] * 100)
        functions[(1,)](Tensor(x), out, 100, BLOCK=128)
        self.close(out.values(), [math.sqrt(v) + math.log(v) + math.sin(v) + 1 / (1 + math.exp(-v)) for v in x])

    def test_one_to_many_warps(self) -> None:
        x, out = numbers(1024), Tensor([0.0] * 1024)
        for warps in (1, 2, 8):
            softmax[(1,)](Tensor(x), out, 1024, BLOCK=1024, num_warps=warps)
            self.close(out.values(), [math.exp(v) / math.fsum(map(math.exp, x)) for v in x])


if __name__ == "__main__":
    unittest.main()
