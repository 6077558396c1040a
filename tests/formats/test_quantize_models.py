# SPDX-License-Identifier: MIT
"""nw quantize of whole models: stacked experts, the config that readers need, and llama.cpp's names."""

from __future__ import annotations

import json
import unittest
from pathlib import Path

from packing import Packed, nw
from safetensors_file import Tensor, decode
from test_quantize import LINEAR, Quantized, nmse, normal, unpack

EXPERTS = "model.layers.0.block_sparse_moe.input_linear.weight"
PLAIN = ("--not-transposed", "input_linear")  # without a config nothing says the orientation


def stacked(experts: int, n: int, k: int, dtype: str = "BF16") -> Tensor:
    flat = normal(experts * n, k, dtype)
    return Tensor(dtype, [experts, n, k], flat.data)


class Experts(Quantized):
    def test_each_is_a_matrix(self) -> None:
        for experts, n, k in ((3, 13, 128), (2, 70, 64), (1, 8, 32)):
            for options in ((), ("--zero-points",)):
                with self.subTest(experts=experts, n=n, options=options):
                    source = stacked(experts, n, k)
                    self.write({EXPERTS: source})
                    report = self.quantize("--group", "32", *PLAIN, *options)
                    (row,) = report["tensors"]
                    self.assertEqual((row["experts"], row["n"], row["k"]), (experts, n, k))
                    self.assertEqual(report["weights"], experts * n * k)
                    path = self.folder / "packed.safetensors"
                    done = nw("pack", self.packed, path, "--force")
                    self.assertEqual(done.returncode, 0, done.stderr)
                    packed = Packed(path)
                    name = EXPERTS.removesuffix(".weight")
                    self.assertEqual(packed.linears[name]["experts"], experts)
                    got = [x for expert in packed.values(name) for line in expert for x in line]
                    self.assertAlmostEqual(row["nmse"], nmse(got, unpack(source)), delta=1e-9)
                    self.assertLess(row["nmse"], 0.02)

    def test_as_one_by_one(self) -> None:
        """An expert's tensors are the same as when it is quantized by itself."""
        source = stacked(2, 24, 64)
        half = len(source.data) // 2
        self.write({EXPERTS: source})
        self.quantize("--group", "32", "--zero-points", *PLAIN)
        together = decode(self.packed)[0]
        for e in range(2):
            self.write({LINEAR: Tensor("BF16", [24, 64], source.data[e * half : (e + 1) * half])})
            self.quantize("--group", "32", "--zero-points")
            alone = decode(self.packed)[0]
            for part in ("_packed", "_scale", "_zero_point"):
                both, one = together[EXPERTS + part], alone[LINEAR + part]
                self.assertEqual(both.shape, [2, *one.shape])
                self.assertEqual(both.data[e * len(one.data) : (e + 1) * len(one.data)], one.data)

    def test_other_types(self) -> None:
        self.write({EXPERTS: stacked(2, 4, 256)})
        for to, row_bytes in (("q4_K", 144), ("mxfp4", 8 * 17)):
            path = self.output / "x.gguf"
            self.quantize("--to", to, *PLAIN, output=path)
            (tensor,) = json.loads(nw("inspect", "--json", path).stdout)["tensors"]
            self.assertEqual((tensor["type"], tensor["ne"], tensor["bytes"]), (to, [256, 4, 2], 2 * 4 * row_bytes))
            path.unlink()
        self.quantize("--to", "mxfp4", *PLAIN)
        tensors = decode(self.packed)[0]
        self.assertEqual(tensors[EXPERTS + "_blocks"].shape, [2, 4, 8, 16])
        self.assertEqual(tensors[EXPERTS + "_scales"].shape, [2, 4, 8])

    def test_others_of_three_dimensions_are_copied(self) -> None:
        conv = {"model.conv.weight": Tensor("BF16", [2, 2, 32], bytes(256))}
        self.write(conv | {LINEAR: normal(8, 32)})
        self.quantize("--group", "32")
        self.assertEqual(decode(self.packed)[0]["model.conv.weight"], conv["model.conv.weight"])
        self.assertEqual(len(self.quantize("--group", "32", "--include", "conv", "--not-transposed", "conv")["tensors"]), 2)
        self.write({EXPERTS: Tensor("BF16", [0, 8, 32], b""), LINEAR: normal(8, 32)})
        self.assert_refused(nw("quantize", self.input, "-o", self.folder / "x.safetensors", "--group", "32", *PLAIN), EXPERTS, "0 experts")

    def assert_refused(self, done, *words: str) -> None:  # the output of before is there
        self.assertEqual(done.returncode, 2, done.stdout)
        for word in words:
            self.assertIn(word, done.stderr)


