# SPDX-License-Identifier: MIT
"""nw quantize: its output represents the weights within its bound, and nw pack and nw inspect read it."""

from __future__ import annotations

import json
import random
import struct
import unittest
from pathlib import Path

from packing import Folder, Packed, nw, stderr_on_terminal
from safetensors_file import Tensor, decode, encode

LINEAR = "model.layers.0.mlp.up_proj.weight"
CODES = {"F16": "e", "F32": "f"}


def bf16(x: float) -> int:
    """To nearest even."""
    (bits,) = struct.unpack("<I", struct.pack("<f", x))
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16


def pack(values: list[float], dtype: str) -> bytes:
    if dtype == "BF16":
        return struct.pack(f"<{len(values)}H", *map(bf16, values))
    return struct.pack(f"<{len(values)}{CODES[dtype]}", *values)


def unpack(tensor: Tensor) -> list[float]:
    if tensor.dtype == "BF16":
        return [struct.unpack("<f", struct.pack("<I", h << 16))[0] for h in struct.unpack(f"<{len(tensor.data) // 2}H", tensor.data)]
    code = {**CODES, "I32": "I", "I64": "q", "U8": "B"}[tensor.dtype]
    return list(struct.unpack(f"<{len(tensor.data) // struct.calcsize(code)}{code}", tensor.data))


def normal(n: int, k: int, dtype: str = "BF16", seed: int = 1, shift: float = 0) -> Tensor:
    rng = random.Random(seed)
    return Tensor(dtype, [n, k], pack([rng.gauss(shift, 0.02) for _ in range(n * k)], dtype))


def nmse(got: list[float], want: list[float]) -> float:
    return sum((a - b) ** 2 for a, b in zip(got, want, strict=True)) / sum(b * b for b in want)


