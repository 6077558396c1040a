# SPDX-License-Identifier: MIT
"""A checkpoint's config files: the places of claims, their effects, and contradictions."""

from __future__ import annotations

import json
import random
import unittest

import make_checkpoints
from make_checkpoints import compressed, gptq, gptq_config, make_matrix
from packing import Folder, Packed, nw
from safetensors_file import Tensor, encode

LAYER = "model.layers.0.mlp.down_proj"
V2 = {"quant_method": "gptq", "bits": 4, "group_size": 64, "sym": False, "checkpoint_format": "gptq_v2"}
UNSAID = {key: value for key, value in V2.items() if key != "checkpoint_format"}


class Configured(Folder):
    """A layer whose zero points are of 1 to 14: as v1 and as v2 its bytes are other weights."""

    def setUp(self) -> None:
        super().setUp()
        self.matrix = make_matrix(random.Random(9), 16, 128, 64, asym=True, lowest_zero=1, highest_zero=14)

    def layer(self, v2: bool = True, name: str = LAYER) -> dict[str, Tensor]:
        return {f"{name}.{part}": t for part, t in gptq(self.matrix, "F16", 0 if v2 else 1).items()}

    def write(self, tensors: dict[str, Tensor], **files: object) -> None:
        """`files`: config_json = {...} is config.json; a text is written as it is."""
        for path in [*self.input.iterdir(), *self.output.iterdir()]:
            path.unlink()
        (self.input / "model.safetensors").write_bytes(encode(tensors))
        for name, value in files.items():
            text = value if isinstance(value, str) else json.dumps(value)
            (self.input / name.replace("_json", ".json")).write_text(text)

    def packs(self, *options: str, source: str = "", layer: str = LAYER) -> None:
        done = nw("pack", self.input / source, self.packed, *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(Packed(self.packed).values(layer), [self.matrix.values()])

    def refused(self, *words: str, options: tuple[str, ...] = ()) -> None:
        self.assert_refused(nw("pack", self.input, self.packed, *options), *words)


class Places(Configured):
    def test_every_place(self) -> None:
        for files in (
            {"config_json": {"quantization_config": V2}},
            {"config_json": {"compression_config": V2}},
            {"config_json": {"text_config": {"quantization_config": V2}}},
            {"config_json": {"thinker_config": {"text_config": {"quantization_config": V2}}}},
            {"config_json": {"model_type": "x"}, "quantize_config_json": V2},
            {"quant_config_json": V2},
            {"quantization_config_json": V2},
            {"config_json": {"quantization_config": None}, "quantize_config_json": V2},
            {"config_json": {"quantization_config": UNSAID}, "quantize_config_json": V2},
            {"config_json": {"quantization_config": UNSAID | {"checkpoint_format": None}}, "quantize_config_json": V2},
            {"config_json": {"quantization_config": UNSAID | {"damp_percent": 0.1}}, "quantize_config_json": V2 | {"damp_percent": 0.05}},
            {"config_json": {"quantization_config": UNSAID}, "quantize_config_json": V2 | {"group_size": None, "bits": 4.0}},
        ):
            with self.subTest(files=files):
                self.write(self.layer(), **files)
                self.packs()
                self.packed.unlink()
                self.packed.with_suffix(".json").unlink()
                self.packs(source="model.safetensors")

    def test_files_that_differ(self) -> None:
        for one, two, words in (
            (V2, V2 | {"checkpoint_format": "gptq"}, ("checkpoint_format", '"gptq_v2"', '"gptq"')),
            (V2, V2 | {"group_size": 128}, ("group_size", "64", "128")),
            (V2, {"w_bit": 3}, ("bits", "4", "w_bit", "3")),
            (V2 | {"sym": False}, {"sym": True}, ("sym", "false", "true")),
        ):
            with self.subTest(words=words):
                self.write(self.layer(), config_json={"text_config": {"quantization_config": one}}, quantize_config_json=two)
                self.refused("config.json: text_config.quantization_config.", "quantize_config.json: ", "must agree", *words)

    def test_beside_a_shard(self) -> None:
        self.write(self.layer(), config_json={"quantization_config": V2})
        (self.input / "model.safetensors").rename(self.input / "model-00001-of-00002.safetensors")
        other = "model.layers.1.mlp.down_proj"
        rule = {f"+:{other.replace('.', chr(92) + '.')}": {"bits": 8}}  # of a layer in the other shard
        weights = {name: "model-00001-of-00002.safetensors" for name in self.layer()}
        weights |= {name: "model-00002-of-00002.safetensors" for name in self.layer(name=other)}
        (self.input / "model.safetensors.index.json").write_text(json.dumps({"weight_map": weights}))
        (self.input / "config.json").write_text(json.dumps({"quantization_config": V2 | {"dynamic": rule}}))
        self.packs(source="model-00001-of-00002.safetensors")

    def test_as_python_reads_json(self) -> None:
        said = json.dumps(V2)
        for text in (
            '{"time_step_limit": [0.0, Infinity], "a": NaN, "b": {"c": -Infinity, "d": 1e999}, "quantization_config": %s}' % said,
            '{"quantization_config": {"bits": 8}, "s": "NaN, \\"Infinity", "quantization_config": %s}' % said,
            '{"quantization_config": %s}' % said.replace('"bits": 4', '"bits": 3, "bits": 4'),
        ):
            with self.subTest(text=text):
                self.write(self.layer(), config_json=text)
                self.packs()
        self.write(self.layer(), config_json='{"a": Nan}')
        self.refused("config.json", "is not JSON")

    def test_null_is_absence(self) -> None:
        for key in ("dynamic", "extra_config", "config_groups", "bits", "group_size", "sym", "desc_act", "is_marlin_format", "meta", "rotation"):
            with self.subTest(key=key):
                self.write(self.layer(), config_json={"quantization_config": V2 | {key: None}})
                self.packs()
        # Beside such a null the other claims hold.
        self.write(self.layer(), config_json={"quantization_config": V2 | {"group_size": 128, "dynamic": None, "extra_config": None}})
        self.refused("the config says groups of 128")

    def test_values_of_another_kind(self) -> None:
        for key, value in (("bits", "four"), ("group_size", 12.5), ("sym", "no"), ("dynamic", [1]), ("checkpoint_format", 2)):
            with self.subTest(key=key):
                self.write(self.layer(), config_json={"quantization_config": V2 | {key: value}})
                self.refused(f"config.json: quantization_config.{key}", "must be")


class ZeroPoints(Configured):
    AUTO_ROUND = {"quant_method": "intel/auto-round", "bits": 4, "group_size": 64, "sym": False}

    def test_who_says_it(self) -> None:
        for v2, config in (
            (False, UNSAID | {"checkpoint_format": "gptq"}),
            (False, UNSAID | {"format": "gptq"}),
            (True, UNSAID | {"format": "gptq_v2"}),
            (False, self.AUTO_ROUND | {"packing_format": "auto_round:auto_gptq"}),
            (False, self.AUTO_ROUND | {"packing_format": "auto_round:gptq"}),
            (True, self.AUTO_ROUND | {"packing_format": "auto_round:gptqmodel"}),
            (True, self.AUTO_ROUND | {"packing_format": "auto_round"}),
            (False, self.AUTO_ROUND | {"backend": "auto_round:gptq:exllamav2"}),
            (False, self.AUTO_ROUND | {"backend": "auto_round:tritonv2_zp"}),
            (False, UNSAID | {"provider": "auto-round"}),
        ):
            with self.subTest(config=config):
                self.write(self.layer(v2), config_json={"quantization_config": config})
                self.packs()

    def test_nobody_says_it(self) -> None:
        for config in (UNSAID, UNSAID | {"meta": {"quantizer": ["gptqmodel:2.0.0"]}}, self.AUTO_ROUND | {"backend": "auto_round:exllamav2"}, {}):
            with self.subTest(config=config):
                for v2, form in ((True, "gptq_v2"), (False, "gptq")):
                    self.write(self.layer(v2), config_json={"quantization_config": config})
                    self.refused(f"{LAYER}.qzeros", "asymmetric", "--checkpoint-format", "gptq_v2")
                    self.packs("--checkpoint-format", form)

    def test_values_that_say_it(self) -> None:
        """All 7 is v1 and all 8 v2, of symmetric layers."""
        self.matrix = make_matrix(random.Random(9), 16, 128, 64)
        for v2 in (True, False):
            for sym in (True, None):
                self.write(self.layer(v2), config_json={"quantization_config": UNSAID | {"sym": sym}})
                self.packs()

    def test_the_option_takes_the_place_of_the_config(self) -> None:
        self.write(self.layer(), config_json={"quantization_config": V2 | {"checkpoint_format": "gptq"}})
        self.packs("--checkpoint-format", "gptq_v2")


class Layers(Configured):
    """Rules for some layers."""

    def test_bits_of_a_layer(self) -> None:
        dots = LAYER.replace(".", r"\.")
        for rules in (
            {"dynamic": {f"+:{dots}": {"bits": 8}}},
            {"dynamic": {r".*\.down_proj.*": {"bits": 8}}},
            {"dynamic": {r"+:model\.layers\.\d+\.mlp\.(?!up).*": {"bits": 8}}},
            {"extra_config": {LAYER: {"bits": 8}}},
            {"extra_config": {"model.layers.0": {"bits": 8}}},  # a module around
            {"extra_config": {"model.language_model.layers.0.mlp.down_proj": {"bits": 8}}},
            {"extra_config": {r"layers\.\d\.mlp": {"bits": 8}}},
        ):
            with self.subTest(rules=rules):
                self.write(self.layer(), config_json={"quantization_config": V2 | rules})
                self.refused(f"{LAYER}.qweight", "the config says 8 bits", "config.json: quantization_config.")

    def test_groups_of_a_layer(self) -> None:
        for rules in ({"dynamic": {r"+:.*down_proj": {"group_size": 64}}}, {"extra_config": {LAYER: {"group_size": 64, "bits": 4}}}):
            self.write(self.layer(), config_json={"quantization_config": V2 | {"group_size": 128} | rules})
            self.packs()

    def test_no_layer(self) -> None:
        for key, name in (("dynamic", r"+:.*\.up_proj"), ("extra_config", "model.layers.0.mlp.up_proj")):
            with self.subTest(key=key):
                self.write(self.layer(), config_json={"quantization_config": V2 | {key: {name: {"bits": 8}}}})
                self.refused(f"config.json: quantization_config.{key}", "up_proj", "of no layer")
                for harmless in ({"bits": 16}, {"bits": 4, "group_size": 64}):
                    self.write(self.layer(), config_json={"quantization_config": V2 | {key: {name: harmless}}})
                    self.packs()
        self.write(self.layer(), config_json={"quantization_config": V2 | {"dynamic": {"-:.*lm_head": {}}}})
        self.packs()

    def test_rules_that_differ(self) -> None:
        rules = {r"+:.*down_proj": {"group_size": 64}, r"+:.*layers\.0.*": {"group_size": 32}}
        self.write(self.layer(), config_json={"quantization_config": V2 | {"dynamic": rules}})
        self.refused("both mean", LAYER)

    def test_patterns(self) -> None:
        for pattern, words in (("+:(", "regular expression"), ("+:(?P<a>x)+", "regular expression"), ("+:" + "(a|" * 3000, "a pattern of")):
            self.write(self.layer(), config_json={"quantization_config": V2 | {"dynamic": {pattern: {"bits": 8}}}})
            self.refused("config.json: quantization_config.dynamic", words)
        # An expression that takes exponential time where one searches by trial.
        self.write(self.layer(name="a" * 60 + "b.down_proj"), config_json={"quantization_config": V2 | {"dynamic": {"+:(a+)+$": {"bits": 8}}}})
        self.refused("of no layer")

    def test_groups_of_compressed_tensors(self) -> None:
        weights = {"num_bits": 4, "type": "int", "symmetric": False, "strategy": "group", "group_size": 64}
        tensors = {f"{LAYER}.{part}": t for part, t in compressed(self.matrix, "F16", True).items()}

        def packed(*words: str, **groups: dict) -> None:
            said = {"quant_method": "compressed-tensors", "format": "pack-quantized", "config_groups": groups}
            self.write(tensors, config_json={"quantization_config": said})
            self.refused(*words) if words else self.packs()

        linear = {"targets": ["Linear"], "weights": weights}
        packed(a=linear)
        packed("8 bits", a=linear, b={"targets": ["re:.*down_proj$"], "weights": weights | {"num_bits": 8}})
        packed("8 bits", a=linear, b={"targets": [LAYER], "weights": weights | {"num_bits": 8}})
        packed("groups of 128", a=linear | {"weights": weights | {"group_size": 128}})
        packed("floating-point", a=linear | {"weights": weights | {"type": "float"}})
        packed("the config says sym", "zero points", a=linear | {"weights": weights | {"symmetric": True}})
        del tensors[f"{LAYER}.weight_zero_point"]
        packed("the config says zero points", "weight_zero_point", "missing", a=linear)


class Messages(Configured):
    def test_a_short_group(self) -> None:
        m = make_matrix(random.Random(1), 16, 160, 32)
        tensors = gptq(m, "F16", 1)
        tensors["qzeros"] = make_checkpoints.ints([2, 2], [0x77777777] * 4)
        tensors["scales"] = make_checkpoints.reals("F16", [2, 16], [1.0] * 32)
        tensors["g_idx"] = make_checkpoints.ints([160], [k // 128 for k in range(160)])
        self.write({f"l.{part}": t for part, t in tensors.items()}, config_json={"quantization_config": gptq_config(128, True, "gptq")})
        self.refused("l.qweight", "K = 160", "groups of 128", "quantization_config.group_size", "short")

    def test_unpacked_zero_points(self) -> None:
        m = make_matrix(random.Random(1), 16, 128, 64)
        tensors = {f"l.{part}": t for part, t in compressed(m, "F16", False).items()}
        for zeros, words in ((bytes(32), ()), (bytes(31) + b"\1", ("weight_zero_point", "not packed"))):
            self.write(tensors | {"l.weight_zero_point": Tensor("I8", [16, 2], zeros)})
            if words:
                self.refused(*words)
            else:
                self.assertEqual(nw("pack", self.input, self.packed).returncode, 0)
                self.assertEqual(Packed(self.packed).values("l"), [m.values()])

    def test_other_layouts_by_the_config(self) -> None:
        for config, name in (
            ({"quant_method": "aqlm"}, "AQLM"),
            ({"quant_method": "exl2"}, "EXL2"),
            ({"quant_method": "QUIP"}, "QuIP#"),
            ({"quant_method": "gptq", "checkpoint_format": "marlin"}, "Marlin"),
            (V2 | {"is_marlin_format": True}, "Marlin"),
            ({"quant_method": "awq", "version": "GEMV"}, "GEMV"),
            ({"quant_method": "compressed-tensors", "format": "marlin-24"}, "Marlin 2:4"),
        ):
            with self.subTest(config=config):
                self.write(self.layer(), config_json={"quantization_config": config})
                self.refused("config.json: quantization_config.", name, "is not read")

    def test_other_layouts_by_their_tensors(self) -> None:
        words = Tensor("I32", [4, 4], bytes(64))
        for parts, name in (
            (("q_weight", "q_groups", "q_scale"), "EXL2"),
            (("trellis", "suh", "svh"), "EXL3"),
            (("codes", "codebooks", "scales"), "AQLM"),
            (("Qidxs", "SU", "SV"), "QuIP#"),
            (("B", "s", "workspace"), "Marlin"),
            (("qweight", "lookup_table"), "SqueezeLLM"),
            (("indices", "centroids"), "VPTQ"),
        ):
            with self.subTest(name=name):
                self.write({f"model.l.{part}": words for part in parts})
                self.refused("model.l.", name)

    def test_two_methods(self) -> None:
        self.write(self.layer(), config_json={"quantization_config": V2 | {"quant_method": "awq"}})
        self.refused("the shape of GPTQ's weights", "the config says awq")


if __name__ == "__main__":
    unittest.main()
