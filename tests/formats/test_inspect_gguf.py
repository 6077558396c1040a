# SPDX-License-Identifier: MIT
"""nw inspect of GGUF files: those of the fuzzers' corpus, and a split model."""

from __future__ import annotations

import json
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
