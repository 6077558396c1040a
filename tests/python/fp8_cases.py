# SPDX-License-Identifier: MIT
"""The installed package's products of fp8 activations on the simulated gfx1201, beside its own reference. NIBBLEWAVE_HSACO has the kernels."""

from __future__ import annotations

import unittest

import nibblewave as nw
import numpy
from nibblewave import gguf, reference

nw.simulate("gfx1201")
RANDOM = numpy.random.default_rng(8)


def half(*shape: int) -> nw.DeviceArray:
    return nw.DeviceArray(RANDOM.standard_normal(shape).astype(numpy.float16))


class Fp8(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.context = nw.Context()

    def weights(self, n: int, k: int) -> numpy.ndarray:
        w = RANDOM.integers(0, 256, (n, k // 32, 17)).astype(numpy.uint8)
        w[..., 0] = RANDOM.integers(118, 126, w.shape[:2])
        return w.reshape(n, -1)

    def test_numbers(self) -> None:
        every = numpy.arange(256, dtype=numpy.uint8)
        x = reference.e4m3(every)
        self.assertEqual(list(every[numpy.isnan(x)]), [0x7F, 0xFF])
        self.assertEqual((x[0x7E], x[0x81], x[0x38]), (448, -(2.0**-9), 1))
        finite = ~numpy.isnan(x)
        self.assertTrue((reference.to_e4m3(x[finite]) == every[finite]).all())
        self.assertEqual(list(reference.to_e4m3(numpy.array([17.0, 19.0, 2.0**-10, 3 * 2.0**-10]))), [0x58, 0x5A, 0, 2])

    def test_products(self) -> None:
        """Rows as the reference quantizes them, to the bit, and products of these."""
        x, w = RANDOM.standard_normal((70, 512)).astype(numpy.float16), self.weights(40, 512)
        x[3], x[4, 7], x[5] = 0, numpy.inf, 6e-8
        rows, scales = nw.DeviceArray.zeros((70, 512), "uint8"), nw.DeviceArray.zeros((70,), "float32")
        out, weights = nw.DeviceArray.zeros((70, 40), "float32"), nw.DeviceArray(w)
        self.context.prepare_gguf_linear_fp8(weights, "mxfp4", rows=70)
        self.context.quantize_fp8(nw.DeviceArray(x), out=rows, scales=scales)
        self.context.gguf_linear_fp8(rows, scales, weights, "mxfp4", out=out)
        want, factors = reference.quantize_fp8(x)
        self.assertTrue(numpy.array_equal(scales.numpy(), factors, equal_nan=True))
        finite = ~numpy.isnan(factors)
        self.assertEqual(list(numpy.nonzero(~finite)[0]), [4])
        self.assertTrue((rows.numpy()[finite] == want[finite]).all())
        got, exact = out.numpy().astype(float), reference.gguf_linear_fp8(want, factors, w, "mxfp4")
        self.assertTrue(numpy.isnan(got[~finite]).all())
        self.assertLess(abs(got - exact)[finite].max(), 1e-5 * abs(exact[finite]).max())
        loss = abs(reference.e4m3(want) * factors[:, None] - x.astype(float))[finite]
        self.assertTrue((loss <= abs(x[finite].astype(float)) / 16 + 2.0**-18 * abs(x[finite].astype(float)).max(1, keepdims=True)).all())

    def test_experts(self) -> None:
        """Activations by token and by slot; ids of no expert."""
        experts, tokens, used = 3, 35, 2
        w, ids = self.weights(experts * 40, 320).reshape(experts, 40, -1), RANDOM.integers(-1, experts + 1, (tokens, used)).astype(numpy.int32)
        self.context.prepare_gguf_moe_linear_fp8("mxfp4")
        for m in (tokens, tokens * used):
            rows, scales = nw.DeviceArray.zeros((m, 320), "uint8"), nw.DeviceArray.zeros((m,), "float32")
            out = nw.DeviceArray.zeros((tokens, used, 40), "float32")
            self.context.quantize_fp8(half(m, 320), out=rows, scales=scales)
            self.context.gguf_moe_linear_fp8(rows, scales, nw.DeviceArray(w), "mxfp4", nw.DeviceArray(ids), out=out)
            exact = reference.gguf_moe_linear_fp8(rows.numpy(), scales.numpy(), w, "mxfp4", ids)
            self.assertEqual(exact.shape, (tokens, used, 40))
            self.assertTrue((exact[(ids >= 0) & (ids < experts)] != 0).any(-1).all())
            self.assertLess(abs(out.numpy() - exact).max(), 1e-5 * abs(exact).max())

    def test_torch_has_a_type_for_it(self) -> None:
        rows = nw.DeviceArray(numpy.zeros((3, 256), numpy.uint8), "float8_e4m3fn")
        scales, out = nw.DeviceArray.zeros((3,), "float32"), nw.DeviceArray.zeros((3, 24), "float32")
        self.context.quantize_fp8(half(3, 256), out=rows, scales=scales)
        self.context.gguf_linear_fp8(rows, scales, nw.DeviceArray(self.weights(24, 256)), "mxfp4", out=out)
        self.assertTrue((out.numpy() != 0).any())

    def test_errors(self) -> None:
        x, rows, scales = half(3, 256), nw.DeviceArray.zeros((3, 256), "uint8"), nw.DeviceArray.zeros((3,), "float32")
        w, out = nw.DeviceArray(self.weights(24, 256)), nw.DeviceArray.zeros((3, 24), "float32")
        q4 = nw.DeviceArray.zeros((24, gguf.block("q4_0")[1] * 8), "uint8")
        product, experts = self.context.gguf_linear_fp8, self.context.gguf_moe_linear_fp8
        three, ids = nw.DeviceArray(self.weights(72, 256).reshape(3, 24, -1)), nw.DeviceArray(numpy.zeros((2, 2), numpy.int32))
        four, two = nw.DeviceArray.zeros((4, 256), "uint8"), nw.DeviceArray.zeros((2,), "float32")
        of_slots = nw.DeviceArray.zeros((2, 2, 24), "float32")
        cases = [
            (ValueError, r"out is of type f16: it must be u8 or e4m3", lambda: self.context.quantize_fp8(x, out=x, scales=scales)),
            (ValueError, r"x is of type f16: it must be u8 or e4m3", lambda: product(x, scales, w, "mxfp4", out=out)),
            (ValueError, r"x_scales is of type u8: it must be f32", lambda: product(rows, rows, w, "mxfp4", out=out)),
            (ValueError, r"type = 'mxfp5': there are kernels for", lambda: product(rows, scales, w, "mxfp5", out=out)),
            (ValueError, r"w has 144 bytes in a row: mxfp4 has blocks of 17", lambda: product(rows, scales, q4, "mxfp4", out=out)),
            (ValueError, r"out has shape \[24, 3\]: it must be \[3, 24\]",
             lambda: product(rows, scales, w, "mxfp4", out=nw.DeviceArray.zeros((24, 3), "float32"))),
            (nw.Error, r"no kernel for q4_0 on gfx1201; there is mxfp4", lambda: product(rows, scales, q4, "q4_0", out=out)),
            (ValueError, r"x has 3 rows: they must be 2, or 4 for slots", lambda: experts(rows, scales, three, "mxfp4", ids, out=of_slots)),
            (ValueError, r"x_scales has shape \[2\]: it must be \[T or T \* used\] = \[4\]",
             lambda: experts(four, two, three, "mxfp4", ids, out=of_slots)),
            (ValueError, r"out has shape \[3, 24\]", lambda: experts(four, nw.DeviceArray.zeros((4,), "float32"), three, "mxfp4", ids, out=out)),
            (ValueError, r"rows = 0: it must be a whole number of 1", lambda: self.context.prepare_gguf_linear_fp8(w, "mxfp4", rows=0)),
        ]  # fmt: skip
        for kind, text, action in cases:
            with self.subTest(text=text), self.assertRaisesRegex(kind, text):
                action()


if __name__ == "__main__":
    unittest.main()
