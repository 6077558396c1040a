# SPDX-License-Identifier: MIT
"""PyTorch's operators of the installed wheel: on the CPU beside PyTorch's own arithmetic, without data, compiled, and on the
simulated GPU."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import types
import unittest
import unittest.mock

import nibblewave as nw
import nibblewave.torch as nt
import numpy
import torch
import triton  # noqa: F401  torch.compile imports it: see nw.simulate
from nibblewave import gguf, reference

nw.simulate("gfx1151")
RANDOM = numpy.random.default_rng(7)
HALVES = (torch.float16, torch.bfloat16)


class Weights:
    """Quantized ones: q, z, and as kernels have them; `exact` in double."""

    def __init__(self, *shape: int, group: int, dtype: torch.dtype) -> None:
        *front, n, k = shape
        q, z = RANDOM.integers(0, 16, shape), RANDOM.integers(0, 16, (*front, n, k // group))
        self.w, self.zeros = torch.from_numpy(reference.pack(q)), torch.from_numpy(reference.pack_zeros(z))
        self.typed = torch.from_numpy(z).to(dtype)
        self.scales = torch.from_numpy(RANDOM.random(z.shape) / 64).to(dtype)
        self._q, self._group = torch.from_numpy(q).double(), group

    def exact(self, zeros: bool) -> torch.Tensor:
        z = self.typed.double().repeat_interleave(self._group, -1) if zeros else 8
        return (self._q - z) * self.scales.double().repeat_interleave(self._group, -1)


def numbers(*shape: int, dtype: torch.dtype) -> torch.Tensor:
    return torch.from_numpy(RANDOM.standard_normal(shape)).to(dtype)


def silu_gate_up(y: torch.Tensor) -> torch.Tensor:
    gate, up = y.chunk(2, -1)
    return torch.nn.functional.silu(gate) * up


class OnCpu(unittest.TestCase):
    def close(self, got: torch.Tensor, exact: torch.Tensor) -> None:
        """But for one rounding, to f32 first where the type is bf16."""
        self.assertEqual(got.shape, exact.shape)
        ulp = torch.finfo(got.dtype).eps
        self.assertTrue(((got.double() - exact).abs() <= ulp * 0.501 * exact.abs() + 1e-7).all())

    def test_linear(self) -> None:
        for dtype in HALVES:
            x, bias, weights = numbers(2, 3, 256, dtype=dtype), numbers(20, dtype=dtype), Weights(20, 256, group=64, dtype=dtype)
            y, zy = (x.double() @ weights.exact(zeros).T for zeros in (False, True))
            self.close(nt.linear_w4a16(x, weights.w, weights.scales, 64), y)
            self.close(nt.linear_w4a16(x, weights.w, weights.scales, 64, zeros=weights.zeros), zy)
            self.close(nt.linear_w4a16(x, weights.w, weights.scales, 64, zeros=weights.typed), zy)
            self.close(nt.linear_w4a16(x, weights.w, weights.scales, 64, bias=bias), y + bias.double())
            self.close(nt.linear_w4a16(x, weights.w, weights.scales, 64, bias=bias, silu_gate_up=True), silu_gate_up(y + bias.double()))

    def test_act_order(self) -> None:
        x, weights, perm = numbers(2, 3, 256, dtype=torch.float16), Weights(20, 256, group=64, dtype=torch.float16), torch.randperm(256)
        got = nt.linear_w4a16(x, weights.w, weights.scales, 64, zeros=weights.zeros, perm=perm.int())
        self.close(got, x.double()[..., perm] @ weights.exact(True).T)

    def test_padded_rows(self) -> None:
        x, weights = numbers(3, 256, dtype=torch.float16), Weights(20, 256, group=128, dtype=torch.float16)
        w = torch.full((20, 64), -1, dtype=torch.int32)
        w[:, :32] = weights.w
        self.close(nt.linear_w4a16(x, w[:, :32], weights.scales, 128), x.double() @ weights.exact(False).T)

    def test_no_rows(self) -> None:
        weights = Weights(20, 256, group=128, dtype=torch.float16)
        self.assertEqual(nt.linear_w4a16(torch.empty(0, 256, dtype=torch.float16), weights.w, weights.scales, 128).shape, (0, 20))

    def test_moe(self) -> None:
        ids = torch.tensor([[3, 1], [0, -1], [4, 2]], dtype=torch.int32)  # -1 and 4 are no experts
        for dtype in HALVES:
            weights, factor = Weights(4, 24, 128, group=32, dtype=dtype), torch.rand(3, 2)
            for x in (numbers(3, 128, dtype=dtype), numbers(6, 128, dtype=dtype)):
                got = nt.moe(x, weights.w, weights.scales, ids, 32, zeros=weights.zeros, weights=factor, silu_gate_up=True)
                exact = torch.zeros(6, 12, dtype=torch.float64)
                for slot, expert in enumerate(ids.flatten().tolist()):
                    if 0 <= expert < 4:
                        y = weights.exact(True)[expert] @ x[slot * len(x) // 6].double()
                        exact[slot] = factor.flatten()[slot].double() * silu_gate_up(y)
                self.close(got, exact)

    def test_gguf_linear(self) -> None:
        w = RANDOM.standard_normal((20, 256))
        x, quantized = numbers(2, 3, 256, dtype=torch.float32), torch.from_numpy(gguf.quantize_q8_0(w))
        got = nt.gguf_linear(x, quantized, "q8_0").double()
        self.assertLess((got - x.double() @ torch.from_numpy(w).T).abs().max(), 0.5)  # q8_0 rounds to 1/254 of the largest
        for name in ("q4_0", "q4_K", "q6_K", "mxfp4"):
            bytes_ = torch.from_numpy(RANDOM.integers(0, 64, (20, gguf.block(name)[1] * 2), dtype=numpy.uint8))
            exact = torch.from_numpy(gguf.dequantize(bytes_.numpy(), name))
            self.close(nt.gguf_linear(numbers(1, exact.shape[1], dtype=torch.float32) * 0 + 1, bytes_, name), exact.sum(1)[None])


    def test_gguf_moe(self) -> None:
        w = torch.from_numpy(gguf.quantize_q8_0(RANDOM.standard_normal((4, 20, 64))))
        exact = torch.from_numpy(gguf.dequantize(w.numpy(), "q8_0"))
        ids = torch.tensor([[3, 1, 9], [0, -1, 0]], dtype=torch.int32)[:, :2]  # a view, as of an argsort; -1 is no expert
        for x in (numbers(2, 1, 64, dtype=torch.float32), numbers(2, 2, 64, dtype=torch.float32)):
            want = torch.zeros(2, 2, 20, dtype=torch.float64)
            for token, slot, expert in ((0, 0, 3), (0, 1, 1), (1, 0, 0)):
                want[token, slot] = exact[expert] @ x[token, slot % x.shape[1]].double()
            self.close(nt.gguf_moe(x, w, "q8_0", ids), want)


class Registration(unittest.TestCase):
    def cases(self) -> list[tuple[object, tuple[object, ...], dict[str, object]]]:
        out: list[tuple[object, tuple[object, ...], dict[str, object]]] = []
        for dtype in HALVES:
            x, weights, experts = numbers(3, 128, dtype=dtype), Weights(24, 128, group=32, dtype=dtype), Weights(4, 24, 128, group=32, dtype=dtype)
            ids = torch.tensor([[3, 1], [0, -1], [2, 2]], dtype=torch.int32)
            linear, moe = (x, weights.w, weights.scales, 32), (x, experts.w, experts.scales, ids, 32)
            out += [(nt.linear_w4a16, linear, {}), (nt.linear_w4a16, linear, {"zeros": weights.zeros, "bias": weights.typed[:, 0].contiguous()})]
            out += [(nt.linear_w4a16, linear, {"zeros": weights.typed, "silu_gate_up": True})]
            out += [(nt.linear_w4a16, linear, {"perm": torch.randperm(128).int()})]
            out += [(nt.moe, moe, {}), (nt.moe, moe, {"zeros": experts.zeros, "weights": torch.rand(3, 2), "silu_gate_up": True})]
        w = torch.from_numpy(gguf.quantize_q8_0(RANDOM.standard_normal((20, 256))))
        experts_w, ids = torch.from_numpy(gguf.quantize_q8_0(RANDOM.standard_normal((4, 20, 64)))), torch.tensor([[3, 1], [0, -1]], dtype=torch.int32)
        out += [(nt.gguf_moe, (numbers(2, 1, 64, dtype=torch.float32), experts_w, "q8_0", ids), {})]
        return [*out, (nt.gguf_linear, (numbers(2, 3, 256, dtype=torch.float32), w, "q8_0"), {})]

    def test_opcheck(self) -> None:
        for op, arguments, more in self.cases():
            with self.subTest(op=str(op), more=list(more)):
                done = torch.library.opcheck(op, arguments, more)
                self.assertEqual(set(done.values()), {"SUCCESS"})

    def test_schema(self) -> None:
        self.assertEqual(
            str(torch.ops.nibblewave.linear_w4a16.default._schema),
            "nibblewave::linear_w4a16(Tensor x, Tensor w, Tensor scales, int group, Tensor? zeros=None, Tensor? bias=None, "
            "bool silu_gate_up=False, Tensor? perm=None) -> Tensor",
        )

    def test_meta(self) -> None:
        for op, arguments, more in self.cases():
            def move(value: object) -> object:
                return value.to("meta") if isinstance(value, torch.Tensor) else value

            got = op(*map(move, arguments), **{name: move(value) for name, value in more.items()})
            want = op(*arguments, **more)
            self.assertEqual((got.shape, got.dtype, got.stride()), (want.shape, want.dtype, want.stride()))

    def test_compiled(self) -> None:
        """In one graph, with any number of rows."""
        weights = Weights(24, 128, group=32, dtype=torch.float16)

        def plain(x: torch.Tensor) -> torch.Tensor:
            return nt.linear_w4a16(x * 2, weights.w, weights.scales, 32).relu()

        compiled = torch.compile(plain, backend="aot_eager", fullgraph=True, dynamic=True)
        for rows in (2, 5, 70):
            x = numbers(rows, 128, dtype=torch.float16)
            self.assertTrue(torch.equal(compiled(x), plain(x)))

    def test_package_without_it(self) -> None:
        program = "import sys, nibblewave; sys.exit('torch' in sys.modules)"
        self.assertEqual(subprocess.run([sys.executable, "-c", program]).returncode, 0)


class Errors(unittest.TestCase):
    def test_linear(self) -> None:
        x, bf16, weights = numbers(4, 128, dtype=torch.float16), numbers(4, 128, dtype=torch.bfloat16), Weights(24, 128, group=32, dtype=torch.float16)
        w, s, z = weights.w, weights.scales, weights.zeros
        cases = [
            (r"x is of type float64: it must be one of", (x.double(), w, s, 32), {}),
            (r"x is of type f32: it must be f16 or bf16", (x.float(), w, s, 32), {}),
            (r"scales is of type f16: it must be bf16", (bf16, w, s, 32), {}),
            (r"x has strides \[1, 4\]: it must be contiguous", (x.T.contiguous().T, w, s, 32), {}),
            (r"x has no dimension", (x[0, 0], w, s, 32), {}),
            (r"w has 8 dwords in a row: they must be K/8 = 16", (x, w[:, :8], s, 32), {}),
            (r"w has strides .* in bytes: its rows must be contiguous", (x, w.T.contiguous().T, s, 32), {}),
            (r"scales has strides .* in bytes: its rows must be contiguous", (x, w, s.T.contiguous().T, 32), {}),
            (r"scales has shape \[24, 4\]: it must be \[N, K/group\] = \[24, 2\]", (x, w, s, 64), {}),
            (r"group = 0: it must be 32, 64 or 128", (x, w, s, 0), {}),
            (r"K = 128: it must be a multiple of group = 96", (x, w, s, 96), {}),
            (r"zeros has shape \[3, 4\]: it must be \[N, K/group\] = \[24, 4\]", (x, w, s, 32), {"zeros": z.half()}),
            (r"zeros has shape \[2, 4\]: it must be \[ceil\(N/8\), K/group\] = \[3, 4\]", (x, w, s, 32), {"zeros": z[:2]}),
            (r"bias has shape \[23\]: it must be \[N\] = \[24\]", (x, w, s, 32), {"bias": s[:23, 0].contiguous()}),
            (r"bias has strides \[8\] in bytes: its rows must be contiguous", (x, w, s, 32), {"bias": s[:, 0]}),
            (r"perm is of type int64", (x, w, s, 32), {"perm": torch.arange(128)}),
            (r"perm has shape \[64\]: it must be \[K\] = \[128\]", (x, w, s, 32), {"perm": torch.arange(64).int()}),
            (r"w has 23 rows: silu_gate_up takes an even number", (x, w[:23], s[:23], 32), {"silu_gate_up": True}),
            (r"w is on meta: it must be on x's device, cpu; move it there", (x, w.to("meta"), s, 32), {}),
        ]  # fmt: skip
        self.said(nt.linear_w4a16, cases)

    def test_moe(self) -> None:
        x, weights = numbers(3, 128, dtype=torch.float16), Weights(4, 24, 128, group=32, dtype=torch.float16)
        w, s, z, ids = weights.w, weights.scales, weights.zeros, torch.zeros(3, 2, dtype=torch.int32)
        cases = [
            (r"ids is of type int64", (x, w, s, ids.long(), 32), {}),
            (r"x has 3 rows: they must be 2, or 4 for slots", (x, w, s, ids[:2], 32), {}),
            (r"zeros has shape \[4, 2, 4\]: it must be \[experts, ceil\(N/8\), K/group\] = \[4, 3, 4\]", (x, w, s, ids, 32), {"zeros": z[:, :2]}),
            (r"weights is of type f16: it must be f32", (x, w, s, ids, 32), {"weights": ids.half()}),
            (r"weights has shape \[2, 2\]: it must be \[T, used\] = \[3, 2\]", (x, w, s, ids, 32), {"weights": torch.rand(2, 2)}),
            (r"weights has strides \[4, 12\] in bytes: its rows must be contiguous", (x, w, s, ids, 32), {"weights": torch.rand(2, 3).T}),
        ]  # fmt: skip
        self.said(nt.moe, cases)

    def test_gguf_linear(self) -> None:
        x, w = numbers(3, 256, dtype=torch.float32), torch.zeros(20, 272, dtype=torch.uint8)
        cases = [
            (r"type = 'q9': there are kernels for q4_0", (x, w, "q9"), {}),
            (r"w has 271 bytes in a row: q8_0 has blocks of 34 bytes", (x, w[:, :271].contiguous(), "q8_0"), {}),
            (r"w has 136 bytes in a row: of q8_0 they have 128 weights, but K = 256", (x, w[:, :136].contiguous(), "q8_0"), {}),
            (r"w has strides \[544, 1\] in bytes: it must be contiguous", (x, torch.zeros(20, 544, dtype=torch.uint8)[:, :272], "q8_0"), {}),
            (r"x is of type f16: it must be f32", (x.half(), w, "q8_0"), {}),
        ]  # fmt: skip
        self.said(nt.gguf_linear, cases)

    def test_gguf_moe(self) -> None:
        x, w, ids = numbers(3, 1, 64, dtype=torch.float32), torch.zeros(4, 20, 68, dtype=torch.uint8), torch.zeros(3, 2, dtype=torch.int32)
        cases = [
            (r"ids is of type int64", (x, w, "q8_0", ids.long()), {}),
            (r"x has shape \[3, 1, 64\]: it must be \[2, 1 or 2, K\]", (x, w, "q8_0", ids[:2]), {}),
            (r"w has 34 bytes in a row: of q8_0 they have 32 weights, but K = 64", (x, w[..., :34].contiguous(), "q8_0", ids), {}),
            (r"ids is on meta: it must be on x's device, cpu; move it there", (x, w, "q8_0", ids.to("meta")), {}),
        ]  # fmt: skip
        self.said(nt.gguf_moe, cases)

    def said(self, op: object, cases: list[tuple[str, tuple[object, ...], dict[str, object]]]) -> None:
        for text, arguments, more in cases:
            with self.subTest(text=text), self.assertRaisesRegex(ValueError, text):
                op(*arguments, **more)


class OnGpu(torch.Tensor):
    """Stands in for a tensor of a ROCm build: device "cuda:0", memory of the simulated GPU. It has the attributes that the operators use."""

    def __new__(cls, host: torch.Tensor, array: nw.DeviceArray | None = None) -> OnGpu:
        made = torch.Tensor._make_wrapper_subclass(cls, host.shape, strides=host.stride(), dtype=host.dtype, device="cuda:0")
        half = host.dtype == torch.bfloat16
        values = host.view(torch.int16).numpy().view(numpy.uint16) if half else host.numpy()
        made.host, made.array = host, array or nw.DeviceArray(values, "bf16" if half else None)
        return made

    def data_ptr(self) -> int:
        return self.array.data_ptr()

    def result(self) -> torch.Tensor:
        values = torch.from_numpy(self.array.numpy())
        return (values.view(torch.bfloat16) if self.dtype == torch.bfloat16 else values).reshape(self.shape)

    @classmethod
    def __torch_dispatch__(cls, func: object, types: object, args: tuple = (), kwargs: dict | None = None) -> object:
        ops, more = torch.ops, kwargs or {}
        gpu = {ops.nibblewave.linear_w4a16.default: nt._linear_gpu, ops.nibblewave.gguf_linear.default: nt._gguf_gpu,
               ops.nibblewave.moe.default: nt._moe_gpu, ops.nibblewave.gguf_moe.default: nt._gguf_moe_gpu}  # fmt: skip
        if func in gpu:
            return gpu[func](*args, **more)
        if func in (ops.aten.new_empty.default, ops.aten.new_zeros.default):
            return cls(torch.zeros(args[1], dtype=args[0].dtype))
        if func is ops.aten.view.default:
            return cls(args[0].host.view(args[1]), args[0].array)
        raise NotImplementedError(f"{func}: OnGpu does not know it")


class OnSimulatedGpu(unittest.TestCase):
    """The operators registered for "cuda", on the simulated GPU: the calls of a ROCm build, except for its tensors."""

    def setUp(self) -> None:
        for name, value in (("device", lambda index: contextlib.nullcontext()), ("current_stream", lambda device: types.SimpleNamespace(cuda_stream=0))):
            replaced = unittest.mock.patch.object(torch.cuda, name, value)
            replaced.start()
            self.addCleanup(replaced.stop)

    def beside_cpu(self, op: object, *arguments: object, **more: object) -> None:
        def moved(value: object) -> object:
            return OnGpu(value) if isinstance(value, torch.Tensor) else value

        want = op(*arguments, **more)
        got = op(*map(moved, arguments), **{name: moved(value) for name, value in more.items()})
        self.assertEqual((got.shape, got.dtype, got.device.type), (want.shape, want.dtype, "cuda"))
        if want.numel() == 0:
            return
        error = (got.result().double() - want.double()).abs().max()
        self.assertLessEqual(error, (0.02 if want.dtype == torch.bfloat16 else 0.004) * want.double().abs().max())

    def test_registered_for_cuda(self) -> None:
        for name in ("linear_w4a16", "gguf_linear", "moe", "gguf_moe"):
            self.assertTrue(torch._C._dispatch_has_kernel_for_dispatch_key(f"nibblewave::{name}", "CUDA"))

    def test_linear(self) -> None:
        for dtype in HALVES:
            weights = Weights(24, 256, group=64, dtype=dtype)
            for rows in (1, 5, 40):
                x = numbers(rows, 1, 256, dtype=dtype)
                self.beside_cpu(nt.linear_w4a16, x, weights.w, weights.scales, 64, zeros=weights.zeros, bias=numbers(24, dtype=dtype))
            for rows in (1, 5, 40):
                x = numbers(rows, 256, dtype=dtype)
                self.beside_cpu(nt.linear_w4a16, x, weights.w, weights.scales, 64, perm=torch.randperm(256).int())
            self.beside_cpu(nt.linear_w4a16, x, weights.w, weights.scales, 64, silu_gate_up=True)
            self.beside_cpu(nt.linear_w4a16, x[:0], weights.w, weights.scales, 64)

    def test_gguf_linear(self) -> None:
        w = torch.from_numpy(gguf.quantize_q8_0(RANDOM.standard_normal((24, 256))))
        x = torch.from_numpy(RANDOM.integers(-127, 128, (3, 256)).astype(numpy.float32))
        x[:, ::32] = 127  # whole numbers that the activations' int8 holds
        self.beside_cpu(nt.gguf_linear, x, w, "q8_0")

    def test_gguf_moe(self) -> None:
        w = torch.from_numpy(gguf.quantize_q8_0(RANDOM.standard_normal((4, 24, 256))))
        for tokens in (1, 20):
            ids = torch.from_numpy(RANDOM.integers(-1, 4, (tokens, 2), dtype=numpy.int32))
            for of_token in (1, 2):
                x = torch.from_numpy(RANDOM.integers(-127, 128, (tokens, of_token, 256)).astype(numpy.float32))
                x[..., ::32] = 127
                self.beside_cpu(nt.gguf_moe, x, w, "q8_0", ids)

    def test_moe(self) -> None:
        """Few tokens, and many: in blocks."""
        weights = Weights(4, 24, 128, group=32, dtype=torch.float16)
        for tokens in (1, 4, 40):
            ids = torch.from_numpy(RANDOM.integers(-1, 4, (tokens, 2), dtype=numpy.int32))
            x, factor = numbers(tokens, 128, dtype=torch.float16), torch.rand(tokens, 2)
            self.beside_cpu(nt.moe, x, weights.w, weights.scales, ids, 32, zeros=weights.zeros, weights=factor, silu_gate_up=True)
            order = torch.stack([torch.randperm(128) for _ in range(4)]).int()
            self.beside_cpu(nt.moe, x, weights.w, weights.scales, ids, 32, perm=order, silu_gate_up=True)
            self.beside_cpu(nt.moe, x, weights.w, weights.scales, ids, 32, bias=numbers(4, 24, dtype=torch.float16))

    def test_block_size(self) -> None:
        for slots, experts, size in ((8, 128, 1), (127, 128, 1), (128, 128, 2), (512, 128, 8), (2048, 128, 32), (1 << 16, 8, 64)):
            self.assertEqual(nt.block_size(slots, experts), size)


if __name__ == "__main__":
    unittest.main()
