# SPDX-License-Identifier: MIT
"""Nothing of a packed layer is omitted silently: its tensors, other quantized layers, and features of the config."""

from __future__ import annotations

import json
import random
import unittest

from make_checkpoints import compressed, compressed_config, make_matrix, reals
from packing import Folder, Packed, nw
from safetensors_file import Tensor, decode, encode
from test_pack_fp4 import CODES, E2M1, e4m3, mxfp4_rows, nvfp4_rows, pairs

LAYER = "model.layers.0.mlp.down_proj"
SCALAR = reals("F32", [], [0.01])


class Closing(Folder):
    def setUp(self) -> None:
        super().setUp()
        self.matrix = make_matrix(random.Random(3), 16, 128, 64)
        self.layer = {f"{LAYER}.{part}": t for part, t in compressed(self.matrix, "F16", False).items()}
        self.config = compressed_config(64, True)

    def pack(self, tensors: dict[str, Tensor], *options: str, **config: object):
        for path in self.output.iterdir():
            path.unlink()
        (self.input / "model.safetensors").write_bytes(encode(tensors))
        (self.input / "config.json").write_text(json.dumps({"quantization_config": self.config | config}))
        return nw("pack", self.input, self.packed, *options)

    def index(self) -> dict:
        return json.loads(self.packed.with_suffix(".json").read_text())


class Tensors(Closing):
    def test_of_activations_are_carried(self) -> None:
        smooth = reals("BF16", [128], [0.5 + k / 256 for k in range(128)])
        more = {f"{LAYER}.input_scale": SCALAR, f"{LAYER}.pre_quant_scale": smooth}
        done = self.pack(self.layer | more)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("multiply activations by it", done.stderr)
        (row,) = self.index()["linears"]
        self.assertEqual(row["carried"], {"input_scale": [f"{LAYER}.input_scale"], "pre_quant_scale": [f"{LAYER}.pre_quant_scale"]})
        written = decode(self.packed)[0]
        self.assertEqual({name: written[name] for name in more}, more)
        self.assertEqual(Packed(self.packed).values(LAYER), [self.matrix.values()])
        self.assertEqual(self.pack(self.layer | more, "--all").returncode, 0)

    def test_of_activation_functions(self) -> None:
        """AWQ's, where no norm is before a layer: in a module of their own."""
        name = "model.layers.0.mlp.act.scales"
        scales = reals("F16", [128], [1.5] * 128)
        done = self.pack(self.layer | {name: scales})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(name, done.stderr)
        self.assertEqual(self.index()["carried"], {"activation_scales": [name]})
        self.assertEqual(decode(self.packed)[0][name], scales)

    def test_of_joined_layers_and_experts(self) -> None:
        tensors = {}
        for e in range(2):
            for part in ("gate_proj", "up_proj"):
                name = f"model.layers.0.mlp.experts.{e}.{part}"
                tensors |= {f"{name}.{key}": t for key, t in compressed(self.matrix, "F16", False).items()}
                tensors[f"{name}.input_scale"] = SCALAR
        self.assertEqual(self.pack(tensors, "--fuse").returncode, 0)
        (row,) = self.index()["linears"]
        self.assertEqual(sorted(row["carried"]["input_scale"]), sorted(name for name in tensors if name.endswith("input_scale")))

    def test_unknown_ones_are_refused(self) -> None:
        for part in ("smooth_scale", "hadamard", "lora_A.weight", "weight", "R4_input.weight", "act_scale"):
            with self.subTest(part=part):
                for options in ((), ("--all",)):
                    done = self.pack(self.layer | {f"{LAYER}.{part}": reals("BF16", [128], [1.0] * 128)}, *options)
                    self.assert_refused(done, f"{LAYER}.{part}", "is a part of the layer", "is not read")
        wrapped = {name.replace(LAYER, f"{LAYER}.base_layer"): t for name, t in self.layer.items()}  # as peft saves it
        self.assertEqual(self.pack(wrapped).returncode, 0)
        lora = f"{LAYER}.lora_A.default.weight"
        self.assert_refused(self.pack(wrapped | {lora: reals("BF16", [2, 128], [1.0] * 256)}), lora, "is a part of the layer")

    def test_other_quantized_layers(self) -> None:
        """Layers of any other type: an error that names them, or copied and listed."""
        for parts in (
            {"weight": Tensor("F8_E4M3", [4, 8], bytes(32)), "weight_scale": SCALAR},
            {"weight": Tensor("F8_E4M3FNUZ", [4, 8], bytes(32)), "weight_scale_inv": SCALAR},
            {"weight": Tensor("I8", [4, 8], bytes(32)), "SCB": reals("F32", [4], [1.0] * 4)},
            {"weight": Tensor("I32", [4, 8], bytes(128)), "weight_scale": reals("F16", [4, 1], [1.0] * 4)},
            {"weight": Tensor("U8", [4, 8], bytes(32)), "weight_scale": reals("F16", [4, 1], [1.0] * 4)},
            {"packed": Tensor("I8", [4, 8], bytes(32)), "group_scales": SCALAR},
            {"weight": Tensor("F8_E9M9", [4, 8], bytes(17)), "weight_scale": SCALAR},
        ):
            other = {f"model.layers.0.self_attn.q_proj.{part}": t for part, t in parts.items()}
            name, codes = next(iter(parts.items()))
            with self.subTest(name=name, dtype=codes.dtype):
                done = self.pack(self.layer | other)
                self.assert_refused(done, f"q_proj.{name}", codes.dtype, "quantized weights", "--all")
                if codes.dtype == "F8_E9M9":
                    continue
                done = self.pack(self.layer | other, "--all")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn(f"q_proj.{name}", done.stderr)
                self.assertEqual(decode(self.packed)[0][f"model.layers.0.self_attn.q_proj.{name}"], codes)

    def test_plain_ones_need_no_word(self) -> None:
        plain = {
            "model.embed_tokens.weight": reals("BF16", [4, 8], [0.5] * 32),
            "visual.position_ids": Tensor("I64", [1, 4], bytes(32)),
            "visual.index": Tensor("I32", [2, 2], bytes(16)),
            "visual.scale": SCALAR,
            "visual.relative_position_index": Tensor("I32", [2, 2], bytes(16)),
            "visual.relative_position_bias_table": SCALAR,
            "model.fp8_without_scales.weight": Tensor("F8_E5M2FNUZ", [2, 2], bytes(4)),
            f"{LAYER}2.weight": reals("BF16", [2, 2], [1.0] * 4),  # another module
        }
        done = self.pack(self.layer | plain)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


