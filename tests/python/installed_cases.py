# SPDX-License-Identifier: MIT
"""The installed package on the simulated GPU, beside its own reference. Run by the Python of its environment (test_wheel.py)."""

from __future__ import annotations

import ctypes
import subprocess
import sys
import unittest
import weakref

import nibblewave as nw
import numpy
from nibblewave import dlpack, gguf, reference
from nibblewave.tensors import tensor

nw.simulate("gfx1151")
RANDOM = numpy.random.default_rng(7)


def half(*shape: int) -> numpy.ndarray:
    return RANDOM.standard_normal(shape).astype(numpy.float16)


def close(got: nw.DeviceArray, want: numpy.ndarray, part: float) -> None:
    """Every error below that part of the largest value."""
    error = abs(got.numpy().astype(float) - want).max()
    assert error <= part * abs(want).max(), (error, abs(want).max())


def weights(*shape: int, group: int = 128) -> tuple[numpy.ndarray, numpy.ndarray, numpy.ndarray]:
    """Quantized ones, scales, zero points."""
    *front, n, k = shape
    scales = (RANDOM.random((*front, n, k // group)) / 64).astype(numpy.float16)
    return RANDOM.integers(0, 16, shape), scales, RANDOM.integers(0, 16, scales.shape)


class Interface:
    """As CuPy's arrays are."""

    def __init__(self, array: nw.DeviceArray) -> None:
        self.__cuda_array_interface__ = {
            "shape": array.shape, "typestr": array._host.dtype.str, "data": (array.data_ptr(), False), "strides": None, "version": 3,
        }  # fmt: skip


class Dlpack:
    """As arrays that have DLPack alone."""

    def __init__(self, array: nw.DeviceArray) -> None:
        self.__dlpack__, self.__dlpack_device__ = array.__dlpack__, array.__dlpack_device__


class Consumer:
    """Acts on a capsule as from_dlpack() does: takes the struct, renames the capsule and calls the deleter in the end."""

    def __init__(self, capsule: object) -> None:
        api = ctypes.pythonapi
        get, rename = api.PyCapsule_GetPointer, api.PyCapsule_SetName
        get.restype, get.argtypes, rename.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p], [ctypes.py_object, ctypes.c_char_p]
        self.address = get(capsule, b"dltensor")
        rename(capsule, b"used_dltensor")
        self.tensor = dlpack.DLTensor.from_address(self.address)

    def done(self) -> None:
        deleter = ctypes.c_void_p.from_address(self.address + ctypes.sizeof(dlpack.DLTensor) + 8).value
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(deleter)(self.address)


class OnCpu:
    """As torch's tensors on the CPU are."""

    class device:
        type = "cpu"

    def data_ptr(self) -> int:
        return 4096


class Strided:
    """Another view of an array's memory; strides in elements, contiguous by default."""

    def __init__(self, array: nw.DeviceArray, shape: tuple[int, ...], strides: tuple[int, ...] | None = None) -> None:
        steps = numpy.empty(shape, numpy.int8).strides if strides is None else strides
        self.shape, self.dtype, self.data_ptr, self.element_size = shape, array.dtype, array.data_ptr, array.element_size
        self.stride = lambda: steps


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.context = nw.Context()

    weights = staticmethod(weights)

    def test_prepare(self) -> None:
        """A new context launches into a stream that is being captured once its kernels are loaded, and not before."""
        hip, stream, graph = ctypes.CDLL(None), ctypes.c_void_p(), ctypes.c_void_p()
        self.assertEqual(hip.hipStreamCreate(ctypes.byref(stream)), 0)
        q, scales, z = self.weights(4, 24, 256)
        w, s, zeros = (nw.DeviceArray(a) for a in (nw.pack(q), scales, nw.pack_zeros(z)))
        one = [Strided(a, a.shape[1:]) for a in (w, s, zeros)]
        x, ids = nw.DeviceArray(half(3, 256)), nw.DeviceArray(numpy.zeros((3, 2), numpy.int32))
        out, slots = nw.DeviceArray.zeros((3, 24), "float16"), nw.DeviceArray.zeros((6, 24), "float16")
        context = nw.Context()
        launches = (
            lambda: context.linear(x, one[0], one[1], zeros=one[2], group=128, out=out, stream=stream.value),
            lambda: context.moe_linear(x, w, s, ids, zeros=zeros, group=128, out=slots, stream=stream.value),
        )
        self.assertEqual(hip.hipStreamBeginCapture(stream, 0), 0)
        for launch in launches:
            with self.assertRaisesRegex(nw.Error, "captur"):
                launch()
        self.assertEqual(hip.hipStreamEndCapture(stream, ctypes.byref(graph)), 0)
        context.prepare_linear(one[0], one[1], zeros=one[2], group=128, rows=3)
        context.prepare_moe(w, s, zeros=zeros, group=128)
        self.assertEqual(hip.hipStreamBeginCapture(stream, 0), 0)
        for launch in launches:
            launch()
        self.assertEqual(hip.hipStreamEndCapture(stream, ctypes.byref(graph)), 0)
        with self.assertRaisesRegex(nw.Error, "group = 16"):
            context.prepare_linear(one[0], nw.DeviceArray(half(24, 16)), group=16)

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

    def test_int8_activations(self) -> None:
        """Rows as the reference quantizes them, to the bit, and products of these; x has gaps between rows."""
        x, (q, scales, z), bias = half(70, 512), self.weights(40, 512), half(40)
        x[3], x[4, 7], x[5, 8], x[6] = 0, numpy.nan, numpy.inf, 6e-8
        whole = nw.DeviceArray(numpy.concatenate([x, half(70, 16)], 1))
        rows, row_scales = nw.DeviceArray.zeros((70, 512), "int8"), nw.DeviceArray.zeros((70,), "float32")
        w, s, packed, b = (nw.DeviceArray(a) for a in (nw.pack(q), scales, nw.pack_zeros(z), bias))
        self.context.prepare_linear_w4a8(w, s, zeros=packed, group=128, rows=70)
        self.context.quantize_rows(Strided(whole, (70, 512), (528, 1)), out=rows, scales=row_scales)
        want, factors = reference.quantize_rows(x)
        self.assertTrue((rows.numpy() == want).all() and numpy.array_equal(row_scales.numpy(), factors, equal_nan=True))
        self.assertTrue(numpy.isnan(factors[4:6]).all() and not numpy.isnan(factors[[0, 3, 6]]).any())
        finite = ~numpy.isnan(factors)
        for silu, zeros, z_of in ((False, None, None), (False, packed, z), (True, packed, z)):
            out = nw.DeviceArray.zeros((70, 20 if silu else 40), "float16")
            self.context.linear_w4a8(rows, row_scales, w, s, zeros=zeros, bias=b, silu_gate_up=silu, group=128, out=out)
            got, exact = out.numpy().astype(float), reference.linear_w4a8(want, factors, q, scales, z_of, 128, bias=bias, silu=silu)
            self.assertTrue(numpy.isnan(got[~finite]).all())
            self.assertLess(abs(got - exact)[finite].max(), 1e-3 * abs(exact[finite]).max())

    def test_int8_errors(self) -> None:
        x, rows, factors = nw.DeviceArray(half(3, 256)), nw.DeviceArray.zeros((3, 256), "int8"), nw.DeviceArray.zeros((3,), "float32")
        q, scales, _ = self.weights(24, 256)
        w, s, out = nw.DeviceArray(nw.pack(q)), nw.DeviceArray(scales), nw.DeviceArray.zeros((3, 24), "float16")
        cases = [
            (ValueError, r"out is of type f16: it must be i8", lambda: self.context.quantize_rows(x, out=x, scales=factors)),
            (ValueError, r"scales has shape \[2\]: it must be \[M\] = \[3\]", lambda: self.context.quantize_rows(x, out=rows, scales=Strided(factors, (2,)))),
            (ValueError, r"x is of type f16: it must be i8", lambda: self.context.linear_w4a8(x, factors, w, s, group=128, out=out)),
            (ValueError, r"x_scales is of type f16: it must be f32", lambda: self.context.linear_w4a8(rows, out, w, s, group=128, out=out)),
            (ValueError, r"zeros is of type f16: it must be i32 or u32", lambda: self.context.linear_w4a8(rows, factors, w, s, zeros=s, group=128, out=out)),
            (ValueError, r"out is of type f32: it must be f16", lambda: self.context.linear_w4a8(rows, factors, w, s, group=128, out=factors)),
            (ValueError, r"rows = 0: it must be a whole number of 1", lambda: self.context.prepare_linear_w4a8(w, s, group=128, rows=0)),
        ]  # fmt: skip
        for kind, text, action in cases:
            with self.subTest(text=text), self.assertRaisesRegex(kind, text):
                action()

    def test_fp8_needs_gfx12(self) -> None:
        rows, scales = nw.DeviceArray.zeros((3, 256), "uint8"), nw.DeviceArray.zeros((3,), "float32")
        with self.assertRaisesRegex(nw.Error, "quantize_fp8: no kernel for f16 on gfx1151"):
            self.context.quantize_fp8(nw.DeviceArray(half(3, 256)), out=rows, scales=scales)

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

    def gguf_weights(self, type: str, n: int, k: int) -> numpy.ndarray:
        """Any quants; scales near 1/64 of their kind. The last bytes of a block are the scale where the first are not."""
        elements, size = gguf.block(type)
        blocks = RANDOM.integers(0, 256, (n * k // elements, size), dtype=numpy.uint8)
        half = numpy.frombuffer(numpy.float16(0.002 if elements == 256 else 0.02).tobytes(), numpy.uint8)
        if type == "mxfp4":
            blocks[:, 0] = RANDOM.integers(118, 124, len(blocks))
        elif type == "nvfp4":
            blocks[:, :4] = RANDOM.integers(0x08, 0x18, (len(blocks), 4))
        elif type in ("q2_K", "q3_K", "q6_K"):
            blocks[:, -2:] = half
            if type == "q2_K":
                blocks[:, -4:-2] = half
        else:
            blocks[:, :2] = half
            if type in ("q4_1", "q5_1", "q4_K", "q5_K"):
                blocks[:, 2:4] = half
        return blocks.reshape(n, -1)

    def test_gguf(self) -> None:
        """Every type, beside the package's reference. Activations are whole numbers that int8 and f16 hold exactly."""
        for type in gguf._BLOCKS:
            w = self.gguf_weights(type, 40, 256)
            for m in (1, 6, 40):
                with self.subTest(type=type, m=m):
                    x = RANDOM.integers(-127, 128, (m, 256)).astype(numpy.float32)
                    x[:, ::32] = 127
                    out = nw.DeviceArray.zeros((m, 40), "float32")
                    self.context.gguf_linear(nw.DeviceArray(x), nw.DeviceArray(w), type, out=out)
                    nw.synchronize()
                    close(out, reference.gguf_linear(x, w, type), 1e-3)

    def test_gguf_moe(self) -> None:
        w = gguf.quantize_q8_0(RANDOM.standard_normal((4, 24, 256)))
        x = RANDOM.standard_normal((5, 1, 256)).astype(numpy.float32)
        sorted_ = numpy.stack([RANDOM.permutation(4) for _ in range(5)]).astype(numpy.int32)
        out = nw.DeviceArray.zeros((5, 2, 24), "float32")
        self.context.gguf_moe_linear(nw.DeviceArray(x), nw.DeviceArray(w), "q8_0", nw.DeviceArray(sorted_[:, :2]), out=out)
        nw.synchronize()
        close(out, numpy.einsum("tk,tunk->tun", x[:, 0], gguf.dequantize(w, "q8_0")[sorted_[:, :2]]), 1e-2)

    def test_gguf_moe_act(self) -> None:
        for type in ("mxfp4", "nvfp4"):
            w = self.gguf_weights(type, 4 * 24, 256).reshape(4, 24, -1)
            x = RANDOM.integers(-127, 128, (5, 1, 256)).astype(numpy.float32)
            x[:, :, ::32] = 127
            bias = RANDOM.normal(0, 4, (4, 24)).astype(numpy.float32)
            ids = numpy.array([[3, -1], [0, 2], [4, 1], [1, 2], [3, 0]], numpy.int32)
            # The scale of a block of x has 11 bits. Of SwiGLU's slopes, by gate and by up, the sum is below 16.
            error = 2**-11 * numpy.einsum("tuk,enk->tuen", abs(x), abs(gguf.dequantize(w, type))).max()
            for swiglu in (False, True):
                with self.subTest(type=type, swiglu=swiglu):
                    out = nw.DeviceArray.zeros((5, 2, 12 if swiglu else 24), "float32")  # slots of no expert keep it
                    arrays = [nw.DeviceArray(a) for a in (x, w)]
                    self.context.gguf_moe_act(*arrays, type, nw.DeviceArray(ids), bias=nw.DeviceArray(bias), swiglu=swiglu, out=out)
                    nw.synchronize()
                    want = reference.gguf_moe_act(x, w, type, ids, bias, swiglu)
                    close(out, want, (16 if swiglu else 1) * error / abs(want).max())

    def test_moe(self) -> None:
        x, (q, scales, z) = half(3, 256), self.weights(4, 24, 256)
        ids, weights, bias = numpy.array([[3, -1], [0, 2], [4, 1]], numpy.int32), RANDOM.random((3, 2)).astype(numpy.float32), half(4, 24)
        for silu in (False, True):
            before = numpy.full((6, 12 if silu else 24), 7, numpy.float16)
            out = nw.DeviceArray(before)  # slots of no expert keep it
            arrays = [nw.DeviceArray(a) for a in (x, nw.pack(q), scales, ids)]
            self.context.moe_linear(*arrays, zeros=nw.DeviceArray(nw.pack_zeros(z)), bias=nw.DeviceArray(bias), weights=nw.DeviceArray(weights),
                                    silu_gate_up=silu, group=128, out=out)  # fmt: skip
            nw.synchronize()
            exact = reference.moe_linear(x, q, scales, z, ids, 128, bias=bias, weights=weights, silu=silu, out=before)
            self.assertTrue((exact[[1, 4]] == 7).all())
            close(out, exact, 2e-3)

    def test_moe_in_blocks(self) -> None:
        x, (q, scales, _) = half(40, 256), self.weights(4, 24, 256)
        ids = RANDOM.integers(-1, 4, (40, 2)).astype(numpy.int32)
        choice, exact = nw.DeviceArray(ids), reference.moe_linear(x, q, scales, None, ids, 128)
        for size in (4, 16, 64):
            count = self.context.moe_blocks(80, 4, size)
            lists = tuple(nw.DeviceArray.zeros(shape, "int32") for shape in ((count, size), (count,), (1,)))
            self.context.moe_align(choice, experts=4, lists=lists)
            out = nw.DeviceArray.zeros((80, 24), "float16")
            arrays = [nw.DeviceArray(a) for a in (x, nw.pack(q), scales)]
            self.context.moe_linear(*arrays, choice, group=128, out=out, lists=lists)
            nw.synchronize()
            close(out, exact, 2e-3)

    def test_moe_errors(self) -> None:
        x, (q, scales, z) = nw.DeviceArray(half(3, 256)), self.weights(4, 24, 256)
        w, s, zeros, out = *(nw.DeviceArray(a) for a in (nw.pack(q), scales, nw.pack_zeros(z))), nw.DeviceArray.zeros((6, 24), "float16")
        ids, wide = nw.DeviceArray(numpy.zeros((3, 2), numpy.int32)), nw.DeviceArray(numpy.zeros((2, 2), numpy.float32))

        def moe(**changed: object) -> None:
            given = {"x": x, "w": w, "scales": s, "ids": ids, "group": 128, "out": out} | changed
            self.context.moe_linear(given.pop("x"), given.pop("w"), given.pop("scales"), given.pop("ids"), **given)

        cases = [
            (r"group = 0: it must be a whole number, 32, 64 or 128", {"group": 0}),
            (r"ids has shape \[0, 2\]: there is no slot", {"x": Strided(x, (0, 256)), "ids": Strided(ids, (0, 2)), "out": Strided(out, (0, 24))}),
            (r"zeros has shape \[4, 2, 2\]: it must be \[experts, ceil\(N/8\), K/group\] = \[4, 3, 2\]", {"zeros": Strided(zeros, (4, 2, 2))}),
            (r"zeros has strides .*: its rows must be contiguous", {"zeros": Strided(zeros, (4, 3, 2), (6, 1, 3))}),
            (r"weights has shape \[2, 2\]: it must be \[T, used\] = \[3, 2\]", {"weights": wide}),
            (r"weights has strides .*: it must be contiguous", {"weights": Strided(wide, (3, 2), (4, 1))}),
            (r"perm has shape \[3, 2\]: it must be \[experts, K\] = \[4, 256\]", {"perm": ids}),
            (r"scales has strides .*: its rows must be contiguous", {"scales": Strided(s, (4, 24, 2), (48, 1, 24))}),
            (r"w has strides .*: its rows must be contiguous", {"w": Strided(w, (4, 24, 32), (768, 1, 24))}),
        ]  # fmt: skip
        for text, changed in cases:
            with self.subTest(text=text), self.assertRaisesRegex(ValueError, text):
                moe(**changed)

    def test_rms_norm(self) -> None:
        context, x, w = nw.Context(), RANDOM.standard_normal((5, 520)).astype(numpy.float32), RANDOM.random(512).astype(numpy.float32)
        on, rows = nw.DeviceArray(x), x[:, :512]
        for out in (nw.DeviceArray.zeros((5, 512), "float32"), nw.DeviceArray.zeros((5, 512), "float16")):
            context.rms_norm(Strided(on, (5, 512), (520, 1)), nw.DeviceArray(w), out=out, eps=1e-5)
            close(out, reference.rms_norm(rows, w, 1e-5), 1e-3 if out.numpy().dtype == numpy.float16 else 1e-6)
        for says, wrong in (
            ("out has shape [5, 256]: it must be [M, K] = [5, 512]", {"out": nw.DeviceArray.zeros((5, 256), "float32")}),
            ("w is of type f16: it must be f32; convert it", {"w": nw.DeviceArray(half(512))}),
            ("eps = -1: must be finite and at least 0", {"eps": -1.0}),
            ("eps = '1': it must be a number", {"eps": "1"}),
        ):
            arguments = {"w": nw.DeviceArray(w), "out": nw.DeviceArray.zeros((5, 512), "float32")} | wrong
            with self.assertRaises((ValueError, nw.Error), msg=says) as raised:
                context.rms_norm(nw.DeviceArray(numpy.ascontiguousarray(rows)), **arguments)
            self.assertIn(says, str(raised.exception))

    def test_glu(self) -> None:
        context, both = nw.Context(), RANDOM.standard_normal((5, 512)).astype(numpy.float32) * 4
        gate, up, out = both[:, :256], both[:, 256:], nw.DeviceArray.zeros((5, 256), "float32")
        halves = nw.DeviceArray(numpy.ascontiguousarray(gate)), nw.DeviceArray(numpy.ascontiguousarray(up))
        for act in ("swiglu", "swiglu_oai", "geglu", "geglu_erf", "geglu_quick", "reglu"):
            context.glu(*halves, out=out, act=act)
            close(out, reference.glu(gate, up, act), 1e-5)
        context.glu(Strided(nw.DeviceArray(both), (5, 256), (512, 1)), halves[1], out=out, act="swiglu")
        close(out, reference.glu(gate, up, "swiglu"), 1e-5)
        for says, wrong in (
            ("act = 'gelu': it must be one of swiglu, swiglu_oai, geglu, geglu_erf, geglu_quick, reglu, swiglu_clamp", {"act": "gelu"}),
            ("up has shape [5, 512]: it must be [M, K] = [5, 256]", {"up": nw.DeviceArray(both)}),
            ("alpha = -1: must be finite and at least 0", {"act": "swiglu_oai", "alpha": -1.0}),
        ):
            with self.assertRaises((ValueError, nw.Error), msg=says) as raised:
                context.glu(**{"gate": halves[0], "up": halves[1], "out": out, "act": "swiglu"} | wrong)
            self.assertIn(says, str(raised.exception))

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
            (ValueError, r"x is on the host: wrap it by nibblewave.DeviceArray\(x\)", lambda: self.context.linear(q, w, s, group=128, out=out)),
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
        with self.assertRaisesRegex(ValueError, r"q has values 1\.\.16: they must be 0\.\.15"):
            nw.pack(q + 1)

    def test_unpack(self) -> None:
        q, z = RANDOM.integers(0, 16, (2, 20, 64)), RANDOM.integers(0, 16, (2, 20, 3))
        self.assertTrue((reference.unpack(nw.pack(q)) == q).all())
        self.assertTrue((reference.unpack_zeros(nw.pack_zeros(z), 20) == z).all())

    def test_reference_of_bf16(self) -> None:
        x, (q, scales, z) = half(3, 256).astype(numpy.float32), self.weights(24, 256)

        def bits(a: numpy.ndarray) -> numpy.ndarray:
            return (a.astype(numpy.float32).view(numpy.uint32) >> 16).astype(numpy.uint16)

        rounded = [(bits(a).astype(numpy.uint32) << 16).view(numpy.float32) for a in (x, scales)]
        got = reference.linear(bits(x), q, bits(scales), bits(z), 128)
        self.assertTrue((got == reference.linear(rounded[0], q, rounded[1], z, 128)).all())

    def test_dlpack_as_an_operand(self) -> None:
        x, (q, scales, _) = half(3, 256), self.weights(24, 256)
        out = nw.DeviceArray.zeros((3, 24), "float16")
        self.context.linear(*(Dlpack(nw.DeviceArray(a)) for a in (x, nw.pack(q), scales)), group=128, out=Dlpack(out))
        nw.synchronize()
        close(out, reference.linear(x, q, scales, None, 128), 2e-3)

    def test_dlpack_of_all_types(self) -> None:
        cases = (("float16", 2, 16), ("bf16", 4, 16), ("float32", 2, 32), ("int32", 0, 32), ("uint32", 1, 32), ("uint8", 1, 8), ("int8", 0, 8))
        for name, code, bits in cases:
            with self.subTest(name=name):
                array = nw.DeviceArray.zeros((2, 3), name)
                t = Consumer(array.__dlpack__()).tensor
                self.assertEqual((t.code, t.bits, t.lanes, t.byte_offset, t.data), (code, bits, 1, 0, array.data_ptr()))
                self.assertEqual((t.device_type, t.device_id, t.shape[: t.ndim], t.strides[: t.ndim]), (10, 0, [2, 3], [3, 1]))

    def test_dlpack_keeps_the_memory(self) -> None:
        array = nw.DeviceArray(half(2, 3))
        alive, taken = weakref.ref(array), Consumer(array.__dlpack__(stream=-1))
        dropped = array.__dlpack__()  # never taken
        del array
        self.assertIsNotNone(alive())
        taken.done()
        self.assertIsNotNone(alive())
        del dropped
        self.assertIsNone(alive())

    def test_dlpack_waits(self) -> None:
        """A stream in capture may not wait for the null stream: so it shows that one is asked to."""
        hip, stream, graph, array = ctypes.CDLL(None), ctypes.c_void_p(), ctypes.c_void_p(), nw.DeviceArray(half(2, 3))
        self.assertEqual(hip.hipStreamCreateWithFlags(ctypes.byref(stream), 1), 0)
        for other in (stream.value, None, 0, -1):
            Consumer(array.__dlpack__(stream=other)).done()
        self.assertEqual(hip.hipStreamBeginCapture(stream, 2), 0)
        array.__dlpack__(stream=-1)
        with self.assertRaisesRegex(RuntimeError, "hipStreamWaitEvent"):
            array.__dlpack__(stream=stream.value)
        hip.hipStreamEndCapture(stream, ctypes.byref(graph))

    def test_dlpack_errors(self) -> None:
        array = nw.DeviceArray(half(2, 3))
        for kind, text, more in (
            (BufferError, "without a copy", {"copy": True}),
            (BufferError, r"stays on device \(10, 0\)", {"dl_device": (1, 0)}),
            (ValueError, "stream = 1: on ROCm it must be", {"stream": 1}),
        ):
            with self.subTest(text=text), self.assertRaisesRegex(kind, text):
                array.__dlpack__(**more)
        with self.assertRaisesRegex(BufferError, "of type float64 can't be exported: it must be one of bf16"):
            nw.DeviceArray(numpy.zeros(3)).__dlpack__()
        self.assertIsNotNone(array.__dlpack__(max_version=(1, 1), dl_device=(10, 0), copy=False))

    def test_dlpack_outlives_python(self) -> None:
        """A consumer that is done when Python is gone does not call into it."""
        program = ("import atexit, ctypes, numpy, nibblewave as nw\n"
                   "nw.simulate()\n"
                   "array = nw.DeviceArray(numpy.zeros(3, numpy.float32))\n"
                   "capsule = array.__dlpack__()\n"
                   "from nibblewave import dlpack\n"
                   "(address, (managed, _)), = dlpack._kept.items()\n"
                   "dlpack._leave()\n"
                   "print(managed.deleter)\n")  # fmt: skip
        done = subprocess.run([sys.executable, "-B", "-c", program], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (0, "None\n"), done.stderr)

    def test_strides_in_bytes(self) -> None:
        array = nw.DeviceArray(numpy.zeros((2, 3), numpy.float16))
        self.assertEqual((tensor(array, "x").strides, tensor(Interface(array), "x").strides), ((6, 2), (6, 2)))


if __name__ == "__main__":
    unittest.main()
