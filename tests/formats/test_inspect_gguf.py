# SPDX-License-Identifier: MIT
"""nw inspect of GGUF files: those of the fuzzers' corpus, and a split model."""

from __future__ import annotations

import json
import math
import os
import shutil
import struct
import unittest
from pathlib import Path

from packing import Folder, nw

CORPUS = Path(os.environ["NW_SOURCE_DIR"]) / "tests/fuzz/corpus/gguf"
U16, STRING = 2, 8


def text(value: str) -> bytes:
    return struct.pack("<Q", len(value)) + value.encode()


def split_part(number: int, count: int, tensor: str) -> bytes:
    """One f32 tensor of eight elements; the first part has the architecture."""
    entries = [text("split.no") + struct.pack("<IH", U16, number), text("split.count") + struct.pack("<IH", U16, count)]
    if number == 0:
        entries.append(text("general.architecture") + struct.pack("<I", STRING) + text("qwen3"))
    info = text(tensor) + struct.pack("<IQIQ", 1, 8, 0, 0)
    header = b"GGUF" + struct.pack("<IQQ", 3, 1, len(entries)) + b"".join(entries) + info
    return header + bytes(-len(header) % 32) + bytes(32)


BLOCKS = {"f32": (0, 1, 4), "q8_0": (8, 32, 34), "q4_K": (12, 256, 144), "iq3_s": (21, 256, 110)}


def model(tensors: dict[str, tuple[str, list[int]]], experts: int | None) -> bytes:
    """Type and sizes, K first, of each; of data only its length."""
    entries = [text("general.architecture") + struct.pack("<I", STRING) + text("m")]
    if experts is not None:
        entries.append(text("m.expert_used_count") + struct.pack("<II", 4, experts))
    infos, length = b"", 0
    for name, (kind, ne) in tensors.items():
        number, elements, size = BLOCKS[kind]
        infos += text(name) + struct.pack(f"<I{len(ne)}QIQ", len(ne), *ne, number, length)
        length += math.prod(ne) // elements * size
        length += -length % 32
    header = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(entries)) + b"".join(entries) + infos
    return header + bytes(-len(header) % 32 + length)


