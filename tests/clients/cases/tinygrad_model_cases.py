# SPDX-License-Identifier: MIT
"""A transformer with 4-bit linears decodes in tinygrad on the simulated GPU: its linears by nibblewave's kernels on
tinygrad's buffers, or by tinygrad's matmul with dequantized weights. All else is tinygrad's own in both."""

from __future__ import annotations

import json
import os
import tempfile
import unittest
from collections.abc import Callable, Iterator
from pathlib import Path

FOLDER = tempfile.TemporaryDirectory()
LAUNCHES, FINDINGS = (Path(FOLDER.name) / name for name in ("launches", "findings"))
# tinygrad's compiler is LLVM before the rule of H-026: on a card its pairs may read old values.
os.environ |= {"HIPSIM_CHECK": "all", "HIPSIM_CHOICES": "vopd_interlock=kept", "HIPSIM_STATS": str(LAUNCHES), "HIPSIM_REPORT": str(FINDINGS)}

import nibblewave as nw  # noqa: E402
import numpy  # noqa: E402
import tinygrad_device  # noqa: E402, F401  before tinygrad
from nibblewave import reference  # noqa: E402
from tinygrad import Tensor, UOp, Variable, dtypes  # noqa: E402

DIM, HEADS, KV_HEADS, HEAD, HIDDEN, VOCABULARY, LAYERS = 256, 4, 2, 64, 512, 512, 2
GROUP, CONTEXT, PROMPT, NEW = 64, 32, 12, 12  # a prompt of more than 8 rows: other kernels than for one
TOLERANCE = 0.01  # of a logit; the largest are near 3, where f16 has steps of 0.002
SEED = 1  # margins depend on it
NORMAL_Q = 4.6  # the standard deviation of 0..15


