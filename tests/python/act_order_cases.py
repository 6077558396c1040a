# SPDX-License-Identifier: MIT
"""The installed package's products with weights of act-order on the simulated gfx1151, beside its own reference and to the bit
beside products of activations in order."""

from __future__ import annotations

import ctypes
import unittest

import nibblewave as nw
import numpy
from installed_cases import RANDOM, Strided, close, half, weights
from nibblewave import reference


class ActOrder(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.context = nw.Context()

    def test_linear(self) -> None:
        """In one launch, in two, and those with other zero points or SiLU; of every number of rows to the bit the product of x[:, perm]."""
        (q, scales, z), perm = weights(40, 512), RANDOM.permutation(512).astype(numpy.int32)
        w, s, order, packed = (nw.DeviceArray(a) for a in (nw.pack(q), scales, perm, nw.pack_zeros(z)))
        for m, zeros, silu in ((1, None, False), (4, packed, False), (5, packed, False), (8, nw.DeviceArray(z.astype(numpy.float16)), False),
                               (2, None, True), (9, packed, False), (70, None, False)):  # fmt: skip
            with self.subTest(m=m, silu=silu):
                x, n = half(m, 512), 20 if silu else 40
                out, beside, kept = nw.DeviceArray.zeros((m, n), "float16"), nw.DeviceArray.zeros((m, n), "float16"), []

                def allocate(size: int) -> nw.DeviceArray:
                    kept.append(nw.DeviceArray.zeros((size,), "uint8"))  # noqa: B023
                    return kept[-1]  # noqa: B023

                more = {"zeros": zeros, "silu_gate_up": silu, "group": 128}
                self.context.linear(nw.DeviceArray(x), w, s, out=out, perm=order, allocate=allocate if m == 9 else None, **more)
                self.context.linear(nw.DeviceArray(numpy.ascontiguousarray(x[:, perm])), w, s, out=beside, **more)
                nw.synchronize()
                self.assertTrue((out.numpy() == beside.numpy()).all())
                self.assertEqual([a.shape for a in kept], [(2 * 9 * 512,)] if m == 9 else [])
                close(out, reference.linear(x, q, scales, None if zeros is None else z, 128, silu=silu, perm=perm), 2e-3)
        x, out = nw.DeviceArray(half(1, 512)), nw.DeviceArray.zeros((1, 40), "float16")
        for text, bad in ((r"perm has shape \[256\]: it must be \[K\] = \[512\]", Strided(order, (256,))), ("perm is of type f16: it must be i32 or u32", s)):
            with self.subTest(text=text), self.assertRaisesRegex(ValueError, text):
                self.context.linear(x, w, s, group=128, out=out, perm=bad)

    def test_prepared(self) -> None:
        hip, stream, graph = ctypes.CDLL(None), ctypes.c_void_p(), ctypes.c_void_p()
        self.assertEqual(hip.hipStreamCreate(ctypes.byref(stream)), 0)
        q, scales, _ = weights(24, 256)
        w, s, order = (nw.DeviceArray(a) for a in (nw.pack(q), scales, RANDOM.permutation(256).astype(numpy.int32)))
        context, room = nw.Context(), nw.DeviceArray.zeros((6 * 256,), "float16")
        context.prepare_linear(w, s, group=128, act_order=True)
        launches = [(nw.DeviceArray(half(m, 256)), nw.DeviceArray.zeros((m, 24), "float16")) for m in (3, 6)]
        self.assertEqual(hip.hipStreamBeginCapture(stream, 0), 0)
        for x, out in launches:
            context.linear(x, w, s, group=128, out=out, perm=order, allocate=lambda size: room, stream=stream.value)
        self.assertEqual(hip.hipStreamEndCapture(stream, ctypes.byref(graph)), 0)

    def test_moe(self) -> None:
        """Each expert's own order: with the router's ids, and in blocks, in one launch or two."""
        x, (q, scales, z), ids = half(20, 256), weights(4, 24, 256), RANDOM.integers(-1, 4, (20, 2)).astype(numpy.int32)
        perm = numpy.stack([RANDOM.permutation(256) for _ in range(4)]).astype(numpy.int32)
        arrays = [nw.DeviceArray(a) for a in (x, nw.pack(q), scales, ids)]
        more = {"zeros": nw.DeviceArray(nw.pack_zeros(z)), "perm": nw.DeviceArray(perm), "group": 128}
        self.context.prepare_moe(*arrays[1:3], group=128, zeros=more["zeros"], act_order=True)
        for size in (0, 2, 4, 8, 16, 64):
            lists = None
            if size:
                count = self.context.moe_blocks(40, 4, size)
                lists = tuple(nw.DeviceArray.zeros(shape, "int32") for shape in ((count, size), (count,), (1,)))
                self.context.moe_align(arrays[3], experts=4, lists=lists)
            for silu in (False, True):
                out = nw.DeviceArray.zeros((40, 12 if silu else 24), "float16")
                with self.subTest(size=size, silu=silu):
                    kept: list[nw.DeviceArray] = []

                    def allocate(size: int) -> nw.DeviceArray:
                        kept.append(nw.DeviceArray.zeros((size,), "uint8"))  # noqa: B023
                        return kept[-1]  # noqa: B023

                    self.context.moe_linear(*arrays, out=out, silu_gate_up=silu, lists=lists, allocate=allocate if size == 16 else None, **more)
                    nw.synchronize()
                    self.assertEqual([a.shape for a in kept], [(2 * 40 * 256,)] if size == 16 else [])
                    close(out, reference.moe_linear(x, q, scales, z, ids, 128, silu=silu, perm=perm), 2e-3)


if __name__ == "__main__":
    unittest.main()
