# SPDX-License-Identifier: MIT
"""nw pack on weights of e2m1: every number and scale of gpt-oss's mxfp4 and of nvfp4, in ggml's blocks; refusals."""

from __future__ import annotations

import json
import random
import struct
import unittest

from packing import Folder, nw
from safetensors_file import Tensor, decode, encode

E2M1 = [0, 0.5, 1, 1.5, 2, 3, 4, 6, 0, -0.5, -1, -1.5, -2, -3, -4, -6]
CODES = [*range(16)]


def e4m3(bits: int) -> float:
    exponent, fraction = bits >> 3 & 15, bits & 7
    return (-1 if bits & 128 else 1) * ((1 + fraction / 8) * 2.0 ** (exponent - 7) if exponent else fraction * 2.0**-9)


def pairs(codes: list[int]) -> bytes:
    return bytes(low | high << 4 for low, high in zip(codes[::2], codes[1::2], strict=True))


def mxfp4_rows(data: bytes, k: int) -> list[list[float]]:
    """ggml's, by its definition."""
    out = []
    for row in range(0, len(data), k // 32 * 17):
        values: list[float] = []
        for at in range(row, row + k // 32 * 17, 17):
            qs = data[at + 1 : at + 17]
            values += [E2M1[n] * 2.0 ** (data[at] - 127) for n in [q & 15 for q in qs] + [q >> 4 for q in qs]]
        out.append(values)
    return out


def nvfp4_rows(data: bytes, k: int) -> list[list[float]]:
    out = []
    for row in range(0, len(data), k // 64 * 36):
        values: list[float] = []
        for at in range(row, row + k // 64 * 36, 36):
            for s in range(4):
                qs = data[at + 4 + 8 * s : at + 12 + 8 * s]
                values += [E2M1[n] * e4m3(data[at + s]) for n in [q & 15 for q in qs] + [q >> 4 for q in qs]]
        out.append(values)
    return out


class Fp4(Folder):
    def setUp(self) -> None:
        super().setUp()
        self.rng = random.Random(5)

    def write(self, tensors: dict[str, Tensor]) -> None:
        (self.input / "model.safetensors").write_bytes(encode(tensors))

    def packed_file(self) -> tuple[dict, dict[str, Tensor]]:
        done = nw("pack", self.input, self.packed)
        self.assertEqual(done.returncode, 0, done.stderr)
        tensors, _ = decode(self.packed)
        return json.loads(self.packed.with_suffix(".json").read_text()), tensors

    def codes(self, rows: int, k: int) -> list[list[int]]:
        return [[*CODES, *self.rng.choices(CODES, k=k - 16)] for _ in range(rows)]

    def mxfp4(self, experts: int, n: int, k: int, scales: list[int]) -> tuple[dict[str, Tensor], list[list[float]]]:
        codes = self.codes(experts * n, k)
        d = [[self.rng.choice(scales) for _ in range(k // 32)] for _ in codes]
        return {
            "mlp.experts.gate_up_proj_blocks": Tensor("U8", [experts, n, k // 32, 16], b"".join(map(pairs, codes))),
            "mlp.experts.gate_up_proj_scales": Tensor("U8", [experts, n, k // 32], b"".join(map(bytes, d))),
        }, [[E2M1[c] * 2.0 ** (d[r][i // 32] - 127) for i, c in enumerate(row)] for r, row in enumerate(codes)]

    def nvfp4(self, n: int, k: int, scales: list[int], packed: bool = False) -> tuple[dict[str, Tensor], list[list[float]]]:
        codes = self.codes(n, k)
        d = [[self.rng.choice(scales) for _ in range(k // 16)] for _ in codes]
        whole = ("up.weight_global_scale", 4.0) if packed else ("up.weight_scale_2", 0.25)
        return {
            "up.weight_packed" if packed else "up.weight": Tensor("U8", [n, k // 2], b"".join(map(pairs, codes))),
            "up.weight_scale": Tensor("F8_E4M3", [n, k // 16], b"".join(map(bytes, d))),
            whole[0]: Tensor("F32", [], struct.pack("<f", whole[1])),
        }, [[E2M1[c] * e4m3(d[r][i // 16]) for i, c in enumerate(row)] for r, row in enumerate(codes)]

    def test_mxfp4_of_every_scale(self) -> None:
        tensors, want = self.mxfp4(2, 40, 128, list(range(255)))
        self.write({**tensors, "norm": Tensor("F32", [1], bytes(4))})
        layout, packed = self.packed_file()
        (row,) = layout["fp4"]
        self.assertEqual((row["name"], row["type"], row["shape"], row["w_stride"]), ("mlp.experts.gate_up_proj", "mxfp4", [2, 40, 128], 68))
        self.assertNotIn("scale", row)
        self.assertEqual(packed[row["w"]].shape, [2, 40, 68])
        self.assertEqual(mxfp4_rows(packed[row["w"]].data, 128), want)
        self.assertEqual(list(packed), [row["w"]])

    def layer(self, n: int, k: int, packed: bool) -> tuple[dict[str, Tensor], list[list[float]]]:
        """mxfp4 of one layer, as compressed-tensors and AutoRound have it (`packed`), and as Quark has it."""
        tensors, want = self.mxfp4(1, n, k, list(range(255)))
        codes, scales = tensors.values()
        name = "up.weight_packed" if packed else "up.weight"
        return {name: Tensor("U8", [n, k // 2], codes.data), "up.weight_scale": Tensor("U8", [n, k // 32], scales.data)}, want

    def test_mxfp4_of_single_layers(self) -> None:
        for packed_name in (False, True):
            with self.subTest(packed_name=packed_name):
                tensors, want = self.layer(30, 96, packed_name)
                self.write(tensors)
                self.packed.unlink(missing_ok=True)
                self.packed.with_suffix(".json").unlink(missing_ok=True)
                layout, packed = self.packed_file()
                (row,) = layout["fp4"]
                self.assertEqual((row["name"], row["type"], row["shape"]), ("up", "mxfp4", [30, 96]))
                self.assertNotIn("scale", row)
                self.assertEqual(mxfp4_rows(packed[row["w"]].data, 96), want)

    def test_nvfp4_of_every_scale(self) -> None:
        for packed_name in (False, True):
            with self.subTest(packed_name=packed_name):
                tensors, want = self.nvfp4(30, 192, list(range(127)), packed_name)
                self.write(tensors)
                self.packed.unlink(missing_ok=True)
                self.packed.with_suffix(".json").unlink(missing_ok=True)
                layout, packed = self.packed_file()
                (row,) = layout["fp4"]
                self.assertEqual((row["name"], row["type"], row["shape"], row["scale"]), ("up", "nvfp4", [30, 192], 0.25))
                self.assertEqual(nvfp4_rows(packed[row["w"]].data, 192), want)

    def test_scales_as_bytes(self) -> None:
        tensors, want = self.nvfp4(30, 192, list(range(127)))
        tensors["up.weight_scale"].dtype = "U8"
        self.write(tensors)
        layout, packed = self.packed_file()
        self.assertEqual(layout["fp4"][0]["type"], "nvfp4")
        self.assertEqual(nvfp4_rows(packed[layout["fp4"][0]["w"]].data, 192), want)

    def test_inspect_lists_them(self) -> None:
        self.write(self.mxfp4(2, 3, 64, [127])[0])
        found = json.loads(nw("inspect", self.input, "--json").stdout)
        self.assertEqual(found["fp4"], [{"name": "mlp.experts.gate_up_proj", "type": "mxfp4", "shape": [2, 3, 64]}])
        self.assertEqual((found["others"], found["problems"]), ([], []))
        self.assertIn("mxfp4", nw("inspect", self.input).stdout)

    def test_scales_that_ggml_has_not(self) -> None:
        for tensors, words in (
            (self.mxfp4(1, 2, 32, [255])[0], ("_scales", "row 0, group 0", "0xff, NaN in e8m0")),
            (self.nvfp4(2, 64, [0x7F])[0], ("weight_scale", "row 0, group 0", "0x7f, NaN in e4m3")),
            (self.nvfp4(2, 64, [0xB8])[0], ("weight_scale", "0xb8, negative")),
        ):
            with self.subTest(words=words):
                self.write(tensors)
                self.assert_refused(nw("pack", self.input, self.packed), *words)

    def test_tensors_that_don_t_fit(self) -> None:
        mx, nv, by_divisor = self.mxfp4(2, 3, 64, [127])[0], self.nvfp4(4, 64, [0x38])[0], self.nvfp4(4, 64, [0x38], packed=True)[0]
        blocks, scales = mx
        one = self.layer(4, 64, packed=True)[0]

        def without(tensors: dict[str, Tensor], name: str) -> dict[str, Tensor]:
            return {key: t for key, t in tensors.items() if key != name}

        for tensors, words in (
            (without(mx, scales), ("_scales", "missing")),
            ({**mx, scales: Tensor("U8", [2, 3, 1], bytes(6))}, ("_scales", "[2, 3, 1]", "must be U8 [2, 3, 2]")),
            ({**mx, blocks: Tensor("U8", [2, 3, 4, 8], bytes(192))}, ("_blocks", "must be [..., N, K/32, 16]")),
            ({**mx, blocks: Tensor("U8", [0, 3, 2, 16], b""), scales: Tensor("U8", [0, 3, 2], b"")}, ("_blocks", "has no weights")),
            ({**one, "up.weight_scale": Tensor("U8", [4, 3], bytes(12))}, ("up.weight_scale", "[4, 3]", "must be U8 [4, 2]")),
            ({**one, "up.weight_packed": Tensor("U8", [4, 24], bytes(96))}, ("up.weight_packed", "K = 48", "multiple of 32", "mxfp4")),
            ({**one, "up.weight_zero_point": Tensor("U8", [4, 2], bytes(8))}, ("up.weight_zero_point", "zero points", "symmetrically")),
            (without(nv, "up.weight_scale_2"), ("up.weight", "weight_scale_2 or weight_global_scale")),
            ({**nv, "up.weight_scale_2": Tensor("F32", [], struct.pack("<f", float("nan")))}, ("weight_scale_2", "is nan: must be finite")),
            ({**by_divisor, "up.weight_global_scale": Tensor("F32", [], struct.pack("<f", 1e-39))}, ("weight_global_scale", "1e-39", "reciprocal")),
            ({**nv, "up.weight": Tensor("U8", [4, 16], bytes(64)), "up.weight_scale": Tensor("F8_E4M3", [4, 2], bytes(8))}, ("K = 32", "multiple of 64")),
        ):
            with self.subTest(words=words):
                self.write(tensors)
                self.assert_refused(nw("pack", self.input, self.packed), *words)


if __name__ == "__main__":
    unittest.main()