class Quantized(Folder):
    def write(self, tensors: dict[str, Tensor], name: str = "model.safetensors") -> Path:
        path = self.input / name
        path.write_bytes(encode(tensors))
        return path

    def quantize(self, *options: str, inputs: list[Path] | None = None, output: Path | None = None) -> dict:
        done = nw("quantize", *(inputs or [self.input]), "-o", output or self.packed, "--json", "--force", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def repacked(self, name: str) -> list[float]:
        """The numbers of a layer after nw pack, by the contract of the kernels."""
        path = self.folder / "packed.safetensors"
        done = nw("pack", self.packed, path, "--force")
        self.assertEqual(done.returncode, 0, done.stderr)
        return [x for row in Packed(path).values(name.removesuffix(".weight"))[0] for x in row]


class W4A16(Quantized):
    def test_pack_reads_it(self) -> None:
        for n, k, group in ((8, 128, 128), (13, 256, 64), (1, 96, 32), (70, 64, 32)):
            for dtype in ("BF16", "F16", "F32"):
                for options in ((), ("--zero-points",), ("--clip", "none"), ("--clip", "none", "--zero-points")):
                    with self.subTest(n=n, k=k, group=group, dtype=dtype, options=options):
                        source = normal(n, k, dtype)
                        self.write({LINEAR: source})
                        report = self.quantize("--group", str(group), *options)
                        got, want = self.repacked(LINEAR), unpack(source)
                        (row,) = report["tensors"]
                        self.assertEqual((row["name"], row["dtype"], row["n"], row["k"]), (LINEAR, dtype, n, k))
                        self.assertAlmostEqual(row["nmse"], nmse(got, want), delta=1e-9)
                        errors = [abs(a - b) for a, b in zip(got, want, strict=True)]
                        at_n, at_k = row["max_error_at"]
                        self.assertAlmostEqual(row["max_error"], max(errors), delta=1e-12)
                        self.assertAlmostEqual(errors[at_n * k + at_k], max(errors), delta=1e-12)
                        self.assertLess(row["nmse"], 0.02)

    def test_round_to_nearest_is_within_half_a_scale(self) -> None:
        source = normal(16, 256)
        self.write({LINEAR: source})
        self.quantize("--clip", "none")
        tensors, metadata = decode(self.packed)
        self.assertEqual(metadata, {"format": "pt"})
        self.assertEqual(unpack(tensors[LINEAR + "_shape"]), [16, 256])
        scales = unpack(tensors[LINEAR + "_scale"])
        for i, (got, want) in enumerate(zip(self.repacked(LINEAR), unpack(source), strict=True)):
            self.assertLessEqual(abs(got - want), scales[i // 128] / 2)

    def test_better_with_mse_and_with_zero_points(self) -> None:
        for shift in (0, 0.02):
            self.write({LINEAR: normal(16, 512, shift=shift)})
            error = {options: self.quantize(*options)["nmse"] for options in ((), ("--clip", "none"), ("--zero-points",))}
            self.assertLess(error[()], 0.97 * error[("--clip", "none")])
            if shift:
                self.assertLess(error[("--zero-points",)], 0.9 * error[()])

    def test_scales(self) -> None:
        for dtype, options, expected in (("F16", (), "F16"), ("BF16", (), "BF16"), ("F32", (), "BF16"), ("F32", ("--scales", "f16"), "F16")):
            self.write({LINEAR: normal(8, 128, dtype)})
            self.quantize(*options)
            self.assertEqual(decode(self.packed)[0][LINEAR + "_scale"].dtype, expected)

    def test_zeros(self) -> None:
        self.write({LINEAR: Tensor("BF16", [8, 128], bytes(2048))})
        for options in ((), ("--zero-points",)):
            report = self.quantize(*options)
            self.assertEqual(report["nmse"], 0)
            self.assertEqual(set(self.repacked(LINEAR)), {0})


class Selection(Quantized):
    def test_linear_weights_and_nothing_else(self) -> None:
        quantized = ["model.layers.0.self_attn.q_proj.weight", "model.layers.0.mlp.gate_proj.weight", "model.layers.0.mlp.experts.3.w1.weight"]
        copied = [
            "model.embed_tokens.weight", "lm_head.weight", "model.layers.0.mlp.gate.weight", "model.layers.0.mlp.shared_expert_gate.weight",
            "model.layers.0.router.weight", "model.layers.0.self_attn.rel_table", "transformer.wte.weight",
        ]  # fmt: skip
        tensors = {name: normal(8, 128, seed=i) for i, name in enumerate(quantized + copied)}
        tensors["model.layers.0.input_layernorm.weight"] = Tensor("F32", [7], pack([1.0] * 7, "F32"))
        tensors["model.layers.0.self_attn.q_proj.bias"] = Tensor("BF16", [8], bytes(range(16)))
        tensors["model.layers.0.conv.weight"] = Tensor("BF16", [2, 2, 2], bytes(16))
        self.write(tensors)
        report = self.quantize()
        self.assertEqual(sorted(row["name"] for row in report["tensors"]), sorted(quantized))
        self.assertEqual(report["copied_tensors"], len(tensors) - len(quantized))
        written, _ = decode(self.packed)
        for name in tensors.keys() - set(quantized):
            self.assertEqual(written[name], tensors[name])
        done = nw("inspect", "--json", self.packed)
        found = json.loads(done.stdout)
        self.assertEqual(found["problems"], [])
        self.assertEqual({row["format"] for row in found["linears"]}, {"compressed_tensors"})
        self.assertTrue(next(row for row in found["linears"] if "q_proj" in row["name"])["bias"])

    def test_include_and_keep(self) -> None:
        self.write({LINEAR: normal(8, 128), "lm_head.weight": normal(8, 128), "a.weight": normal(8, 100)})
        report = self.quantize("--include", "lm_head", "--keep", r"^a\.")
        self.assertEqual([row["name"] for row in report["tensors"]], [LINEAR, "lm_head.weight"])

    def test_shards_and_several_inputs(self) -> None:
        self.write({LINEAR: normal(8, 128)}, "a.safetensors")
        self.write({"b.weight": normal(8, 128), "left.out": normal(1, 2)}, "b.safetensors")
        index = {"weight_map": {LINEAR: "a.safetensors", "b.weight": "b.safetensors"}}
        (self.input / "model.safetensors.index.json").write_text(json.dumps(index))
        self.assertEqual([row["name"] for row in self.quantize()["tensors"]], [LINEAR, "b.weight"])
        files = [self.input / "b.safetensors", self.input / "a.safetensors"]
        self.assertEqual([row["name"] for row in self.quantize(inputs=files)["tensors"]], ["b.weight", LINEAR])

    def test_table(self) -> None:
        self.write({LINEAR: normal(8, 128), "norm": Tensor("F32", [1], pack([1.0], "F32"))})
        done = nw("quantize", self.input, "-o", self.packed)
        lines = done.stdout.splitlines()
        self.assertEqual(len(lines), 3, done.stderr)
        self.assertRegex(lines[1], rf"^ +8 x 128 +\d\.\d+e-\d\d +\d\.\d+e-\d\d  {LINEAR}$")
        self.assertRegex(lines[2], r": 1 weight tensor to w4a16, NMSE .*; 1 other tensor copied; ")

    def test_a_bar_where_a_person_watches(self) -> None:
        self.write({LINEAR: normal(8, 128)})
        self.assertEqual(nw("quantize", self.input, "-o", self.packed).stderr, "")
        code, said = stderr_on_terminal("quantize", self.input, "-o", self.packed, "--force")
        self.assertEqual(code, 0)
        self.assertRegex(said, rf"\[=+ *\] +\d+% {LINEAR}")
        self.assertTrue(said.endswith("\x1b[K"), "the bar was not taken away")


class Mxfp4(Quantized):
    VALUES = (0, 0.5, 1, 1.5, 2, 3, 4, 6)

    def test_safetensors_as_gpt_oss(self) -> None:
        source = normal(5, 96)
        self.write({LINEAR: source})
        report = self.quantize("--to", "mxfp4")
        tensors, _ = decode(self.packed)
        blocks, scales = tensors[LINEAR + "_blocks"], tensors[LINEAR + "_scales"]
        self.assertEqual((blocks.shape, scales.shape), ([5, 3, 16], [5, 3]))
        codes = [code for byte in blocks.data for code in (byte & 15, byte >> 4)]
        got = [(-1 if c & 8 else 1) * self.VALUES[c & 7] * 2.0 ** (scales.data[i // 32] - 127) for i, c in enumerate(codes)]
        self.assertAlmostEqual(report["nmse"], nmse(got, unpack(source)), delta=1e-9)
        self.assertLess(report["nmse"], 0.02)


class Gguf(Quantized):
    def test_inspect_reads_it(self) -> None:
        source, bias = normal(3, 512), Tensor("F32", [3], pack([1, 2, 3], "F32"))
        self.write({LINEAR: source, "b": bias, "scalar": Tensor("BF16", [], b"\x80\x3f")})
        for to, size in (("q4_K", 288), ("mxfp4", 272)):
            path = self.output / f"{to}.gguf"
            report = self.quantize("--to", to, output=path)
            done = nw("inspect", "--json", path)
            self.assertEqual(done.returncode, 0, done.stderr)
            rows = {row["name"]: row for row in json.loads(done.stdout)["tensors"]}
            self.assertEqual(rows[LINEAR]["type"], to)
            self.assertEqual(rows[LINEAR]["ne"], [512, 3])
            self.assertEqual(rows[LINEAR]["bytes"], 3 * size)
            self.assertEqual((rows["b"]["type"], rows["b"]["ne"], rows["scalar"]["ne"]), ("f32", [3], [1]))
            self.assertIn(bias.data, path.read_bytes())
            self.assertEqual(path.stat().st_size % 32, 0)
            self.assertLess(report["nmse"], 0.02)


class Refusals(Quantized):
    def refused(self, tensors: dict[str, Tensor], words: tuple[str, ...], *options: str, output: Path | None = None) -> None:
        self.write(tensors)
        with self.subTest(words=words):
            self.assert_refused(nw("quantize", self.input, "-o", output or self.packed, *options), *words)

    def with_value(self, value: float, dtype: str = "BF16") -> dict[str, Tensor]:
        values = [0.5] * (16 * 128)
        values[11 * 128 + 77] = value
        return {"good.weight": normal(8, 128), LINEAR: Tensor(dtype, [16, 128], pack(values, dtype))}

    def test_weights(self) -> None:
        for to in ("w4a16", "mxfp4"):
            for value, word in ((float("inf"), "inf"), (float("-inf"), "-inf")):
                self.refused(self.with_value(value), (LINEAR, "row 11, column 77", f"is {word}", "--keep"), "--to", to)
        nan = self.with_value(0)
        nan[LINEAR].data = nan[LINEAR].data[:-2] + b"\xc0\x7f"
        self.refused(nan, (LINEAR, "row 15, column 127", "nan"))
        self.refused(self.with_value(1e6, "F32"), (LINEAR, "row 11, group 0", "1000000", "f16", "bf16"), "--scales", "f16")

    def test_shapes_and_types(self) -> None:
        self.refused({LINEAR: normal(8, 96)}, (LINEAR, "K = 96", "multiple of 128", "--group", "--keep"))
        self.refused({LINEAR: normal(8, 40)}, (LINEAR, "K = 40", "multiple of 32", "--keep"), "--group", "32")
        self.refused({LINEAR: normal(8, 128)}, (LINEAR, "K = 128", "multiple of 256"), "--to", "q4_K", output=self.output / "x.gguf")
        self.refused({LINEAR: Tensor("F8_E4M3", [8, 128], bytes(1024))}, (LINEAR, "F8_E4M3", "BF16, F16 or F32", "--keep"))
        self.refused({LINEAR: Tensor("BF16", [0, 128], b"")}, (LINEAR, "N = 0"))
        self.refused({"lm_head.weight": normal(8, 128)}, ("no linear weights", "1 tensors", "--include"))
        self.refused({LINEAR: normal(8, 256), "mask": Tensor("BOOL", [1], b"\1")}, ("mask", "BOOL"), "--to", "q4_K", output=self.output / "x.gguf")
        long = "a" * 57 + ".weight"
        self.refused({long: normal(8, 256)}, (long, "64 bytes"), "--to", "q4_K", output=self.output / "x.gguf")
        self.refused({LINEAR: normal(8, 128), LINEAR + "_scale": normal(1, 1)}, (LINEAR + "_scale", "exists already"))

    def test_options(self) -> None:
        good = {LINEAR: normal(8, 128)}
        self.write(good)
        for wrong in (("--group", "48"), ("--to", "int4"), ("--clip", "max"), ("--scales", "f32")):
            done = nw("quantize", self.input, "-o", self.packed, *wrong)
            self.assertEqual(done.returncode, 2)
            self.assertIn(wrong[0], done.stderr)
        self.refused(good, ("--keep", "nothing"), "--keep", "nothing")
        self.refused(good, ("--include", "regular expression"), "--include", "(")
        self.refused(good | {"table": normal(8, 128)}, ("table", "NAME.weight"), "--include", "table")
        self.refused(good, ("NAME.safetensors",), output=self.output / "x.gguf")
        self.refused(good, ("NAME.gguf",), "--to", "q4_K")
        self.refused(good, ("does not exist",), output=self.folder / "none/x.safetensors")
        self.refused(good, ("inside the input",), output=self.input / "x.safetensors")

    def test_existing_output(self) -> None:
        self.write({LINEAR: normal(8, 128)})
        self.packed.write_bytes(b"mine")
        done = nw("quantize", self.input, "-o", self.packed)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--force", done.stderr)
        self.assertEqual(self.packed.read_bytes(), b"mine")

    def test_names_that_inputs_share(self) -> None:
        files = [self.write({LINEAR: normal(8, 128)}, name) for name in ("a.safetensors", "b.safetensors")]
        self.assert_refused(nw("quantize", *files, "-o", self.packed), LINEAR, *map(str, files))


if __name__ == "__main__":
    unittest.main()
