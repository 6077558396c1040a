# SPDX-License-Identifier: MIT
"""nw bench-model: the operations of a GGUF model, their times, and tokens per second."""

from __future__ import annotations

import json
import sys
import tempfile
import unittest
from pathlib import Path

from command import SOURCE, nw

sys.path[:0] = [str(SOURCE / "bench")]

import models  # noqa: E402
from models import size_of  # noqa: E402

HEADS, KEY_HEADS, HEAD, WIDTH, HIDDEN, LAYERS = 8, 2, 64, 512, 1024, 2
METADATA = {"general.architecture": "toy", "toy.attention.head_count": HEADS, "toy.attention.head_count_kv": KEY_HEADS,
            "toy.embedding_length": WIDTH}  # fmt: skip

Tensors = list[models.Tensor]


def layer(number: int, *more: models.Tensor) -> Tensors:
    blk = f"blk.{number}."
    return [
        (blk + "attn_norm.weight", "f32", [WIDTH]),
        (blk + "attn_q.weight", "q4_K", [WIDTH, HEADS * HEAD]),
        (blk + "attn_k.weight", "q4_K", [WIDTH, KEY_HEADS * HEAD]),
        (blk + "attn_v.weight", "q6_K", [WIDTH, KEY_HEADS * HEAD]),
        *((blk + name, kind, ne) for name, kind, ne in more),
    ]


DENSE = [("ffn_up.weight", "q4_K", [WIDTH, HIDDEN]), ("ffn_down.weight", "q4_K", [HIDDEN, WIDTH])]
EXPERTS = [("ffn_gate_inp.weight", "f32", [WIDTH, 8]), ("ffn_up_exps.weight", "q4_K", [WIDTH, 256, 8]),
           ("ffn_down_exps.weight", "q4_K", [256, WIDTH, 8])]  # fmt: skip
ENDS: Tensors = [("token_embd.weight", "q4_K", [WIDTH, 2048]), ("output.weight", "q6_K", [WIDTH, 2048])]