class Inspect(Folder):
    def inspect(self, path: Path) -> dict:
        done = nw("inspect", "--json", path)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def lines(self, path: Path) -> list[str]:
        done = nw("inspect", path)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [" ".join(line.split()) for line in done.stdout.splitlines()]

    def test_model(self) -> None:
        lines = self.lines(CORPUS / "small-model")
        self.assertIn("1 file, 1040 B, GGUF 3, 4 tensors", lines[0])
        for line in (
            'architecture "llama"',
            "q4_K 2 576 B yes",
            "f32 1 16 B yes",
            "q4_K 2 x 256 288 B 2 blk.*.attn_q.weight",
            "q4_0 3 x 2 x 32 108 B 1 blk.*.ffn_up_exps.weight",
            "f32 4 16 B 1 output_norm.weight",
        ):
            self.assertIn(line, lines)
        found = self.inspect(CORPUS / "small-model")
        self.assertEqual(found["architecture"], "llama")
        self.assertEqual(len(found["tensors"]), 4)
        tensor = found["tensors"][1]
        self.assertEqual((tensor["n"], tensor["k"], tensor["type"], tensor["type_id"]), (2, 256, "q4_K", 12))
        blob = (CORPUS / "small-model").read_bytes()
        self.assertEqual(blob[tensor["offset"]], 3)  # as the file's writer set it
        self.assertEqual((tensor["row_bytes"], tensor["bytes"]), (144, 288))

    MATRICES = {
        "token_embd.weight": ("q4_K", [256, 32]),
        "output.weight": ("q8_0", [256, 32]),
        "blk.0.attn_norm.weight": ("f32", [256]),
        "blk.0.attn_q.weight": ("q4_K", [512, 64]),
        "blk.1.attn_q.weight": ("q4_K", [512, 64]),
        "blk.1.attn_k.weight": ("iq3_s", [512, 64]),
        "blk.0.ffn_gate_inp.weight": ("f32", [256, 8]),
        "blk.1.ffn_gate_inp.weight": ("f32", [256, 8]),
        "blk.0.ffn_up_exps.bias": ("f32", [64, 8]),
        "blk.0.ffn_up_exps.weight": ("q4_K", [512, 64, 8]),
        "blk.0.ffn_down_exps.weight": ("q8_0", [96, 64, 8]),  # 96: no K of gguf_mid
    }

    def test_kernels(self) -> None:
        path = self.input / "m.gguf"
        path.write_bytes(model(self.MATRICES, 2))
        words = " ".join(line for line in self.lines(path) if line)
        self.assertIn("kernels of gfx1151 take 5 of 8 matrices: q8_0 2, q4_K 3; none takes iq3_s 1 (blk.*.attn_k.weight), "
                      "f32 2 (blk.*.ffn_gate_inp.weight) Tensors;", words)  # fmt: skip
        found = self.inspect(path)["kernels"]
        self.assertEqual([(w["type"], w["experts"], w["tensors"]) for w in found["with"]],
                         [("q8_0", False, 1), ("q4_K", False, 2), ("q4_K", True, 1), ("q8_0", True, 1)])  # fmt: skip
        families = [[f["family"] for f in w["families"]] for w in found["with"]]
        self.assertEqual([f["tokens"] for f in found["with"][0]["families"]], [1, 8, 16, 512])
        for dense, experts in ((families[0], families[2]), (families[1], families[2])):
            self.assertEqual((dense[0], dense[2], dense[3]), ("gguf_decode", "gguf_mid", "gguf_prefill"))
            self.assertEqual((experts[0], experts[3]), ("gguf_moe_decode", "gguf_moe_prefill"))
        self.assertNotIn("gguf_moe_mid", families[3])
        self.assertEqual([(w["name"], w["why"]) for w in found["without"]],
                         [("blk.*.attn_k.weight", "no kernel takes iq3_s"), ("blk.*.ffn_gate_inp.weight", "no kernel takes f32")])  # fmt: skip

    def test_kernels_of_another_target(self) -> None:
        path = self.input / "m.gguf"
        path.write_bytes(model({"token_embd.weight": ("q4_K", [256, 32]), "blk.0.ffn_up_exps.weight": ("q4_K", [512, 64, 8])}, None))
        done = nw("inspect", path, "--gfx", "gfx1201", "--json")
        found = json.loads(done.stdout)["kernels"]
        self.assertEqual((found["gfx"], [w["tensors"] for w in found["with"]]), ("gfx1201", [1]))  # the embedding is the head, too
        self.assertIn("expert_used_count", found["without"][0]["why"])
        self.assert_refused(nw("inspect", path, "--gfx", "gfx9"), "gfx9", "gfx1151")

    def test_kernels_that_are_not_built(self) -> None:
        path = self.input / "m.gguf"
        path.write_bytes(model(self.MATRICES, 2))
        found = json.loads(nw("inspect", path, "--json", env={**os.environ, "NIBBLEWAVE_HSACO": str(self.output)}).stdout)["kernels"]
        self.assertEqual((sum(w["tensors"] for w in found["with"]), sum(w["tensors"] for w in found["without"])), (5, 3))
        self.assertEqual({f["family"] for w in found["with"] for f in w["families"]}, {None})

    def test_model_without_matrices(self) -> None:
        path = self.input / "m.gguf"
        path.write_bytes(model({"blk.0.attn_norm.weight": ("f32", [256])}, None))
        self.assertNotIn("kernels", nw("inspect", path).stdout.replace("nibblewave's kernels", ""))

    def test_values(self) -> None:
        lines = self.lines(CORPUS / "every-value")
        for line in (
            'metadata "a.u64" = 18446744073709551615',
            'metadata "a.i8" = -128',
            'metadata "a.f32" = 0.1',
            'metadata "a.bool" = true',
            'metadata "tokenizer.ggml.tokens" = string[6] ["<s>", "</s>", "a", "\\ufffd", ...]',
            'metadata "a.nested" = array[2] [u16[1] [9], string[2] ["x", "yz"]]',
        ):
            self.assertIn(line, lines)
        found = self.inspect(CORPUS / "every-value")["metadata"]
        self.assertEqual(found["a.u64"], {"type": "u64", "value": (1 << 64) - 1})
        self.assertEqual(found["a.i64"], {"type": "i64", "value": -5})
        self.assertEqual(found["a.bools"]["first"], [False, True])
        tokens = found["tokenizer.ggml.tokens"]
        self.assertEqual((tokens["element"], tokens["count"], len(tokens["first"])), ("string", 6, 4))
        self.assertEqual(found["a.nested"]["first"][0]["first"], [9])

    def test_types(self) -> None:
        found = self.inspect(CORPUS / "every-type")["types"]
        decoded = {row["type"] for row in found if row["decoded"]}
        self.assertEqual(decoded, {
            "f32", "f16", "bf16", "q4_0", "q4_1", "q5_0", "q5_1", "q8_0", "iq4_nl", "mxfp4", "nvfp4", "q2_K", "q3_K", "q4_K", "q5_K", "q6_K", "iq4_xs",
        })
        self.assertEqual(sum(row["tensors"] for row in found), len(found))

    def test_unknown_type(self) -> None:
        self.assertIn("type 1000 3 x 100 ? 1 blk.*.strange.weight", self.lines(CORPUS / "unknown-type"))
        found = self.inspect(CORPUS / "unknown-type")
        self.assertEqual([t["bytes"] for t in found["tensors"]], [1024, None, 32])

    def test_what_is_refused(self) -> None:
        for name, words in (
            ("overlap", ('tensor "b"', 'inside "a"')),
            ("array-of-an-exabyte", ('metadata "a.b"', "1152921504606846976 elements", "truncated")),
            ("product-wraps-around", ('tensor "a"', "more than 2^64")),
            ("nesting-without-end", ("deeper than 8 levels",)),
            ("tensors-of-an-exabyte", ("2305843009213693953 tensors", "truncated")),
            ("big-endian", ("big-endian", "fetch or convert a little-endian file")),
            ("version-1", ("version 1", "convert")),
            ("alignment-of-24", ("general.alignment is 24", "power of two")),
        ):
            with self.subTest(name):
                self.assert_refused(nw("inspect", CORPUS / name), str(CORPUS / name), *words)

    def test_by_name_and_by_mark(self) -> None:
        """A file called .gguf is one, and so is what begins as one."""
        path = self.input / "model.gguf"
        path.write_bytes(b"not one at all")
        self.assert_refused(nw("inspect", path), str(path), '"GGUF"')
        self.assert_refused(nw("inspect", self.input / "none.gguf"), "none.gguf", "can't be opened")
        shutil.copy(CORPUS / "small-model", path)
        self.assertEqual(len(self.inspect(path)["tensors"]), 4)

    def test_needs_no_packing(self) -> None:
        path = CORPUS / "small-model"
        self.assert_refused(nw("pack", path, self.packed), str(path), "needs no packing", "nw inspect")

    def test_split(self) -> None:
        parts = [self.input / f"m-0000{n}-of-00003.gguf" for n in (1, 2, 3)]
        for n, part in enumerate(parts):
            part.write_bytes(split_part(n, 3, f"blk.{n}.norm.weight"))
        for part in parts:
            found = self.inspect(part)
            self.assertEqual([f["path"] for f in found["files"]], [str(p) for p in parts])
            self.assertEqual([t["file"] for t in found["tensors"]], [0, 1, 2])
            self.assertEqual(found["architecture"], "qwen3")
        self.assertIn("f32 8 32 B 3 blk.*.norm.weight", self.lines(parts[2]))
        parts[1].unlink()
        self.assert_refused(nw("inspect", parts[2]), str(parts[1]), "is missing", "one of 3 files")


if __name__ == "__main__":
    unittest.main()