class Orientations(Quantized):
    """[K, N] and [E, K, N] are transposed according to the config, or refused."""

    def turned(self, t: Tensor) -> Tensor:
        *outer, n, k = t.shape
        halves = [t.data[2 * i : 2 * i + 2] for i in range(len(t.data) // 2)]
        count = len(halves) // (n * k)
        return Tensor(t.dtype, [*outer, k, n], b"".join(halves[(e * n + r) * k + c] for e in range(count) for c in range(k) for r in range(n)))

    def written(self, name: str, tensor: Tensor, config: dict | None, *options: str) -> dict[str, Tensor]:
        self.write({name: tensor, LINEAR: normal(8, 64)})
        path = self.input / "config.json"
        path.write_text(json.dumps(config)) if config is not None else path.unlink(missing_ok=True)
        self.quantize("--no-config", "--group", "32", *options)
        return decode(self.packed)[0]

    def test_by_the_model(self) -> None:
        gate, down, attention = "m.experts.gate_up_proj.weight", "m.experts.down_proj.weight", "h.0.attn.c_attn.weight"
        oss = {"model_type": "gpt_oss", "hidden_size": 64}
        for name, n, k, config, yes in (
            (gate, 96, 64, oss, True),
            (gate, 64, 64, oss, True),
            (down, 64, 96, oss, True),
            (down, 64, 64, {"text_config": {"model_type": "llama4_text"}, "hidden_size": 64}, True),
            (gate, 96, 64, {"hidden_size": 64}, True),
            (gate, 96, 64, {"hidden_size": 64}, False),
            (down, 64, 96, {"text_config": {"hidden_size": 64}, "vision_config": {"hidden_size": 96}}, False),
            (down, 64, 96, {"hidden_size": 64}, True),
            (gate, 64, 64, {"model_type": "granitemoe"}, False),
            (gate, 64, 64, {"architectures": ["GptOssForCausalLM"]}, True),
            (attention, 96, 64, {"model_type": "gpt2"}, True),
            (attention, 64, 64, {"architectures": ["GPT2LMHeadModel"]}, True),
            (attention, 64, 64, {"architectures": ["GPTBigCodeForCausalLM"]}, False),
            (attention, 64, 64, {"decoder": {"model_type": "gpt2"}}, True),
            (attention, 64, 64, {"model_type": "gpt_bigcode"}, False),
        ):
            with self.subTest(name=name, n=n, k=k, config=config, turned=yes):
                source = normal(n, k, seed=n) if name == attention else stacked(2, n, k)
                want = self.written(name, source, {}, "--not-transposed", "down|gate|c_attn")
                self.assertEqual(self.written(name, self.turned(source) if yes else source, config), want)
                self.assertEqual(self.written(name, self.turned(source), {}, "--transposed", "down|gate|c_attn"), want)

    def test_not_known(self) -> None:
        gate = "m.experts.gate_up_proj.weight"
        for name, shape, config in (
            (gate, [2, 64, 64], {"hidden_size": 64}),
            (gate, [2, 96, 64], {}),
            (gate, [2, 96, 64], None),
            (gate, [2, 96, 64], {"hidden_size": 128}),
            (gate, [2, 96, 64], {"model_type": "gpt_oss", "hidden_size": 64}),  # that says [K, N], the sizes [N, K]
            ("h.0.mlp.c_fc.weight", [64, 64], None),
        ):
            with self.subTest(name=name, config=config):
                size = 2
                for x in shape:
                    size *= x
                self.write({name: Tensor("BF16", shape, bytes(size))})
                path = self.input / "config.json"
                path.write_text(json.dumps(config)) if config is not None else path.unlink(missing_ok=True)
                self.assert_refused(nw("quantize", self.input, "-o", self.packed, "--group", "32"), name, "orientation", "--transposed", "--not-transposed")


class Config(Quantized):
    def model(self, **config: object) -> Path:
        self.write({LINEAR: normal(8, 128), "lm_head.weight": normal(8, 128), "model.norm.weight": normal(1, 8)})
        (self.input / "config.json").write_text(json.dumps(config))
        return self.output / "config.json"

    def test_pack_reads_it_back(self) -> None:
        for options, symmetric in (((), True), (("--zero-points",), False)):
            path = self.model(model_type="qwen3", hidden_size=128)
            report = self.quantize("--group", "64", *options)
            self.assertEqual(report["config"], str(path))
            config = json.loads(path.read_text())
            self.assertEqual((config["model_type"], config["hidden_size"]), ("qwen3", 128))
            said = config["quantization_config"]
            self.assertEqual((said["quant_method"], said["format"]), ("compressed-tensors", "pack-quantized"))
            self.assertIn("lm_head", said["ignore"])
            weights = said["config_groups"]["group_0"]["weights"]
            self.assertEqual((weights["num_bits"], weights["group_size"], weights["symmetric"]), (4, 64, symmetric))
            done = nw("pack", self.output, self.folder / "packed.safetensors", "--force")
            self.assertEqual(done.returncode, 0, done.stderr)
        # It is read: what contradicts the tensors is refused.
        config["quantization_config"]["config_groups"]["group_0"]["weights"]["group_size"] = 128
        path.write_text(json.dumps(config))
        done = nw("pack", self.output, self.folder / "packed.safetensors", "--force")
        self.assertIn("the config says groups of 128", done.stderr)

    def test_numbers_of_python(self) -> None:
        """Python's extensions of JSON are kept; claims about the old weights are removed, at any depth."""
        path = self.model()
        (self.input / "config.json").write_text('{"a": [0.0, Infinity, -Infinity], "b": NaN, "text_config": {"quantization_config": {"bits": 8}, "c": 1}}')
        self.quantize()
        text = path.read_text()
        for spelled in ("Infinity", "-Infinity", "NaN"):
            self.assertIn(spelled, text)
        config = json.loads(text)
        self.assertEqual((config["a"][1:], config["text_config"]), ([float("inf"), float("-inf")], {"c": 1}))

    def test_quantized_already(self) -> None:
        for parts in (
            {"qweight": ("I32", [16, 16], 1024), "qzeros": ("I32", [2, 2], 16), "scales": ("F16", [2, 16], 64)},
            {"weight": ("F8_E4M3", [4, 8], 32), "weight_scale_inv": ("F32", [1, 1], 4)},
            {"weight_packed": ("I32", [8, 8], 256), "weight_scale": ("F16", [8, 1], 16)},
        ):
            with self.subTest(parts=list(parts)):
                tensors = {f"model.layers.0.mlp.down_proj.{part}": Tensor(dtype, shape, bytes(size)) for part, (dtype, shape, size) in parts.items()}
                self.write(tensors | {LINEAR: normal(8, 128)})
                (self.input / "config.json").write_text('{"quantization_config": {"quant_method": "gptq", "checkpoint_format": "gptq_v2"}}')
                options = ("--keep", "down_proj", "--no-config") if "weight" in parts else ("--no-config",)
                self.assert_refused(nw("quantize", self.input, "-o", self.packed, *options[:-1]), "down_proj", "quantized weights already", "--no-config")
                self.assert_refused(nw("quantize", self.input, "-o", self.output / "x.gguf", "--to", "mxfp4", *options[:-1]), "down_proj", "GGUF")
                self.assertEqual(nw("quantize", self.input, "-o", self.packed, *options).returncode, 0)
                self.packed.unlink()

    def test_only_where_it_belongs(self) -> None:
        path = self.model()
        self.quantize("--no-config")
        self.assertFalse(path.exists())
        self.quantize("--to", "mxfp4")
        self.assertFalse(path.exists())
        self.quantize(inputs=[self.input / "model.safetensors"])
        self.assertFalse(path.exists())
        self.packed.unlink()
        path.write_text("mine")
        done = nw("quantize", self.input, "-o", self.packed)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--force", done.stderr)
        self.assertEqual(path.read_text(), "mine")
        self.assertFalse(self.packed.exists())


class GgufNames(Quantized):
    def names(self, model_type: str, tensors: dict[str, Tensor]) -> set[str]:
        self.write(tensors)
        (self.input / "config.json").write_text(json.dumps({"model_type": model_type}))
        path = self.output / "x.gguf"
        self.quantize("--to", "q4_K", output=path)
        return {t["name"] for t in json.loads(nw("inspect", "--json", path).stdout)["tensors"]}

    def test_qwen(self) -> None:
        layer = "model.layers.12."
        theirs = {
            "model.embed_tokens.weight": "token_embd.weight",
            "model.norm.weight": "output_norm.weight",
            "lm_head.weight": "output.weight",
            layer + "self_attn.q_proj.weight": "blk.12.attn_q.weight",
            layer + "self_attn.q_proj.bias": "blk.12.attn_q.bias",
            layer + "self_attn.o_proj.weight": "blk.12.attn_output.weight",
            layer + "self_attn.k_norm.weight": "blk.12.attn_k_norm.weight",
            layer + "mlp.down_proj.weight": "blk.12.ffn_down.weight",
            layer + "mlp.gate.weight": "blk.12.ffn_gate_inp.weight",
            layer + "mlp.shared_expert.up_proj.weight": "blk.12.ffn_up_shexp.weight",
            layer + "mlp.experts.3.up_proj.weight": layer + "mlp.experts.3.up_proj.weight",
            "visual.proj.weight": "visual.proj.weight",
        }
        tensors = {name: normal(2, 256, seed=i) for i, name in enumerate(theirs)}
        for model_type in ("qwen2", "qwen3", "qwen2_moe", "qwen3_moe"):
            self.assertEqual(self.names(model_type, tensors), set(theirs.values()))
        self.assertEqual(self.names("something", tensors), set(theirs))
        as_they_are = {name for name in theirs if ".q_proj." in name}  # config.json has no heads
        self.assertEqual(self.names("llama", tensors), set(theirs.values()) - {theirs[n] for n in as_they_are} | as_they_are)

    def rows(self, config: dict, tensors: dict[str, Tensor], to: str, name: str, *options: str) -> list[bytes]:
        self.write(tensors)
        (self.input / "config.json").write_text(json.dumps(config))
        path = self.output / "x.gguf"
        self.quantize("--to", to, *options, output=path)
        (found,) = [t for t in json.loads(nw("inspect", "--json", path).stdout)["tensors"] if t["name"] == name]
        return [path.read_bytes()[found["offset"] + i * found["row_bytes"] :][: found["row_bytes"]] for i in range(found["n"])]

    def test_rows_of_llama(self) -> None:
        """As its converter has them: of a head, reshape(2, half), swapaxes, reshape."""
        layer = "model.layers.3.self_attn."
        tensors = {layer + "q_proj.weight": normal(48, 256), layer + "k_proj.weight": normal(24, 256, seed=2), layer + "v_proj.weight": normal(24, 256, seed=3)}
        heads = {"num_attention_heads": 4, "num_key_value_heads": 2}
        for to in ("q4_K", "mxfp4"):
            for kind in ("llama", "mistral"):
                for short, part in (("q", "q_proj"), ("k", "k_proj"), ("v", "v_proj")):
                    with self.subTest(to=to, kind=kind, part=part):
                        plain = self.rows({"model_type": "something"}, tensors, to, f"{layer}{part}.weight")
                        order = [*range(len(plain))] if short == "v" else [12 * (r // 12) + r % 2 * 6 + r % 12 // 2 for r in range(len(plain))]
                        got = self.rows({"model_type": kind} | heads, tensors, to, f"blk.3.attn_{short}.weight")
                        self.assertEqual(got, [plain[r] for r in order])
        one_kind = self.rows({"model_type": "llama", "num_attention_heads": 2}, tensors, "q4_K", "blk.3.attn_k.weight")  # as many of keys
        self.assertEqual(one_kind, self.rows({"model_type": "llama"} | heads, tensors, "q4_K", "blk.3.attn_k.weight"))
        for config, options in (
            ({"num_attention_heads": 5, "num_key_value_heads": 5}, ()),  # that does not divide the rows
            ({"num_attention_heads": 0, "num_key_value_heads": 0}, ()),
            (heads, ("--keep", "q_proj")),
        ):
            with self.subTest(config=config, options=options):
                self.rows({"model_type": "llama"} | config, tensors, "q4_K", layer + "q_proj.weight", *options)


if __name__ == "__main__":
    unittest.main()