class BenchModel(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "model.gguf"

    def model(self, *more: models.Tensor, ends: Tensors = ENDS, metadata: models.Metadata = METADATA) -> Path:
        return models.write_gguf(self.path, [*ends, *(t for n in range(LAYERS) for t in layer(n, *more))], metadata)

    def passes(self, *options: str, said: str = "") -> dict[str, dict]:
        done = nw("bench-model", self.path, "--device", "sim:gfx1151", "--json", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(said, done.stderr)
        out = json.loads(done.stdout)
        self.assertEqual((out["device"], out["gfx"], out["part"]), ("sim", "gfx1151", "8060S"))
        return {p["pass"]: p for p in out["passes"]}

    def test_products_attention_and_the_rest_make_a_pass(self) -> None:
        self.model(*DENSE)
        passes = self.passes("--prompt", "64", "--gen", "16", "--depth", "100", "--verify", "9")
        self.assertEqual([(p["pass"], p["tokens"], p["keys"]) for p in passes.values()],
                         [("pp64", 64, 164), ("tg16", 1, 109), ("verify 9", 9, 117)])  # fmt: skip
        for one in passes.values():
            ops = {op["name"]: op for op in one["ops"]}
            self.assertEqual({name: op["count"] for name, op in ops.items()},
                             {"output.weight": 1, "attention": LAYERS, "other tensors": 1}
                             | {f"blk.*.{name}.weight": LAYERS for name in ("attn_q", "attn_k", "attn_v", "ffn_up", "ffn_down")})  # fmt: skip
            self.assertEqual(ops["blk.*.ffn_up.weight"]["bytes"], size_of("q4_K", [WIDTH, HIDDEN]))
            self.assertEqual(ops["attention"]["bytes"], 2 * 2 * one["keys"] * KEY_HEADS * HEAD)
            norms, row = LAYERS * 4 * WIDTH, size_of("q4_K", [WIDTH])
            self.assertEqual(ops["other tensors"]["bytes"], norms + one["tokens"] * row)
            self.assertIsNone(ops["other tensors"]["kernel"])
            self.assertAlmostEqual(one["time_us"], sum(op["count"] * op["us"] for op in one["ops"]))
            self.assertAlmostEqual(one["tokens_per_s"], one["tokens"] * 1e6 / one["time_us"])
            self.assertAlmostEqual(one["by_bytes_us"], ops["other tensors"]["us"])
            self.assertNotIn("time_low_us", one)
        kernel = {name: {op["name"]: op["kernel"] for op in one["ops"]} for name, one in passes.items()}
        self.assertTrue(kernel["pp64"]["output.weight"].startswith("gguf_decode_q6_K_m1"))  # of the last token alone
        self.assertIn("attn_decode", kernel["tg16"]["attention"])
        self.assertIn("attn_forward", kernel["pp64"]["attention"])
        self.assertNotEqual(kernel["verify 9"]["output.weight"], kernel["pp64"]["output.weight"])

    def test_as_many_key_heads_as_query_heads(self) -> None:
        self.model(*DENSE, metadata=METADATA | {"toy.attention.head_count_kv": HEADS})
        ops = {op["name"]: op for op in self.passes("--prompt", "0", "--gen", "2", "--depth", "64")["tg2"]["ops"]}
        self.assertIn(f"{HEADS}/{HEADS} x {HEAD}, 66 keys", ops["attention"]["shape"])

    def attention(self, one: dict) -> dict[tuple[str, str], int]:
        return {(op["name"], op["shape"]): op["count"] for op in one["ops"] if op["name"].startswith("attention")}

    def test_layers_are_as_the_file_says(self) -> None:
        """Key heads, windows and draft layers by the metadata; a layer with no key heads, and one of linear attention, have no attention."""
        linear = [("blk.3.attn_qkv.weight", "q4_K", [WIDTH, WIDTH]), ("blk.3.ssm_out.weight", "q4_K", [WIDTH, WIDTH])]
        layers = [t for n in (0, 1, 2, 4, 5) for t in layer(n, *DENSE)]
        draft: Tensors = [("blk.5.nextn.eh_proj.weight", "q4_K", [WIDTH, WIDTH])]
        metadata = METADATA | {"toy.attention.head_count_kv": [2, 1, 0, 2, 2, 2], "toy.attention.sliding_window": 128,
                               "toy.attention.sliding_window_pattern": [True, False, True, True, True, True], "toy.nextn_predict_layers": 1}  # fmt: skip
        models.write_gguf(self.path, [*ENDS, *layers, *linear, *draft], metadata)
        passes = self.passes("--prompt", "256", "--gen", "2", "--depth", "1024", said="draft layers (nextn_predict_layers)")
        window, all_keys = "attention, window 128", "attention"
        # a prompt of 256 in two pieces of a window's length, each with the keys before it; two layers
        self.assertEqual(self.attention(passes["pp256"]), {(window, "8/2 x 64, 255 keys"): 4, (all_keys, "8/1 x 64, 1280 keys"): 1})
        self.assertEqual(self.attention(passes["tg2"]), {(window, "8/2 x 64, 128 keys"): 2, (all_keys, "8/1 x 64, 1026 keys"): 1})
        ops = {op["name"]: op["count"] for op in passes["tg2"]["ops"]}
        self.assertEqual((ops["blk.*.ffn_up.weight"], ops["blk.*.ssm_out.weight"]), (4, 1))
        self.assertNotIn("blk.*.nextn.eh_proj.weight", ops)

    def test_a_pattern_is_a_number_or_missing(self) -> None:
        full, window = ("attention", "8/2 x 64, 1026 keys"), ("attention, window 128", "8/2 x 64, 128 keys")
        options = ("--prompt", "0", "--gen", "2", "--depth", "1024")
        self.model(*DENSE, metadata=METADATA | {"toy.attention.sliding_window": 128, "toy.attention.sliding_window_pattern": 2})
        self.assertEqual(self.attention(self.passes(*options)["tg2"]), {window: 1, full: 1})
        self.model(*DENSE, metadata={key.replace("toy.", "gemma2."): value for key, value in METADATA.items()}
                   | {"general.architecture": "gemma2", "gemma2.attention.sliding_window": 128})  # fmt: skip
        self.assertEqual(self.attention(self.passes(*options)["tg2"]), {window: 1, full: 1})
        self.model(*DENSE, metadata=METADATA | {"toy.attention.sliding_window": 128})
        said = "attention.sliding_window 128: neither sliding_window_pattern nor layer_types of a config.json"
        self.assertEqual(self.attention(self.passes(*options, said=said)["tg2"]), {full: 2})

    def windows(self, architecture: str, layers: int, more: models.Metadata = {}) -> str:
        """Which of so many layers have a window: "ww." for the first two of three. Each has other heads, so that none are alike."""
        heads = [KEY_HEADS * (n + 1) for n in range(layers)]
        own = {key.replace("toy.", f"{architecture}."): value for key, value in METADATA.items()}
        own |= {"general.architecture": architecture, f"{architecture}.attention.head_count": heads, f"{architecture}.attention.sliding_window": 128,
                f"{architecture}.attention.key_length": HEAD}  # fmt: skip
        models.write_gguf(self.path, [*ENDS, *(t for n in range(layers) for t in layer(n))], own | more)
        ops = self.attention(self.passes("--prompt", "0", "--gen", "2", "--depth", "1024")["tg2"])
        names = {int(shape.split("/")[0]): name for name, shape in ops}
        return "".join("w" if "window" in names[h] else "." for h in heads)

    def test_patterns_of_architectures(self) -> None:
        """llama.cpp's own, where the file has none; a number of the file is another period, not another phase."""
        self.assertEqual(self.windows("gemma3n", 6), "wwww.w")
        self.assertEqual(self.windows("smallthinker", 5), ".www.")
        self.assertEqual(self.windows("smallthinker", 4, {"smallthinker.attention.sliding_window_pattern": 2}), ".w.w")
        self.assertEqual(self.windows("exaone4", 4), "....")  # but the one of 64 layers

    def test_a_config_beside_the_file_says_which_layers_have_a_window(self) -> None:
        config, types = self.path.parent / "config.json", ["full_attention", "sliding_attention"]
        full, window = ("attention", "8/2 x 64, 1026 keys"), ("attention, window 128", "8/2 x 64, 128 keys")
        metadata = METADATA | {"toy.attention.sliding_window": 128}

        def counted(of: object, said: str, metadata: models.Metadata = metadata) -> dict:
            config.write_text(of if isinstance(of, str) else json.dumps(of))
            self.model(*DENSE, metadata=metadata)
            return self.attention(self.passes("--prompt", "0", "--gen", "2", "--depth", "1024", said=said)["tg2"])

        for of in ({"layer_types": types}, {"text_config": {"layer_types": types, "sliding_window": 128}}, {"sliding_window_pattern": 2}):
            self.assertEqual(counted(of, f"which layers have the window: {'layer_types' if 'layer' in str(of) else 'sliding_window_pattern'} of"),
                             {full: 1, window: 1})  # fmt: skip
        # the file's own array counts, and nothing is said of config.json
        pattern = {"toy.attention.sliding_window_pattern": [True, True]}
        self.assertEqual(counted({"layer_types": types}, "", metadata | pattern), {window: 2})
        # of another model, or broken
        self.assertEqual(counted({"layer_types": types * 2}, "not read: its layer_types are of 4 layers, the GGUF file has 2"), {full: 2})
        self.assertEqual(counted({"layer_types": types, "sliding_window": 64}, "not read: its sliding_window is 64, the GGUF file's 128"), {full: 2})
        self.assertEqual(counted("{", "config.json: not read: "), {full: 2})

    def test_experts_are_those_that_tokens_meet(self) -> None:
        self.model(*EXPERTS, metadata=METADATA | {"toy.expert_used_count": 2})
        one = self.passes("--prompt", "0", "--gen", "2")["tg2"]
        ops = {op["name"]: op for op in one["ops"]}
        for name, ne in (("up", [WIDTH, 256]), ("down", [256, WIDTH])):
            op = ops[f"blk.*.ffn_{name}_exps.weight"]
            self.assertEqual((op["bytes"], op["count"]), (2 * size_of("q4_K", ne), LAYERS))
            self.assertTrue(op["kernel"].startswith("gguf_moe_decode_q4_K"), op["kernel"])
            self.assertIn("2/8", op["shape"])
        self.model(*EXPERTS)  # nothing says how many a token goes to
        ops = {op["name"]: op for op in self.passes("--prompt", "0", "--gen", "2")["tg2"]["ops"]}
        self.assertIsNone(ops["blk.*.ffn_up_exps.weight"]["kernel"])
        self.assertEqual(ops["blk.*.ffn_up_exps.weight"]["bytes"], size_of("q4_K", [WIDTH, 256, 8]))

    def test_what_no_kernel_takes_counts_by_its_bytes(self) -> None:
        self.model(("ffn_up.weight", "bf16", [WIDTH, HIDDEN]), ends=ENDS[:1], metadata=METADATA | {"toy.attention.key_length": 48})
        one = self.passes("--prompt", "0", "--gen", "2", said="attention isn't counted: heads of 48: kernels have 64, 128 and 256")["tg2"]
        ops = {op["name"]: op for op in one["ops"]}
        self.assertNotIn("attention", ops)
        self.assertIn("token_embd.weight", ops)  # logits, too, where there is no output.weight
        up = ops["blk.*.ffn_up.weight"]
        self.assertEqual((up["kernel"], up["type"], up["bytes"]), (None, "bf16", 2 * WIDTH * HIDDEN))
        rates = {round(op["bytes"] / op["us"]) for op in one["ops"] if op["kernel"] is None}
        self.assertEqual(len(rates), 1, rates)

    def test_times_have_error_bars_and_text_says_the_same(self) -> None:
        self.model(*DENSE)
        one = self.passes("--prompt", "0", "--gen", "2", "--uncertainty")["tg2"]
        self.assertTrue(one["time_low_us"] < one["time_us"] < one["time_high_us"])
        text = nw("bench-model", self.path, "--device", "sim:gfx1151", "--prompt", "0", "--gen", "2", "--uncertainty").stdout
        self.assertIn("sim gfx1151", text)
        self.assertIn(f"{one['tokens_per_s']:.1f} tokens/s ({1e6 / one['time_high_us']:.1f} to {1e6 / one['time_low_us']:.1f})", text)
        for op in one["ops"]:
            self.assertIn(op["name"], text)

    def test_what_is_no_model_is_refused(self) -> None:
        models.write_gguf(self.path, [("a.weight", "f32", [4, 4])], {})
        done = nw("bench-model", self.path, "--device", "sim:gfx1151")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("no tensor is a matrix of a type that has kernels", done.stderr)
        self.model(*DENSE)
        done = nw("bench-model", self.path, "--device", "sim:gfx1151", "--prompt", "0", "--gen", "0")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("--prompt 0 --gen 0: nothing to time", done.stderr)


if __name__ == "__main__":
    unittest.main()
