# SPDX-License-Identifier: MIT
"""nw pack: every format to the kernels' layout and back to the numbers it was made from."""

from __future__ import annotations

import json
import random
import shutil
import unittest

import make_checkpoints
from packing import Folder, Packed, numbers, nw, stderr_on_terminal
from safetensors_file import decode


class RoundTrips(Folder):
    maxDiff = None

    def test_every_format(self) -> None:
        for name in make_checkpoints.MAKERS:
            with self.subTest(name=name):
                source = make_checkpoints.make(name)
                shutil.rmtree(self.input)
                source.write(self.input)
                done = nw("pack", self.input, self.packed, "--force")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.compare(source, Packed(self.packed))

    def compare(self, source: make_checkpoints.Checkpoint, packed: Packed) -> None:
        self.assertEqual(set(packed.linears), set(source.matrices))
        for name, matrices in source.matrices.items():
            row = packed.linears[name]
            self.assertEqual(row.get("experts", 1), len(matrices))
            self.assertEqual(row["symmetric"], all(z == 8 for m in matrices for zeros in m.z for z in zeros), name)
            self.assertEqual(row["symmetric"], "zp" not in row)
            self.assertEqual("perm" in row, any(m.g_idx != sorted(m.g_idx) for m in matrices))
            for m, values in zip(matrices, packed.values(name), strict=True):
                self.assertEqual(values, m.values(), name)
            self.assertLessEqual(packed.padding(name), {0}, name)
            if matrices[0].bias:
                self.assertEqual(numbers(packed.tensors[row["bias"]]), matrices[0].bias)

    def test_layout(self) -> None:
        make_checkpoints.make("gptq_v1_sym").write(self.input)
        nw("pack", self.input, self.packed, "--gfx", "gfx1151")
        packed = Packed(self.packed)
        self.assertEqual(packed.metadata, {"format": "nibblewave", "gfx": "gfx1151"})
        self.assertEqual(packed.layout["file"], "model.safetensors")
        row = packed.linears["model.layers.1.self_attn.q_proj"]  # K = 4096: rows of 2048 bytes
        self.assertEqual((row["n"], row["k"], row["group"], row["dtype"]), (8, 4096, 32, "f16"))
        self.assertEqual((row["w_stride"], row["s_stride"]), (2048 + 128, 256))
        self.assertEqual(row["made_from"]["format"], "gptq_v1")
        self.assertEqual(row["made_from"]["tensors"], [row["name"] + ".qweight"])
        nw("pack", self.input, self.packed, "--gfx", "gfx1150", "--force")
        self.assertEqual(Packed(self.packed).linears[row["name"]]["w_stride"], 2048)

    def test_weights_are_aligned(self) -> None:
        for source in ("compressed_asym", "gptq_act_order"):
            shutil.rmtree(self.input)
            make_checkpoints.make(source).write(self.input)
            nw("pack", self.input, self.packed, "--all", "--force")
            blob = self.packed.read_bytes()
            length = int.from_bytes(blob[:8], "little")
            header = json.loads(blob[8 : 8 + length])
            size = {"U32": 4, "F32": 4, "BF16": 2, "F16": 2}
            for name, tensor in header.items():
                if name != "__metadata__":
                    alignment = 16 if name.endswith((".w", ".perm")) else size[tensor["dtype"]]
                    self.assertEqual((8 + length + tensor["data_offsets"][0]) % alignment, 0, name)

    def test_formats_are_told_apart(self) -> None:
        for name, expected in {
            "gptq_v1_asym": "gptq_v1",
            "gptq_v2_asym": "gptq_v2",
            "gptq_says_v1_is_v2": "gptq_v2",
            "awq_g128": "awq_gemm",
            "compressed_sym": "compressed_tensors",
        }.items():
            make_checkpoints.make(name).write(self.input)
            found = json.loads(nw("inspect", "--json", self.input).stdout)
            self.assertEqual({row["format"] for row in found["linears"]}, {expected}, name)
            shutil.rmtree(self.input)

    def test_per_row_is_group_minus_one(self) -> None:
        make_checkpoints.make("compressed_per_row").write(self.input)
        nw("pack", self.input, self.packed)
        groups = {name: row["group"] for name, row in Packed(self.packed).linears.items()}
        self.assertEqual(groups["model.layers.2.mlp.odd"], -1)
        self.assertEqual(groups["model.layers.1.mlp.up_proj"], 32)  # K = 32: one scale a row is a group

    def test_other_tensors_only_with_all(self) -> None:
        make_checkpoints.make("awq_g128").write(self.input)
        source, _ = decode(self.input / "model.safetensors")
        for flags, there in ((), False), (("--all",), True):
            nw("pack", self.input, self.packed, "--force", *flags)
            tensors = Packed(self.packed).tensors
            for name in ("model.embed_tokens.weight", "model.norm.weight"):
                self.assertEqual(name in tensors, there)
                if there:
                    self.assertEqual(tensors[name], source[name])

    def test_fused_layers_are_rows_under_rows(self) -> None:
        for name, joined in {
            "model": {"self_attn.qkv_proj": 3, "self_attn.o_proj": 1, "mlp.gate_up_proj": 2, "mlp.down_proj": 1},
            "moe_gptq": {"gate_up_proj": 2, "experts.down_proj": 1, "shared_expert.gate_proj": 1},
            "moe_awq": {"gate_up_proj": 2, "experts.down_proj": 1, "shared_expert.gate_proj": 1},
            "moe_compressed_stacked": {"gate_up_proj": 2, "experts.down_proj": 1, "shared_expert.gate_proj": 1},
        }.items():
            with self.subTest(name=name):
                source = make_checkpoints.make(name)
                shutil.rmtree(self.input)
                source.write(self.input)
                done = nw("pack", self.input, self.packed, "--force", "--fuse")
                self.assertEqual(done.returncode, 0, done.stderr)
                packed = Packed(self.packed)
                for linear, row in packed.linears.items():
                    parts = [part["name"] for part in row.get("parts", [row])]
                    self.assertEqual(len(parts), next(n for end, n in joined.items() if linear.endswith(end)))
                    self.compare_rows(packed, linear, [source.matrices.pop(part) for part in parts])
                self.assertEqual(source.matrices, {})

    def test_fused_layers_of_act_order(self) -> None:
        """Layers of one order, as GPTQ makes them of the same activations, are joined; others stay apart."""
        shapes = {f"model.layers.{layer}.mlp.{part}_proj": (40, 128) for layer in range(2) for part in ("gate", "up")}
        source = make_checkpoints.gptq_checkpoint(random.Random(3), 32, 1, "gptq", shapes, act_order=True, asym=True)
        gate, up = (f"model.layers.0.mlp.{part}_proj" for part in ("gate", "up"))
        source.tensors[f"{up}.g_idx"] = source.tensors[f"{gate}.g_idx"]
        (of_gate,), (of_up,) = source.matrices[gate], source.matrices[up]
        of_up.g_idx[:] = of_gate.g_idx
        source.write(self.input)
        done = nw("pack", self.input, self.packed, "--fuse")
        self.assertEqual(done.returncode, 0, done.stderr)
        packed = Packed(self.packed)
        self.assertEqual(set(packed.linears), {"model.layers.0.mlp.gate_up_proj", *(name for name in shapes if "layers.1" in name)})
        for linear, row in packed.linears.items():
            self.assertIn("perm", row)
            self.compare_rows(packed, linear, [source.matrices[part["name"]] for part in row.get("parts", [row])])

    def compare_rows(self, packed: Packed, name: str, parts: list[list[make_checkpoints.Matrix]]) -> None:
        for e, values in enumerate(packed.values(name)):
            self.assertEqual(values, [row for part in parts for row in part[e].values()], name)
        if "bias" in packed.linears[name]:
            biases = [x for part in parts for x in part[0].bias]
            self.assertEqual(numbers(packed.tensors[packed.linears[name]["bias"]]), biases)

    def test_layers_that_don_t_fit_stay_apart(self) -> None:
        source = make_checkpoints.make("model")
        del source.tensors["model.layers.0.self_attn.k_proj.bias"]
        for part in ("qweight", "qzeros", "scales", "g_idx"):
            del source.tensors[f"model.layers.1.mlp.up_proj.{part}"]
        source.write(self.input)
        self.assertEqual(nw("pack", self.input, self.packed, "--fuse").returncode, 0)
        names = set(Packed(self.packed).linears)
        self.assertLessEqual({f"model.layers.0.self_attn.{x}_proj" for x in "qkvo"}, names)
        self.assertIn("model.layers.1.mlp.gate_proj", names)
        self.assertIn("model.layers.0.mlp.gate_up_proj", names)

    def test_one_file_is_a_checkpoint(self) -> None:
        for name in ("gptq_v2_asym", "awq_g128"):
            source = make_checkpoints.make(name)
            source.write(self.input)
            done = nw("pack", self.input / "model.safetensors", self.packed, "--force")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.compare(source, Packed(self.packed))

    def test_dtype_rounds_scales(self) -> None:
        source = make_checkpoints.make("gptq_v2_sym")
        source.write(self.input)
        done = nw("pack", self.input, self.packed, "--dtype", "bf16")
        self.assertEqual(done.returncode, 0, done.stderr)
        packed = Packed(self.packed)
        self.assertEqual({row["dtype"] for row in packed.linears.values()}, {"bf16"})
        self.compare(source, packed)  # its scales are the same number in both types

    def test_a_bar_where_a_person_watches(self) -> None:
        make_checkpoints.make("awq_g128").write(self.input)
        self.assertEqual(nw("pack", self.input, self.packed).stderr, "")
        code, said = stderr_on_terminal("pack", self.input, self.packed, "--force")
        self.assertEqual(code, 0)
        self.assertRegex(said, r"\[=* *\] +\d+% model\.layers")
        self.assertTrue(said.endswith("\x1b[K"), "the bar was not taken away")

    def test_output_that_exists_needs_force(self) -> None:
        make_checkpoints.make("awq_g128").write(self.input)
        for path in (self.packed, self.packed.with_suffix(".json")):
            path.write_text("precious")
            done = nw("pack", self.input, self.packed)
            self.assertEqual(done.returncode, 2)
            self.assertIn("--force", done.stderr)
            self.assertEqual(path.read_text(), "precious")
            path.unlink()


if __name__ == "__main__":
    unittest.main()
