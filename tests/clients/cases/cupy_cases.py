# SPDX-License-Identifier: MIT
"""CuPy on the simulated library: its generated kernels, raw kernels, memory pools, streams and graphs against NumPy."""

from __future__ import annotations

import unittest

import cupy
import numpy

RANDOM = numpy.random.default_rng(1)
RAW = r"""
extern "C" __global__ void axpy(const float *x, float *y, float a, int n) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
template <typename T> __global__ void squares(T *x, int n) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < n) x[i] = x[i] * x[i];
}
__constant__ float table[4];
extern "C" __global__ void from_table(float *out) { out[threadIdx.x] = table[threadIdx.x & 3]; }
"""


class Cupy(unittest.TestCase):
    def same(self, got: cupy.ndarray, expected: object, tolerance: float = 1e-6) -> None:
        numpy.testing.assert_allclose(cupy.asnumpy(got), expected, rtol=tolerance, atol=tolerance)

    def test_device(self) -> None:
        self.assertGreaterEqual(cupy.cuda.runtime.getDeviceCount(), 1)
        self.assertTrue(cupy.cuda.runtime.getDeviceProperties(0)["gcnArchName"].startswith(b"gfx"))

    def test_copies(self) -> None:
        for dtype in (numpy.float16, numpy.float32, numpy.float64, numpy.int8, numpy.int64, numpy.complex64, bool):
            host = RANDOM.integers(0, 100, (7, 11)).astype(dtype)
            numpy.testing.assert_array_equal(cupy.asnumpy(cupy.asarray(host)), host)

    def test_arithmetic(self) -> None:
        x, y = RANDOM.random((2, 1001), dtype=numpy.float32) + 0.5
        dx, dy = cupy.asarray(x), cupy.asarray(y)
        self.same(dx * dy + 2, x * y + 2)
        self.same(dx / dy - dy, x / y - y, 1e-5)
        self.same(cupy.where(dx > dy, dx, -dy), numpy.where(x > y, x, -y))

    def test_functions(self) -> None:
        x = RANDOM.random(513) + 0.1
        for name in ("exp", "log", "sqrt", "sin", "cosh", "arctan", "cbrt", "log1p", "floor"):
            self.same(getattr(cupy, name)(cupy.asarray(x)), getattr(numpy, name)(x), 1e-12)

    def test_integers(self) -> None:
        x = RANDOM.integers(-1000, 1000, 700).astype(numpy.int32)
        y = RANDOM.integers(1, 50, 700).astype(numpy.int32)
        self.same(cupy.asarray(x) // cupy.asarray(y), x // y)
        self.same(cupy.asarray(x) % cupy.asarray(y), x % y)
        self.same(cupy.bitwise_xor(cupy.asarray(x), cupy.asarray(y)), x ^ y)

    def test_reductions(self) -> None:
        x = RANDOM.random((33, 65), dtype=numpy.float32)
        d = cupy.asarray(x)
        self.same(d.sum(axis=0), x.sum(axis=0), 1e-5)
        self.same(d.max(axis=1), x.max(axis=1))
        self.same(d.mean(), x.mean(), 1e-5)
        self.same(d.argmin(axis=1), x.argmin(axis=1))

    def test_indexing(self) -> None:
        x = numpy.arange(200).reshape(10, 20)
        d = cupy.asarray(x)
        rows = numpy.array([3, 1, 7])
        self.same(d[::2, 3:9], x[::2, 3:9])
        self.same(d[cupy.asarray(rows)], x[rows])
        d[d > 100] = 0
        self.same(d, numpy.where(x > 100, 0, x))

    def test_elementwise_kernel(self) -> None:
        kernel = cupy.ElementwiseKernel("T x, T y", "T z", "z = (x - y) * (x - y)", "squared_difference")
        x, y = RANDOM.random((2, 100), dtype=numpy.float32)
        self.same(kernel(cupy.asarray(x), cupy.asarray(y)), (x - y) ** 2)

    def test_reduction_kernel(self) -> None:
        kernel = cupy.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "norm")
        x = RANDOM.random(1000)
        self.same(kernel(cupy.asarray(x)), numpy.sqrt((x * x).sum()), 1e-12)

    def test_fused(self) -> None:
        x = RANDOM.random(300, dtype=numpy.float32)

        @cupy.fuse()
        def fused(a: cupy.ndarray) -> cupy.ndarray:
            return cupy.exp(a) * 2 + a

        self.same(fused(cupy.asarray(x)), numpy.exp(x) * 2 + x, 1e-5)

    def test_raw_kernel(self) -> None:
        module = cupy.RawModule(code=RAW, options=("-std=c++17",), name_expressions=["squares<int>", "squares<double>"])
        x, y = RANDOM.random((2, 1000), dtype=numpy.float32)
        dy = cupy.asarray(y)
        module.get_function("axpy")((4,), (256,), (cupy.asarray(x), dy, numpy.float32(3), 1000))
        self.same(dy, 3 * x + y, 1e-5)
        numbers = cupy.arange(100, dtype=numpy.int32)
        module.get_function("squares<int>")((1,), (128,), (numbers, 100))
        self.same(numbers, numpy.arange(100) ** 2)

    def test_constants_of_a_module(self) -> None:
        module = cupy.RawModule(code=RAW)
        table = cupy.ndarray(4, numpy.float32, module.get_global("table"))
        table[...] = cupy.asarray([1, 4, 9, 16], dtype=numpy.float32)
        out = cupy.empty(8, numpy.float32)
        module.get_function("from_table")((1,), (8,), (out,))
        self.same(out, [1, 4, 9, 16] * 2)

    def test_a_kernel_that_does_not_compile(self) -> None:
        with self.assertRaisesRegex(cupy.cuda.compiler.CompileException, "undeclared"):
            cupy.RawKernel('extern "C" __global__ void bad() { nonsense; }', "bad").compile()

    def test_streams_and_events(self) -> None:
        stream, start, end = cupy.cuda.Stream(non_blocking=True), cupy.cuda.Event(), cupy.cuda.Event()
        with stream:
            start.record()
            x = cupy.ones(4096, numpy.float32)
            for _ in range(8):
                x = x * 2
            end.record()
        end.synchronize()
        self.assertGreater(cupy.cuda.get_elapsed_time(start, end), 0)
        self.same(x, numpy.full(4096, 256.0))

    def test_memory_pool(self) -> None:
        pool = cupy.cuda.MemoryPool()
        with cupy.cuda.using_allocator(pool.malloc):
            x = cupy.zeros(1 << 16, numpy.uint8)
            self.assertGreaterEqual(pool.used_bytes(), 1 << 16)
            address = x.data.ptr
            del x
            self.assertEqual(cupy.ones(1 << 16, numpy.uint8).data.ptr, address)
        pool.free_all_blocks()
        self.assertEqual(pool.total_bytes(), 0)

    def test_sort_without_libraries(self) -> None:
        x = RANDOM.random(100)
        self.same(cupy.cumsum(cupy.asarray(x)), numpy.cumsum(x), 1e-12)
        self.same(cupy.histogram(cupy.asarray(x), 10)[0], numpy.histogram(x, 10)[0])


if __name__ == "__main__":
    unittest.main()