class Configs(Closing):
    def test_changes_of_activations(self) -> None:
        def transforms(location: str) -> dict:
            apply = [{"targets": ["re:.*down_proj$"], "location": location}, {"targets": ["re:.*down_proj$"], "location": "weight_input"}]
            return {"transform_config": {"config_groups": {"R4": {"type": "hadamard", "apply": apply}}}}

        online = [
            transforms("input"),
            transforms("q_attn"),
            {"transform_config": {"somehow": 1}},
            {"rotation": "hadamard"},
            {"rotation_config": {"block_size": 32, "hadamard_type": "hadamard"}},
            {"spinquant_config": {"r1": True, "r2": True, "r4": True}},
            {"spinquant_config": {"r1": True, "online_r1_rotation": True}},
            {"algo_config": [{"name": "awq"}, {"name": "rotation", "r1": True, "online_config": {"online_rotation_layers": [LAYER]}}]},
            {"algo_config": {"name": "quarot"}},
            {"layer_quant_config": {"*down_proj": {"online_rotations": {"name": "had"}}}},
            {"adapter": {"name": "lora", "rank": 32}},
            {"dynamic": {"-:x": {"adapter": {"rank": 4}}}},
            {"sparsity_config": {"format": "sparse-24-bitmask"}},
        ]
        for entry in online:
            with self.subTest(entry=entry):
                self.assert_refused(self.pack(self.layer, **entry), "config.json: quantization_config", next(iter(entry)))
        offline = [
            transforms("weight_output"),
            {"transform_config": {}},
            {"rotation": None},
            {"rotation": "none"},
            {"spinquant_config": {"r1": True, "r2": True, "r3": False, "r4": False, "online_r1_rotation": False}},
            {"algo_config": [{"name": "smoothquant", "alpha": 0.5}, {"name": "rotation", "r1": True, "r4": False, "online_config": None}]},
            {"adapter": None},
            {"sparsity_config": {"format": "dense"}},
        ]
        for entry in offline:
            with self.subTest(entry=entry):
                done = self.pack(self.layer, **entry)
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_beside_the_quantization(self) -> None:
        (self.input / "model.safetensors").write_bytes(encode(self.layer))
        for key, value in (("rotation_config", {"block_size": 32}), ("quarot", True), ("hadamard", "full")):
            (self.input / "config.json").write_text(json.dumps({"quantization_config": self.config, key: value}))
            self.assert_refused(nw("pack", self.input, self.packed), f"config.json: {key}")

    def test_unknown_keys_are_told(self) -> None:
        done = self.pack(self.layer, brand_new={"a": 1}, damp_percent=0.1)
        self.assertEqual(done.returncode, 0)
        self.assertIn("quantization_config.brand_new", done.stderr)
        self.assertNotIn("damp_percent", done.stderr)


