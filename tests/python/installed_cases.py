# SPDX-License-Identifier: MIT
"""The installed package on the simulated GPU, beside its own reference. Run by the Python of its environment (test_wheel.py)."""

from __future__ import annotations

import ctypes
import unittest

import nibblewave as nw
import numpy
from nibblewave import gguf, reference
from nibblewave.tensors import tensor

nw.simulate("gfx1151")
RANDOM = numpy.random.default_rng(7)


def half(*shape: int) -> numpy.ndarray:
    return RANDOM.standard_normal(shape).astype(numpy.float16)


def close(got: nw.DeviceArray, want: numpy.ndarray, part: float) -> None:
    """Every error below that part of the largest value."""
    error = abs(got.numpy().astype(float) - want).max()
    assert error <= part * abs(want).max(), (error, abs(want).max())


class Interface:
    """As CuPy's arrays are."""

    def __init__(self, array: nw.DeviceArray) -> None:
        self.__cuda_array_interface__ = {
            "shape": array.shape, "typestr": array._host.dtype.str, "data": (array.data_ptr(), False), "strides": None, "version": 3,
        }  # fmt: skip


class OnCpu:
    """As torch's tensors on the CPU are."""

    class device:
        type = "cpu"

    def data_ptr(self) -> int:
        return 4096


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.context = nw.Context()

    def weights(self, *shape: int, group: int = 128) -> tuple[numpy.ndarray, numpy.ndarray, numpy.ndarray]:
        *front, n, k = shape
        scales = (RANDOM.random((*front, n, k // group)) / 64).astype(numpy.float16)
        return RANDOM.integers(0, 16, shape), scales, RANDOM.integers(0, 16, scales.shape)

    def test_gfx(self) -> None:
        self.assertEqual(self.context.gfx, "gfx1151")
        self.assertEqual(self.context.weight_row_stride(4096), 2048 + 128)

    def test_linear(self) -> None:
        for m in (1, 5, 70):
            x, (q, scales, z) = half(m, 512), self.weights(40, 512)
            for zeros, exact in ((None, reference.linear(x, q, scales, None, 128)), (z, reference.linear(x, q, scales, z, 128))):
                out = nw.DeviceArray.zeros((m, 40), "float16")
                packed = None if zeros is None else nw.DeviceArray(nw.pack_zeros(zeros))
                self.context.linear(nw.DeviceArray(x), nw.DeviceArray(nw.pack(q)), nw.DeviceArray(scales), zeros=packed, group=128, out=out)
                nw.synchronize()
                close(out, exact, 2e-3)

    def test_array_interface(self) -> None:
        x, (q, scales, _) = half(3, 256), self.weights(24, 256)
        arrays = [nw.DeviceArray(a) for a in (x, nw.pack(q), scales)]
        out = nw.DeviceArray.zeros((3, 24), "float16")
        self.context.linear(*map(Interface, arrays), group=128, out=Interface(out))
        close(out, reference.linear(x, q, scales, None, 128), 2e-3)

    def test_a_stream(self) -> None:
        hip = ctypes.CDLL(None)
        stream = ctypes.c_void_p()
        self.assertEqual(hip.hipStreamCreate(ctypes.byref(stream)), 0)
        x, (q, scales, _) = half(1, 256), self.weights(24, 256)
        arrays = [nw.DeviceArray(a) for a in (x, nw.pack(q), scales)]
        out = nw.DeviceArray.zeros((1, 24), "float16")
        self.context.linear(*arrays, group=128, out=out, stream=stream.value)
        self.assertEqual(hip.hipStreamSynchronize(stream), 0)
        close(out, reference.linear(x, q, scales, None, 128), 2e-3)

    def test_gguf(self) -> None:
        w = gguf.quantize_q8_0(RANDOM.standard_normal((40, 256)))
        for m in (1, 6, 40):
            x = RANDOM.standard_normal((m, 256)).astype(numpy.float32)
            out = nw.DeviceArray.zeros((m, 40), "float32")
            self.context.gguf_linear(nw.DeviceArray(x), nw.DeviceArray(w), "q8_0", out=out)
            nw.synchronize()
            close(out, x @ gguf.dequantize(w, "q8_0").T, 1e-2)

    def test_gguf_moe(self) -> None:
        w = gguf.quantize_q8_0(RANDOM.standard_normal((4, 24, 256)))
        x = RANDOM.standard_normal((5, 1, 256)).astype(numpy.float32)
        sorted_ = numpy.stack([RANDOM.permutation(4) for _ in range(5)]).astype(numpy.int32)
        out = nw.DeviceArray.zeros((5, 2, 24), "float32")
        self.context.gguf_moe_linear(nw.DeviceArray(x), nw.DeviceArray(w), "q8_0", nw.DeviceArray(sorted_[:, :2]), out=out)
        nw.synchronize()
        close(out, numpy.einsum("tk,tunk->tun", x[:, 0], gguf.dequantize(w, "q8_0")[sorted_[:, :2]]), 1e-2)

    def test_moe(self) -> None:
        x, (q, scales, z) = half(3, 256), self.weights(4, 24, 256)
        ids = RANDOM.integers(0, 4, (3, 2)).astype(numpy.int32)
        out = nw.DeviceArray.zeros((6, 24), "float16")
        arrays = [nw.DeviceArray(a) for a in (x, nw.pack(q), scales, ids)]
        self.context.moe_linear(*arrays, zeros=nw.DeviceArray(nw.pack_zeros(z)), group=128, out=out)
        nw.synchronize()
        close(out, reference.moe_linear(x, q, scales, z, ids, 128), 2e-3)

    def test_attention(self) -> None:
        q, k, v = half(1, 160, 4, 64), half(1, 160, 2, 64), half(1, 160, 2, 64)
        out = nw.DeviceArray.zeros(q.shape, "float16")
        self.context.attention(nw.DeviceArray(q), nw.DeviceArray(k), nw.DeviceArray(v), out=out)
        nw.synchronize()
        close(out, reference.attention(q, k, v), 4e-3)

    def test_errors_say_what_and_why(self) -> None:
        x, (q, scales, _) = nw.DeviceArray(half(3, 256)), self.weights(24, 256)
        w, s, out = nw.DeviceArray(nw.pack(q)), nw.DeviceArray(scales), nw.DeviceArray.zeros((3, 24), "float16")
        cases = [
            (ValueError, r"x is a list: it must have data_ptr", lambda: self.context.linear([1], w, s, group=128, out=out)),
            (ValueError, r"x is on DLPack device \(1, 0\): it must be on one of type 10", lambda: self.context.linear(q, w, s, group=128, out=out)),
            (ValueError, r"x is on cpu: it must be in the GPU's memory", lambda: self.context.linear(OnCpu(), w, s, group=128, out=out)),
            (ValueError, r"scales has shape \[24, 2\]: it must be \[N, K/group\] = \[24, 4\]", lambda: self.context.linear(x, w, s, group=64, out=out)),
            (ValueError, r"out has shape \[24, 2\]", lambda: self.context.linear(x, w, s, group=128, out=s)),
            (ValueError, r"type = 'iq2_xs': there are kernels for q4_0, .*iq4_xs, mxfp4", lambda: self.context.gguf_linear(x, w, "iq2_xs", out=out)),
            (ValueError, r"w has 32 dwords in a row: they must be K/8 = 64", lambda: self.context.linear(nw.DeviceArray(half(3, 512)), w, s, group=128, out=out)),
            (ValueError, r"stream is a str", lambda: self.context.linear(x, w, s, group=128, out=out, stream="s")),
        ]  # fmt: skip
        for kind, text, action in cases:
            with self.subTest(text=text), self.assertRaisesRegex(kind, text):
                action()
        with self.assertRaisesRegex(nw.Error, "group = 16"):
            odd = nw.DeviceArray((RANDOM.random((24, 16)) / 64).astype(numpy.float16))
            self.context.linear(x, w, odd, group=16, out=out)

    def test_pack(self) -> None:
        q = numpy.arange(16).reshape(1, 16) % 16
        self.assertEqual([f"{word:08x}" for word in nw.pack(q).view(numpy.uint32)[0]], ["75316420", "fdb9eca8"])
        with self.assertRaisesRegex(ValueError, "values 0..15"):
            nw.pack(q + 1)

    def test_strides_in_bytes(self) -> None:
        array = nw.DeviceArray(numpy.zeros((2, 3), numpy.float16))
        self.assertEqual((tensor(array, "x").strides, tensor(Interface(array), "x").strides), ((6, 2), (6, 2)))


if __name__ == "__main__":
    unittest.main()
