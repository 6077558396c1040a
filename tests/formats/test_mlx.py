# SPDX-License-Identifier: MIT
"""Checkpoints of MLX: nw quantize reads its affine layers, of every number of bits; nw pack reads mxfp4 and nvfp4; refusals."""

from __future__ import annotations

import json
import random
import unittest

from make_checkpoints import reals
from packing import Packed, nw
from safetensors_file import Tensor, decode
from test_pack_fp4 import E2M1, e4m3, mxfp4_rows, nvfp4_rows, pairs
from test_quantize import LINEAR, Quantized, nmse, pack, unpack

STEM = LINEAR.removesuffix(".weight")
EMBEDDING = "model.embed_tokens"
EXPERTS = "model.layers.0.mlp.switch_mlp.up_proj"


def words(row: list[int], bits: int) -> bytes:
    """Codes of a row, the first in the lowest bits."""
    return sum(code << bits * i for i, code in enumerate(row)).to_bytes(len(row) * bits // 8, "little")


class Layer:
    """Codes [..., N, K] of B bits in groups of G, scales that f16 and bf16 have, and biases of the same."""

    def __init__(self, rng: random.Random, shape: list[int], group: int, bits: int, *, whole: bool) -> None:
        """`whole`: biases are -z * scale with z of 0 to 15, and each group has its least and its largest code."""
        *self.outer, k = self.shape = shape
        self.group, self.bits, rows = group, bits, 1
        for size in self.outer:
            rows *= size
        last = (1 << bits) - 1
        self.codes = [[(0, last)[i % group] if i % group < 2 else rng.randint(0, last) for i in range(k)] for _ in range(rows)]
        count = k // group
        if whole:  # powers of two: 15 of them are in every type
            self.scales = [[2.0 ** rng.randint(-8, -4) for _ in range(count)] for _ in range(rows)]
            self.biases = [[-float(rng.choice((0, 3, 8, 15))) * s for s in row] for row in self.scales]
        else:  # eight bits
            self.scales = [[rng.choice((-1, 1)) * rng.randint(128, 255) / 2 ** rng.randint(12, 15) for _ in range(count)] for _ in range(rows)]
            self.biases = [[rng.randint(-255, 255) / 4096 for _ in range(count)] for _ in range(rows)]

    def values(self) -> list[float]:
        g = self.group
        return [s[i // g] * c + b[i // g] for row, s, b in zip(self.codes, self.scales, self.biases) for i, c in enumerate(row)]

    def tensors(self, name: str, dtype: str = "BF16") -> dict[str, Tensor]:
        *outer, k = self.shape
        groups = [*outer, k // self.group]
        return {
            f"{name}.weight": Tensor("U32", [*outer, k * self.bits // 32], b"".join(words(row, self.bits) for row in self.codes)),
            f"{name}.scales": reals(dtype, groups, (s for row in self.scales for s in row)),
            f"{name}.biases": reals(dtype, groups, (b for row in self.biases for b in row)),
        }


class Mlx(Quantized):
    def configured(self, **quantization: object) -> None:
        (self.input / "config.json").write_text(json.dumps({"model_type": "small", "quantization": quantization}))

    def test_whole_zero_points_are_exact(self) -> None:
        for dtype in ("F16", "BF16", "F32"):
            for group in (32, 64, 128):
                with self.subTest(dtype=dtype, group=group):
                    layer = Layer(random.Random(group), [13, 256], group, 4, whole=True)
                    self.write(layer.tensors(STEM, dtype) | {f"{STEM}.bias": reals(dtype, [13], [0.5] * 13)})
                    self.configured(group_size=group, bits=4)
                    self.assert_refused(nw("pack", self.input, self.packed), LINEAR, "MLX", "nw quantize")
                    (problem,) = json.loads(nw("inspect", self.input, "--json").stdout)["problems"]
                    self.assertIn("nw quantize", problem)
                    report = self.quantize("--group", str(group), "--zero-points", "--clip", "none")
                    (row,) = report["tensors"]
                    self.assertEqual((row["name"], row["dtype"], row["n"], row["k"], row["nmse"]), (LINEAR, "mlx", 13, 256, 0))
                    self.assertEqual(self.repacked(LINEAR), layer.values())
                    self.assertEqual(list(unpack(decode(self.packed)[0][f"{STEM}.bias"])), [0.5] * 13)
                    for path in self.output.iterdir():
                        path.unlink()

    def test_any_biases(self) -> None:
        layer = Layer(random.Random(1), [24, 256], 64, 4, whole=False)
        self.write(layer.tensors(STEM))
        self.configured(group_size=64, bits=4, mode="affine")
        report = self.quantize("--group", "64", "--zero-points")
        self.assertAlmostEqual(report["nmse"], nmse(self.repacked(LINEAR), layer.values()), delta=1e-9)
        self.assertGreater(report["nmse"], 1e-4)  # biases that MLX would not make

    def test_stacked_experts(self) -> None:
        layer = Layer(random.Random(2), [3, 16, 128], 32, 4, whole=True)
        self.write(layer.tensors(EXPERTS))
        self.configured(group_size=32, bits=4)
        report = self.quantize("--group", "32", "--zero-points", "--clip", "none")
        self.assertEqual((report["nmse"], report["tensors"][0]["experts"]), (0, 3))
        path = self.folder / "packed.safetensors"
        self.assertEqual(nw("pack", self.packed, path).returncode, 0)
        self.assertEqual([x for part in Packed(path).values(EXPERTS) for row in part for x in row], layer.values())

    def test_what_is_no_linear_is_dequantized(self) -> None:
        """In its dtype: an embedding of each number of bits, a kept layer, and the config names both."""
        for bits in (2, 3, 4, 5, 6, 8):
            for dtype in ("BF16", "F32"):
                with self.subTest(bits=bits, dtype=dtype):
                    rng = random.Random(bits)
                    layers = {name: Layer(rng, [5, 128], 64, bits, whole=False) for name in (EMBEDDING, "a.kept", STEM)}
                    self.write({name: t for stem, layer in layers.items() for name, t in layer.tensors(stem, dtype).items()})
                    self.configured(group_size=32, bits=1, **{stem: {"group_size": 64, "bits": bits} for stem in layers})
                    report = self.quantize("--group", "64", "--zero-points", "--keep", "kept")
                    self.assertEqual((len(report["tensors"]), report["dequantized_tensors"], report["copied_tensors"]), (1, 2, 0))
                    written = decode(self.packed)[0]
                    for stem in (EMBEDDING, "a.kept"):
                        got = written[f"{stem}.weight"]
                        want = Tensor(dtype, [5, 128], pack(layers[stem].values(), dtype))
                        self.assertEqual(got, want)
                        self.assertNotIn(f"{stem}.scales", written)
                    config = json.loads((self.output / "config.json").read_text())
                    self.assertNotIn("quantization", config)
                    self.assertEqual(sorted(config["quantization_config"]["ignore"]), ["a.kept", EMBEDDING])

    def test_paths_of_savers(self) -> None:
        """Modules around the language model come in any order, or are left out."""
        tensor_path = "language_model.model.layers.0.mlp.down_proj"
        layer, other = Layer(random.Random(7), [16, 128], 64, 6, whole=False), Layer(random.Random(8), [16, 128], 64, 4, whole=False)
        vision = "vision_tower.layers.0.mlp.down_proj"
        self.write(layer.tensors(tensor_path) | other.tensors(vision))
        for path in (tensor_path, "model.layers.0.mlp.down_proj", "model.language_model.layers.0.mlp.down_proj", "layers.0.mlp.down_proj"):
            with self.subTest(path=path):
                self.configured(group_size=64, bits=4, **{path: {"group_size": 64, "bits": 6}})
                report = self.quantize("--group", "64")
                self.assertEqual(len(report["tensors"]), 2)
        self.configured(group_size=64, bits=4, **{tensor_path: {"group_size": 64, "bits": 6}, "model.layers.9.mlp.down_proj": {"group_size": 64, "bits": 6}})
        done = nw("quantize", self.input, "-o", self.folder / "x.safetensors", "--group", "64")
        self.assertEqual(done.returncode, 2)
        self.assertIn("layers.9.mlp.down_proj", done.stderr)

    def test_dequantized_in_gguf(self) -> None:
        rng = random.Random(3)
        layers = {name: Layer(rng, [4, 256], 64, 4, whole=False) for name in (EMBEDDING, STEM)}
        self.write({name: t for stem, layer in layers.items() for name, t in layer.tensors(stem, "F16").items()})
        self.configured(group_size=64, bits=4)
        output = self.output / "model.gguf"
        self.quantize("--to", "q4_K", output=output)
        types = {row["name"]: row["type"] for row in json.loads(nw("inspect", output, "--json").stdout)["tensors"]}
        self.assertEqual(sorted(types.values()), ["f16", "q4_K"])

    def test_refused(self) -> None:
        layer = Layer(random.Random(4), [8, 128], 64, 4, whole=True)
        good = layer.tensors(STEM)

        def refused(change: dict, config: dict, *said: str) -> None:
            self.write({name: t for name, t in (good | change).items() if t})
            self.configured(**config)
            with self.subTest(said=said):
                self.assert_refused(nw("quantize", self.input, "-o", self.packed, "--group", "64"), *said)

        says = {"group_size": 64, "bits": 4}
        refused({}, {}, LINEAR, "config.json")
        refused({}, {"bits": 4}, LINEAR, "group_size")
        refused({}, says | {"bits": 9}, LINEAR, "1 to 8")
        refused({}, says | {"bits": -4}, LINEAR, "1 to 8")
        refused({}, says | {STEM: {"bits": 8, "group_size": 64}}, f"{STEM}.scales", "8 bits in groups of 64", "[8, 1]")
        refused({}, says | {"bits": 3}, LINEAR, "whole groups of 64 codes of 3 bits")
        refused({f"{STEM}.biases": None}, says, LINEAR, f"{STEM}.biases", "missing")
        refused({f"{STEM}.biases": reals("F16", [8, 2], [0.0] * 16)}, says, f"{STEM}.biases", "must be BF16 [8, 2]")
        refused({f"{STEM}.scales": reals("BF16", [8, 1], [0.0] * 8)}, says, f"{STEM}.scales", "must be BF16 [8, 2]")
        refused({LINEAR: Tensor("U32", [128], bytes(512))}, says, LINEAR, "2 dimensions")
        refused({LINEAR: Tensor("U32", [0, 16], b"")}, says, LINEAR, "N = 0")
        self.write(good)
        (self.input / "config.json").write_text('{"quantization": "int4"}')
        self.assert_refused(nw("quantize", self.input, "-o", self.packed), LINEAR, "config.json")


class Fp4(Quantized):
    def layer(self, group: int, scales: list[int], outer: list[int]) -> tuple[dict[str, Tensor], list[list[int]], list[list[int]]]:
        rng, k, rows = random.Random(5), 192, 1
        for size in outer:
            rows *= size
        codes = [[*range(16), *rng.choices(range(16), k=k - 16)] for _ in range(rows)]
        d = [[rng.choice(scales) for _ in range(k // group)] for _ in codes]
        return {
            "up.weight": Tensor("U32", [*outer, k // 8], b"".join(map(pairs, codes))),
            "up.scales": Tensor("U8", [*outer, k // group], b"".join(map(bytes, d))),
        }, codes, d

    def packed_rows(self, tensors: dict[str, Tensor], row_bytes: int, outer: list[int]) -> tuple[dict, bytes]:
        self.write(tensors)
        for path in self.output.iterdir():
            path.unlink()
        done = nw("pack", self.input, self.packed)
        self.assertEqual(done.returncode, 0, done.stderr)
        (row,) = json.loads(self.packed.with_suffix(".json").read_text())["fp4"]
        (tensor,) = decode(self.packed)[0].values()
        self.assertEqual((row["name"], row["shape"], tensor.shape), ("up", [*outer, 192], [*outer, row_bytes]))
        return row, tensor.data

    def test_mxfp4(self) -> None:
        for outer in ([30], [2, 9]):
            tensors, codes, d = self.layer(32, list(range(255)), outer)
            row, data = self.packed_rows(tensors, 102, outer)
            self.assertEqual(row["type"], "mxfp4")
            self.assertNotIn("scale", row)
            want = [[E2M1[c] * 2.0 ** (s[i // 32] - 127) for i, c in enumerate(line)] for line, s in zip(codes, d)]
            self.assertEqual(mxfp4_rows(data, 192), want)

    def test_nvfp4(self) -> None:
        tensors, codes, d = self.layer(16, list(range(127)), [30])
        row, data = self.packed_rows(tensors, 108, [30])
        self.assertEqual((row["type"], row["scale"]), ("nvfp4", 1))
        self.assertEqual(nvfp4_rows(data, 192), [[E2M1[c] * e4m3(s[i // 16]) for i, c in enumerate(line)] for line, s in zip(codes, d)])

    def test_refused(self) -> None:
        tensors = self.layer(32, [127], [4])[0]
        for change, said in (
            ({"up.weight": Tensor("U32", [4, 48], bytes(4 * 4 * 48))}, ("up.weight", "mxfp8", "4 bits")),
            ({"up.scales": Tensor("U8", [4, 5], bytes(20))}, ("up.scales", "must be U8 [4, 12]")),
            ({"up.scales": Tensor("U8", [4, 6], bytes([255] * 24))}, ("up.scales", "0xff, NaN in e8m0")),
        ):
            with self.subTest(said=said):
                self.write(tensors | change)
                self.assert_refused(nw("pack", self.input, self.packed), *said)


if __name__ == "__main__":
    unittest.main()