class Linear:
    """Quantized weights in tinygrad's buffers. Both products read these."""

    def __init__(self, random: numpy.random.Generator, n: int, k: int, silu: bool = False) -> None:
        self.q, self.z = random.integers(0, 16, (n, k)), random.integers(6, 10, (n, k // GROUP))
        scales = random.uniform(0.5, 1.5, self.z.shape) / (NORMAL_Q * k**0.5)
        self.w, self.zeros = Tensor(nw.pack(self.q)).realize(), Tensor(nw.pack_zeros(self.z)).realize()
        self.scales, self.silu = Tensor(scales.astype(numpy.float16)).realize(), silu
        self.exact = self.dequantized().realize()

    def dequantized(self) -> Tensor:
        """f32 [N, K], by tinygrad: exact."""
        (n, dwords), shifts = self.w.shape, Tensor([0, 16, 4, 20, 8, 24, 12, 28])  # bits of k = 0..7 of a dword
        q = ((self.w.unsqueeze(2) >> shifts) & 15).reshape(n, dwords * 8 // GROUP, GROUP)
        z = ((self.zeros.unsqueeze(1) >> (Tensor.arange(8) * 4).reshape(1, 8, 1)) & 15).reshape(n, -1, 1)
        return ((q - z).float() * self.scales.float().unsqueeze(2)).reshape(n, -1)

    def change(self, n: int, k: int) -> None:
        """Moves one weight by 8 steps, in the data that kernels read, not in `exact`."""
        q = self.q.copy()
        q[n, k] ^= 8
        self.w = Tensor(nw.pack(q)).realize()

    def restore(self) -> None:
        self.w = Tensor(nw.pack(self.q)).realize()


class View:
    """A realized tensor's memory, as the package takes it."""

    def __init__(self, x: Tensor) -> None:
        buffer = x.uop.buffer.ensure_allocated()
        typestr = {dtypes.half: "<f2", dtypes.int32: "<i4"}[x.dtype]
        self.__cuda_array_interface__ = {
            "shape": x.shape, "typestr": typestr, "data": (buffer.get_buf(buffer.device).value, False), "strides": None, "version": 3,
        }  # fmt: skip


Product = Callable[[Tensor, Linear], Tensor]  # f16 [M, K] to f16 [M, N]; M, N/2 with SiLU
KERNELS = nw.Context()


def by_kernels(x: Tensor, linear: Linear) -> Tensor:
    x, n = x.contiguous().realize(), linear.w.shape[0] // (2 if linear.silu else 1)
    out = Tensor.empty(x.shape[0], n, dtype=dtypes.half)
    KERNELS.linear(View(x), View(linear.w), View(linear.scales), zeros=View(linear.zeros), group=GROUP, out=View(out), silu_gate_up=linear.silu)
    return out


def by_matmul(x: Tensor, linear: Linear) -> Tensor:
    y = x.float() @ linear.exact.T
    if linear.silu:
        gate, up = y.realize().chunk(2, dim=1)
        y = gate.silu() * up
    return y.half().contiguous().realize()


def normalized(x: Tensor) -> Tensor:
    return (x * (x.square().mean(axis=-1, keepdim=True) + 1e-5).rsqrt()).half()


class Layer:
    def __init__(self, random: numpy.random.Generator) -> None:
        self.qkv = Linear(random, (HEADS + 2 * KV_HEADS) * HEAD, DIM)
        self.output = Linear(random, DIM, HEADS * HEAD)
        self.gate_up = Linear(random, 2 * HIDDEN, DIM, silu=True)
        self.down = Linear(random, DIM, HIDDEN)

    def attention(self, qkv: Tensor, cache: Tensor, start: UOp, rotations: Tensor) -> Tensor:
        """f16 [T, HEADS * HEAD]; keys and values go into cache [2, CONTEXT, KV_HEADS, HEAD] from `start` on."""
        tokens = qkv.shape[0]
        q, k, v = qkv.reshape(tokens, -1, HEAD).float().split([HEADS, KV_HEADS, KV_HEADS], dim=1)
        cosine, sine = (rotations[i, start:start + tokens].reshape(tokens, 1, HEAD // 2) for i in range(2))
        q, k = (rotated(x, cosine, sine) for x in (q, k))
        cache[:, start:start + tokens].assign(k.stack(v).half()).realize()
        keys, values = (cache[i].repeat_interleave(HEADS // KV_HEADS, 1).float().transpose(0, 1) for i in range(2))
        future = Tensor.arange(CONTEXT).reshape(1, CONTEXT) > Tensor.arange(tokens).reshape(tokens, 1) + start
        scores = future.where(float("-inf"), q.transpose(0, 1) @ keys.transpose(1, 2) * HEAD**-0.5)
        return (scores.softmax() @ values).transpose(0, 1).reshape(tokens, -1).half()

    def __call__(self, x: Tensor, cache: Tensor, start: UOp, rotations: Tensor, product: Product) -> Tensor:
        qkv = product(normalized(x), self.qkv)
        x = (x + product(self.attention(qkv, cache, start, rotations), self.output).float()).realize()
        return (x + product(product(normalized(x), self.gate_up), self.down).float()).realize()


def rotated(x: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    one, other = x.chunk(2, dim=-1)
    return (one * cosine - other * sine).cat(one * sine + other * cosine, dim=-1)


class Model:
    def __init__(self, random: numpy.random.Generator) -> None:
        self.embedding = Tensor(random.standard_normal((VOCABULARY, DIM)).astype(numpy.float32)).realize()
        self.layers, self.head = [Layer(random) for _ in range(LAYERS)], Linear(random, VOCABULARY, DIM)
        angles = numpy.outer(numpy.arange(CONTEXT), 10000.0 ** (-numpy.arange(HEAD // 2) / (HEAD // 2)))
        self.rotations = Tensor(numpy.stack([numpy.cos(angles), numpy.sin(angles)]).astype(numpy.float32)).realize()

    def linears(self) -> dict[str, Linear]:
        out = {f"{i}.{name}": linear for i, layer in enumerate(self.layers) for name, linear in vars(layer).items()}
        return out | {"head": self.head}  # the last

    def steps(self, prompt: list[int], product: Product) -> Iterator[numpy.ndarray]:
        """Greedy: the logits [VOCABULARY] of one token after the other."""
        caches = [Tensor.zeros(2, CONTEXT, KV_HEADS, HEAD, dtype=dtypes.half).contiguous().realize() for _ in self.layers]
        tokens, first, position = prompt, 0, Variable("start", 0, CONTEXT - 1)
        while first + len(tokens) <= CONTEXT:
            x, start = self.embedding[Tensor(tokens)].realize(), position.bind(first)
            for layer, cache in zip(self.layers, caches):
                x = layer(x, cache, start, self.rotations, product)
            logits = product(normalized(x[-1:]), self.head).float().numpy()[0]
            yield logits
            tokens, first = [int(logits.argmax())], first + len(tokens)

    def decode(self, prompt: list[int], count: int, product: Product) -> numpy.ndarray:
        """[count, VOCABULARY]"""
        return numpy.stack([logits for _, logits in zip(range(count), self.steps(prompt, product))])


def launches() -> list[str]:
    """The kernels of nibblewave that have been launched."""
    names = [json.loads(line)["kernel"] for line in LAUNCHES.read_text().splitlines()]
    return [name for name in names if "_w4a16_" in name]


class Decoding(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        random = numpy.random.default_rng(SEED)
        cls.model, cls.prompt = Model(random), random.integers(0, VOCABULARY, PROMPT).tolist()
        cls.linears = cls.model.linears()
        cls.expected = cls.model.decode(cls.prompt, NEW, by_matmul)

    def test_tokens(self) -> None:
        before, expected = len(launches()), self.expected
        got = self.model.decode(self.prompt, NEW, by_kernels)
        self.assertEqual(len(launches()) - before, NEW * len(self.linears))
        self.assertEqual({name.partition("_")[0] for name in launches()}, {"decode", "mid"})
        second, best = numpy.sort(expected, axis=1)[:, -2:].T
        difference, margin = abs(got - expected).max(), (best - second).min()
        print(f"tokens {expected.argmax(1).tolist()}: logits differ by {difference:.4f} or less, margins {margin:.4f} or more")
        self.assertEqual(got.argmax(1).tolist(), expected.argmax(1).tolist())
        self.assertLess(difference, TOLERANCE)
        self.assertGreater(margin, 2 * TOLERANCE, f"tokens could be equal by luck: choose another SEED than {SEED}")
        self.assertEqual(FINDINGS.read_text(), "")

    def test_dequantized(self) -> None:
        for name, linear in self.linears.items():
            exact = reference.dequantize(linear.q, linear.scales.numpy(), linear.z, GROUP)
            self.assertTrue((linear.exact.numpy() == exact).all(), name)

    def test_changed_weight(self) -> None:
        """One weight of any linear moves a logit by more than test_tokens allows; one of the head changes the token."""
        inputs: dict[Linear, numpy.ndarray] = {}

        def recording(x: Tensor, linear: Linear) -> Tensor:
            inputs[linear] = x.numpy()[-1]
            return by_kernels(x, linear)

        next(self.model.steps(self.prompt, recording))
        best = int(self.expected[0].argmax())
        # rows where a change has an effect: in `up` that of the largest result, since those of closed gates are near 0
        rows = {f"{i}.gate_up": HIDDEN + int(abs(inputs[layer.down]).argmax()) for i, layer in enumerate(self.model.layers)} | {"head": best}
        for name, linear in self.linears.items():
            with self.subTest(name):
                linear.change(rows.get(name, 0), int(abs(inputs[linear]).argmax()))
                got = next(self.model.steps(self.prompt, by_kernels))
                linear.restore()
                self.assertGreater(abs(got - self.expected[0]).max(), TOLERANCE)
        self.assertNotEqual(got.argmax(), best)


if __name__ == "__main__":
    unittest.main()