class Spellings(Closing):
    """New spellings of e2m1."""

    def codes(self, rows: int, k: int) -> list[list[int]]:
        rng = random.Random(4)
        return [[*CODES, *rng.choices(CODES, k=k - 16)] for _ in range(rows)]

    def test_mxfp4_by_its_dtypes(self) -> None:
        codes, d = self.codes(12, 64), [[120 + r, 130 - r] for r in range(12)]
        want = [[E2M1[c] * 2.0 ** (d[r][i // 32] - 127) for i, c in enumerate(row)] for r, row in enumerate(codes)]
        self.config = {"quant_method": "quark", "global_quant_config": {"weight": {"dtype": "fp4", "group_size": 32}}}
        for weight in ("U8", "F4"):
            for scale in ("U8", "F8_E8M0"):
                for suffix in ("weight", "weight_packed"):
                    with self.subTest(weight=weight, scale=scale, suffix=suffix):
                        done = self.pack({
                            f"up.{suffix}": Tensor(weight, [12, 64 if weight == "F4" else 32], b"".join(map(pairs, codes))),
                            "up.weight_scale": Tensor(scale, [12, 2], b"".join(map(bytes, d))),
                            "up.bias": reals("BF16", [12], [1.5] * 12),
                        })  # fmt: skip
                        self.assertEqual(done.returncode, 0, done.stderr)
                        (row,) = self.index()["fp4"]
                        written = decode(self.packed)[0]
                        self.assertEqual(mxfp4_rows(written[row["w"]].data, 64), want)
                        self.assertEqual(written[row["bias"]], reals("BF16", [12], [1.5] * 12))

    def test_stacks_with_columns_first(self) -> None:
        """ModelOpt's of gpt-oss: [E, K/2, N], also where N = K/2 or N = K."""
        self.config = {"quant_method": "modelopt", "quant_algo": "NVFP4"}
        name = "model.layers.0.mlp.experts.gate_up_proj"
        for experts, n, k in ((2, 24, 64), (2, 32, 64), (1, 64, 64), (3, 8, 128)):
            rng = random.Random(n)
            codes = self.codes(experts * n, k)
            d = [[rng.randrange(127) for _ in range(k // 16)] for _ in codes]
            want = [[E2M1[c] * e4m3(d[r][i // 16]) for i, c in enumerate(row)] for r, row in enumerate(codes)]
            rows, scales = [pairs(row) for row in codes], [bytes(row) for row in d]

            def stored(part: list[bytes], turned: bool) -> bytes:
                if not turned:
                    return b"".join(part)
                return b"".join(bytes(part[e * n + r][i] for r in range(n)) for e in range(experts) for i in range(len(part[0])))

            for turned in (True, False):
                with self.subTest(n=n, k=k, turned=turned):
                    shapes = [[experts, size, n] if turned else [experts, n, size] for size in (k // 2, k // 16)]
                    done = self.pack({
                        name: Tensor("U8", shapes[0], stored(rows, turned)),
                        f"{name}_weight_scale": Tensor("F8_E4M3", shapes[1], stored(scales, turned)),
                        f"{name}_weight_scale_2": SCALAR,
                        f"{name}_input_scale": SCALAR,
                        f"{name}_bias": reals("BF16", [experts, n], [1.0] * experts * n),
                    })  # fmt: skip
                    self.assertEqual(done.returncode, 0, done.stderr)
                    (row,) = self.index()["fp4"]
                    self.assertEqual((row["name"], row["shape"], row["type"]), (name, [experts, n, k], "nvfp4"))
                    self.assertEqual(nvfp4_rows(decode(self.packed)[0][row["w"]].data, k), want)
                    self.assertEqual((row["bias"], row["carried"]), (f"{name}_bias", {"input_scale": [f"{name}_input_scale"]}))

    def test_claims_of_e2m1(self) -> None:
        layer = {"up.weight": Tensor("U8", [4, 32], bytes(128)), "up.weight_scale": Tensor("U8", [4, 2], bytes([127] * 8))}
        for weight, words in (
            ({"dtype": "fp8_e4m3"}, "8 bits"),
            ({"dtype": "int4", "group_size": 32}, "whole numbers"),
            ({"dtype": "fp4", "group_size": 16}, "16"),
        ):
            self.config = {"quant_method": "quark", "global_quant_config": {"weight": weight}}
            self.assert_refused(self.pack(layer), "up.weight", "the config says", words)


if __name__ == "__main__":
    unittest.main()
