# SPDX-License-Identifier: MIT
"""Inputs that nw pack and nw inspect refuse: each with a message that names the fault, and no files left behind."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import struct
import subprocess
import time
import unittest
from collections.abc import Callable
from pathlib import Path

import make_checkpoints
from make_checkpoints import Checkpoint, gptq, make_matrix
from packing import BUILD, Folder, nw
from safetensors_file import Tensor, encode, with_header


def entry(begin: int, end: int, dtype: str = "U8", shape: list | None = None) -> dict:
    return {"dtype": dtype, "shape": [end - begin] if shape is None else shape, "data_offsets": [begin, end]}


class LyingFiles(Folder):
    """One safetensors file; nw inspect reads no more than its header."""

    def refused(self, blob: bytes, *words: str) -> None:
        path = self.input / "model.safetensors"
        path.write_bytes(blob)
        with self.subTest(words=words):
            self.assert_refused(nw("inspect", path), str(path), *words)
            self.assert_refused(nw("pack", self.input, self.packed), str(path), *words)

    def test_length(self) -> None:
        self.refused(b"", "has 0 bytes")
        self.refused(b"\x10\0\0", "has 3 bytes")
        self.refused(with_header("{}", b"", length=1 << 63), "9223372036854775808 bytes", "100000000")
        self.refused(with_header("{}", b"", length=100_000_001), "100000001 bytes")
        self.refused(with_header("{}", b"", length=99), "99 bytes", "10 in all", "truncated")
        self.refused(with_header("", b""), "does not begin with '{'")
        self.refused(with_header(" {}", b""), "does not begin with '{'")

    def test_header_is_json_in_utf8(self) -> None:
        self.refused(with_header('{"a":', b""), "is not JSON")
        self.refused(with_header('{} {"b": 1}', b""), "is not JSON")
        self.refused(with_header(b'{"\xff\xfe": 1}', b""), "is not JSON", "UTF-8")
        self.refused(with_header('{"a":' + "[" * 100_000, b""), "nests deeper")
        self.refused(with_header('{"__metadata__": []}', b""), "__metadata__ is not an object")
        self.refused(with_header('{"__metadata__": {"a": 1}}', b""), "__metadata__", "is not a string")

    def test_names(self) -> None:
        row = json.dumps(entry(0, 4))
        self.refused(with_header(f'{{"a": {row}, "a": {row}}}', bytes(4)), 'the key "a" twice')
        self.refused(with_header(f'{{"a\\u001b[31m": {row}}}', bytes(4)), "\\u001b", "control characters")
        self.refused(with_header(f'{{"": {row}}}', bytes(4)), "control characters")

    def test_entries(self) -> None:
        def one(row: object, *words: str, data: bytes = bytes(4)) -> None:
            self.refused(with_header(json.dumps({"a": row}), data), *words)

        one([], "not an object")
        one({"dtype": "U8", "shape": [4]}, 'no "data_offsets"')
        one(entry(0, 4) | {"dtype": 8}, "dtype must be a string")
        one(entry(0, 4) | {"data_offsets": [0]}, "an array of two")
        one(entry(0, 4, shape=[-4]), "must be an integer")
        one(entry(0, 4, shape=[4.0]), "must be an integer")
        one(entry(0, 4, shape=["4"]), "must be an integer")
        one(entry(0, 4, shape=[1 << 63, 4]), "more than 2^64 bits")
        one(entry(0, 4, shape=[5]), "[5] has 5 bytes", "give 4")
        one(entry(0, 4, "F4", shape=[7]), "not a whole number of bytes")
        one(entry(0, 4) | {"data_offsets": [4, 0]}, "before it begins")
        one(entry(0, 4) | {"data_offsets": [0, 1 << 70]}, "must be an integer")

    def test_a_dtype_of_later(self) -> None:
        """A tensor of a dtype that is not known refuses the file where it is needed, and not where it is not."""
        source = make_checkpoints.make("awq_g128")
        source.tensors["later"] = Tensor("F8_E9M9", [3], b"four")
        source.write(self.input)
        self.assertEqual(nw("inspect", self.input).returncode, 0)
        self.assert_refused(nw("pack", self.input, self.packed, "--all"), "later", "F8_E9M9", "--all")
        self.assertEqual(nw("pack", self.input, self.packed).returncode, 0)

    def test_places(self) -> None:
        def two(a: dict, b: dict, data: int, *words: str) -> None:
            self.refused(with_header(json.dumps({"a": a, "b": b}), bytes(data)), *words)

        two(entry(0, 4), entry(2, 6), 6, '"b" begins at 2, inside another', '4 ends "a"')
        two(entry(0, 4), entry(0, 4), 4, "begins at 0, inside another")
        two(entry(0, 4), entry(5, 8), 8, '"b" begins at 5, after a gap')
        two(entry(2, 4), entry(4, 8), 8, '"a" begins at 2, after a gap')
        two(entry(0, 4), entry(4, 9), 8, '"b" ends at 9, past the 8 bytes', "truncated")
        two(entry(0, 4), entry(4, 8), 9, "has 9 bytes of data, its tensors take 8")
        two(entry(0, 4), entry(4, 1 << 60), 8, "ends at 1152921504606846976, past the 8 bytes")
        two(entry(0, 4), entry(4, (1 << 64) - 1), 8, "more than 2^64 bits")

    def test_order_of_names_is_free(self) -> None:
        """Only bytes have an order: headers list tensors in any."""
        blob = with_header(json.dumps({"b": entry(4, 8), "a": entry(0, 4)}), bytes(8))
        (self.input / "model.safetensors").write_bytes(blob)
        self.assertEqual(nw("inspect", self.input).returncode, 0)

    def test_every_shorter_file(self) -> None:
        """No beginning of a checkpoint is one, and none brings nw down."""
        make_checkpoints.make("awq_g128").write(self.input)
        path = self.input / "model.safetensors"
        blob = path.read_bytes()
        for size in [*range(0, 64, 7), *range(64, len(blob), len(blob) // 20), len(blob) - 1]:
            path.write_bytes(blob[:size])
            self.assert_refused(nw("pack", self.input, self.packed), str(path))


class LyingCheckpoints(Folder):
    """Files that are right one by one, and don't fit together."""

    def changed(self, name: str, change: Callable[[Checkpoint], None], *words: str) -> None:
        source = make_checkpoints.make(name)
        change(source)
        shutil.rmtree(self.input)
        source.write(self.input)
        with self.subTest(words=words):
            self.assert_refused(nw("pack", self.input, self.packed), *words)

    def edit(self, tensor: str, new: Tensor | None) -> Callable[[Checkpoint], None]:
        def change(c: Checkpoint) -> None:
            full = next(name for name in c.tensors if name.endswith(tensor))
            if new:
                c.tensors[full] = new
            else:
                del c.tensors[full]

        return change

    def test_missing_parts(self) -> None:
        for name, part in {
            "gptq_v1_sym": "scales",
            "gptq_v2_asym": "qzeros",
            "awq_g128": "qzeros",
            "compressed_sym": "weight_scale",
            "compressed_asym": "weight_shape",
        }.items():
            self.changed(name, self.edit("down_proj." + part, None), f'down_proj.{part}" is missing')

    def test_dtypes(self) -> None:
        def retyped(part: str, dtype: str) -> Callable[[Checkpoint], None]:
            def change(c: Checkpoint) -> None:
                c.tensors["model.layers.0.mlp.down_proj." + part].dtype = dtype

            return change

        self.changed("gptq_v1_sym", retyped("qweight", "F32"), "qweight", "must be I32")
        self.changed("gptq_v1_sym", retyped("qzeros", "F32"), "qzeros", "must be I32")
        self.changed("awq_g128", retyped("scales", "I16"), "scales", "must be F16, BF16 or F32")
        self.changed("compressed_sym", retyped("weight_shape", "F64"), "must be I64 or I32")

    def test_shapes(self) -> None:
        def shaped(part: str, *shape: int) -> Callable[[Checkpoint], None]:
            def change(c: Checkpoint) -> None:
                tensor = c.tensors["model.layers.0.mlp.down_proj." + part]  # N = 304, K = 128
                size = len(tensor.data)
                tensor.shape = list(shape)
                count = 1
                for x in shape:
                    count *= x
                bytes_each = {"I32": 4, "I64": 8, "F16": 2, "BF16": 2}[tensor.dtype]
                tensor.data = (tensor.data * (count * bytes_each // size + 1))[: count * bytes_each]

            return change

        self.changed("gptq_v2_asym", shaped("qweight", 16, 152), "does not fit GPTQ's [K/8, N]")
        self.changed("gptq_v2_asym", shaped("qweight", 4864), "2 dimensions")
        self.changed("gptq_v2_asym", shaped("qzeros", 1, 37), "qzeros", "[1, 38]")
        self.changed("gptq_v2_asym", shaped("g_idx", 127), "g_idx", "[128]")
        self.changed("gptq_v2_asym", shaped("scales", 3, 304), "K = 128 is not a multiple of the 3 scales")
        self.changed("gptq_v2_asym", shaped("scales", 8, 304), "the config says groups of 128", "16")
        self.changed("gptq_v2_asym", shaped("scales", 2, 304), "the config says groups of 128", "64")
        self.changed("gptq_v2_asym", shaped("scales", 0, 304), "0 scales")
        self.changed("awq_g128", shaped("qweight", 304, 16), "does not fit AWQ's [K, N/8]")
        self.changed("awq_g128", shaped("scales", 128, 8), "GEMV", "GEMM")
        self.changed("compressed_sym", shaped("weight_packed", 304, 15), "N = 304, K = 128")
        self.changed("compressed_sym", shaped("weight_scale", 303, 1), "weight_scale", "[304, 1]")
        self.changed("compressed_sym", shaped("weight_shape", 1), "must contain N and K")

    def test_a_shape_below_zero(self) -> None:
        shape = Tensor("I64", [2], struct.pack("<qq", -304, 128))
        self.changed("compressed_sym", self.edit("down_proj.weight_shape", shape), "N = -304", "positive")

    def test_k_of_no_16(self) -> None:
        def change(c: Checkpoint) -> None:
            m = make_matrix(make_checkpoints.random.Random(1), 8, 24, -1)
            c.add("odd", gptq(m, "F16", 1), m)
            c.config.pop("group_size")

        self.changed("gptq_v1_sym", change, "odd.qweight", "K = 24", "multiple of 16")

    def test_scales_that_are_no_numbers(self) -> None:
        def poisoned(dtype: str, bits: int) -> Callable[[Checkpoint], None]:
            def change(c: Checkpoint) -> None:
                ends = ("down_proj.scales", "down_proj.weight_scale")
                tensor = next(t for n, t in c.tensors.items() if n.endswith(ends))
                self.assertEqual(tensor.dtype, dtype)
                tensor.data = tensor.data[:602] + struct.pack("<H", bits) + tensor.data[604:]

            return change

        for bits, word in ((0x7E00, "nan"), (0x7C00, "inf"), (0xFC00, "-inf")):
            self.changed("gptq_v2_asym", poisoned("F16", bits), "down_proj: scale 301", word, "must be finite")
        self.changed("compressed_sym", poisoned("BF16", 0x7F80), "down_proj: scale 301", "inf")

    def test_scales_beyond_the_dtype(self) -> None:
        source = make_checkpoints.make("compressed_sym")
        tensor = source.tensors["model.layers.0.mlp.down_proj.weight_scale"]
        tensor.data = struct.pack("<H", 0x4800) + tensor.data[2:]  # 2^17
        source.write(self.input)
        done = nw("pack", self.input, self.packed, "--dtype", "f16")
        self.assert_refused(done, "131072", "above the range of f16", "--dtype bf16")

    def test_f32_scales_need_a_dtype(self) -> None:
        source = make_checkpoints.make("awq_g128")
        for name, tensor in source.tensors.items():
            if name.endswith(".scales"):
                halves = struct.unpack(f"<{len(tensor.data) // 2}e", tensor.data)
                source.tensors[name] = make_checkpoints.reals("F32", tensor.shape, halves)
        source.write(self.input)
        self.assert_refused(nw("pack", self.input, self.packed), "F32", "--dtype")
        self.assertEqual(nw("pack", self.input, self.packed, "--dtype", "f16").returncode, 0)

    def test_zero_points(self) -> None:
        def zeros(word: int, **config: object) -> Callable[[Checkpoint], None]:
            def change(c: Checkpoint) -> None:
                tensor = c.tensors["model.layers.0.mlp.down_proj.qzeros"]
                tensor.data = tensor.data[:4] + struct.pack("<I", word) + tensor.data[8:]
                c.config.update(config)

            return change

        self.changed("gptq_v1_asym", zeros(0xF1111111), "qzeros", "contains 15", "16", "save it as gptq_v2")
        borrowed = (0x87654320 - 0x11111111) & 0xFFFFFFFF  # 0 in the lowest nibble, as GPTQModel writes v1
        self.changed("gptq_v1_asym", zeros(borrowed), "qzeros", "contains 15", "stored as -1", "checkpoint_format = gptq_v2")
        self.changed("gptq_v1_sym", zeros(0x77777778), "the config says sym", "neither all 7")
        self.changed("gptq_v2_asym", zeros(0x12345678, sym=True), "the config says sym")

    def test_asymmetric_rows_without_groups(self) -> None:
        def change(c: Checkpoint) -> None:
            m = make_matrix(make_checkpoints.random.Random(1), 16, 48, -1, asym=True)
            weights = {"num_bits": 4, "symmetric": False, "strategy": "channel"}
            c.config["config_groups"]["group_1"] = {"targets": ["odd"], "weights": weights}
            c.add("odd", make_checkpoints.compressed(m, "BF16", True), m)

        self.changed("compressed_asym", change, "odd.weight_zero_point", "K = 48", "must be symmetric")

    def test_act_order_without_its_list(self) -> None:
        self.changed("gptq_act_order", self.edit("down_proj.g_idx", None), "down_proj.qweight", "act-order", "g_idx is missing")
        self.changed("compressed_g_idx", self.edit("down_proj.weight_g_idx", None), "act-order", "weight_g_idx is missing")

    def test_hqq(self) -> None:
        def part(suffix: str, new: Tensor | None) -> Callable[[Checkpoint], None]:
            def change(c: Checkpoint) -> None:
                self.edit(f"0.mlp.down_proj.{suffix}", new)(c)  # N = 304, K = 128, G = 64

            return change

        def optimized(c: Checkpoint) -> None:
            zero = c.tensors["model.layers.0.mlp.down_proj.zero"]
            zero.data = zero.data[:6] + struct.pack("<e", 7.5) + zero.data[8:]

        one = make_checkpoints.ints
        self.changed("hqq_g64", optimized, "down_proj.zero", "row 1, group 1", "7.5", "round_zero = True", "nw quantize")
        self.changed("hqq_g64", part("scale", None), 'down_proj.scale" is missing')
        self.changed("hqq_g64", part("shape", None), 'down_proj.shape" is missing')
        self.changed("hqq_g64", part("shape", one([2], [304, 64], "I64")), "W_q", "9728 bytes", "K = 64")
        self.changed("hqq_g64", part("shape", one([2], [2**32 - 304, 128])), "N = -304")
        self.changed("hqq_g64", part("shape", one([3], [1, 304, 128])), "shape", "one or two integers")
        self.changed("hqq_g64", part("nbits", one([], [3])), "3 bits")
        self.changed("hqq_g64", part("axis", one([], [0])), "axis 0", "axis = 1")
        self.changed("hqq_g64", part("group_size", one([], [0])), "groups of 0")
        self.changed("hqq_g64", part("group_size", one([], [16])), "scale", "N * K / G = 2432")
        self.changed("hqq_g64", part("packing", make_checkpoints.text("2bit_u8")), "2bit_u8", "4bit_u8")
        self.changed("hqq_g64", part("zero", Tensor("U8", [608], bytes(608))), "zero", "F16, BF16 or F32")
        self.changed("hqq_g64", part("W_q", Tensor("F16", [304, 32], bytes(19456))), "view_as_float = False")

    def test_a_matrix_of_that_name_is_none_of_hqq(self) -> None:
        source = make_checkpoints.make("awq_g128")
        source.tensors["model.layers.0.attn.W_q"] = make_checkpoints.reals("BF16", [8, 8], [0.5] * 64)
        source.write(self.input)
        self.assertEqual(nw("pack", self.input, self.packed).returncode, 0)

    def test_bitsandbytes(self) -> None:
        def state(kind: str) -> Callable[[Checkpoint], None]:
            def change(c: Checkpoint) -> None:
                c.tensors[f"odd.weight.quant_state.bitsandbytes__{kind}"] = make_checkpoints.text("{}")

            return change

        for kind in ("nf4", "fp4"):
            self.changed("awq_g128", state(kind), "odd.weight", "bitsandbytes", kind, "nw quantize")

    def test_group_indices(self) -> None:
        def g_idx(at: int, group: int) -> Callable[[Checkpoint], None]:
            def change(c: Checkpoint) -> None:
                tensor = next(t for n, t in c.tensors.items() if n.endswith("g_idx"))
                tensor.data = tensor.data[: 4 * at] + struct.pack("<i", group) + tensor.data[4 * at + 4 :]

            return change

        self.changed("gptq_act_order", g_idx(5, 8), "g_idx", "group 8 for k = 5", "0 to 7")
        self.changed("gptq_act_order", g_idx(5, -1), "g_idx", "group -1 for k = 5")
        self.changed("gptq_v1_sym", g_idx(0, 1), "g_idx", "31 of the k to group 0", "32")
        self.changed("compressed_g_idx", g_idx(5, 9), "weight_g_idx", "group 9")

    def test_config(self) -> None:
        def config(**new: object) -> Callable[[Checkpoint], None]:
            return lambda c: c.config.update(new)

        self.changed("gptq_v1_sym", config(bits=8), "the config says 8 bits")
        self.changed("gptq_v1_sym", config(group_size=64), "the config says groups of 64", "32")
        self.changed("gptq_v1_sym", config(group_size=-1), "the config says groups of -1", "32")
        self.changed("awq_g128", config(bits=3), "the config says 3 bits")

    def test_config_that_is_no_json(self) -> None:
        for name, text, words in (
            ("config.json", "{", "is not JSON"),
            ("config.json", '{"quantization_config": 4}', "is not an object"),
            ("quantize_config.json", "[]", "is not an object"),
        ):
            make_checkpoints.make("gptq_old_config").write(self.input)
            (self.input / name).write_text(text)
            self.assert_refused(nw("pack", self.input, self.packed), str(self.input), words)

    def test_experts(self) -> None:
        def without(expert: str) -> Callable[[Checkpoint], None]:
            def change(c: Checkpoint) -> None:
                c.tensors = {n: t for n, t in c.tensors.items() if f".experts.{expert}." not in n}

            return change

        self.changed("moe_gptq", without("5"), "expert 5 is missing", "experts.6.")
        self.changed("moe_gptq", without("0"), "expert 0 is missing")

        def other_shape(c: Checkpoint) -> None:
            m = make_matrix(make_checkpoints.random.Random(1), 48, 128, 32)
            c.add("model.layers.0.mlp.experts.3.gate_proj", gptq(m, "F16", 1), m)

        self.changed("moe_gptq", other_shape, "experts.3.gate_proj", "48 x 128", "40 x 128", "must agree")

    def test_nothing_to_pack(self) -> None:
        (self.input / "model.safetensors").write_bytes(encode({"a": Tensor("U8", [4], bytes(4))}))
        self.assert_refused(nw("pack", self.input, self.packed), "no 4-bit linear layer")

    def test_inspect_lists_what_can_t_be_read(self) -> None:
        source = make_checkpoints.make("awq_g128")
        del source.tensors["model.layers.0.mlp.down_proj.scales"]
        source.write(self.input)
        done = nw("inspect", self.input)
        self.assertEqual(done.returncode, 0)
        self.assertIn("1 layers that can't be read", done.stdout)
        found = json.loads(nw("inspect", "--json", self.input).stdout)
        self.assertEqual((len(found["linears"]), len(found["problems"])), (2, 1))


class Shards(Folder):
    def setUp(self) -> None:
        super().setUp()
        make_checkpoints.make("awq_g32_sharded").write(self.input)
        self.index = self.input / "model.safetensors.index.json"

    def refused(self, *words: str) -> None:
        self.assert_refused(nw("pack", self.input, self.packed), *words)

    def write_map(self, weights: object) -> None:
        self.index.write_text(json.dumps({"weight_map": weights}))

    def test_missing_shard(self) -> None:
        (self.input / "model-00002-of-00003.safetensors").unlink()
        self.refused("the shard model-00002-of-00003.safetensors is missing")

    def test_shard_without_its_tensor(self) -> None:
        weights = json.loads(self.index.read_text())["weight_map"]
        first = sorted(weights)[0]
        weights[first] = next(shard for shard in weights.values() if shard != weights[first])
        self.write_map(weights)
        self.refused("does not contain", first)

    def test_no_index(self) -> None:
        self.index.unlink()
        self.refused("3 .safetensors files and no index")

    def test_two_indices(self) -> None:
        shutil.copy(self.index, self.input / "other.safetensors.index.json")
        self.refused("2 index files")

    def test_index_that_lies(self) -> None:
        for text, words in (("{", "is not JSON"), ("[]", "not a JSON object"), ("{}", "weight_map"), ("[[", "not JSON")):
            self.index.write_text(text)
            self.refused(words)
        self.write_map([])
        self.refused("weight_map")
        self.write_map({})
        self.refused("names no tensor")
        self.write_map({"a": 1})
        self.refused("is not a file name")
        for name in ("../model.safetensors", "/etc/passwd", "", "..", "a/b"):
            self.write_map({"a": name})
            self.refused("not the name of a file next to the index")


class Places(Folder):
    """Where input and output may be."""

    def setUp(self) -> None:
        super().setUp()
        make_checkpoints.make("awq_g128").write(self.input)

    def test_input(self) -> None:
        self.assert_refused(nw("pack", self.folder / "nowhere", self.packed), "no such file or directory")
        empty = self.folder / "empty"
        empty.mkdir()
        self.assert_refused(nw("pack", empty, self.packed), "holds no .safetensors file")
        os.mkfifo(self.folder / "pipe.safetensors")
        self.assert_refused(nw("pack", self.folder / "pipe.safetensors", self.packed), "not a regular file")

    def test_output(self) -> None:
        self.assert_refused(nw("pack", self.input, self.output / "model.bin"), "NAME.safetensors")
        self.assert_refused(nw("pack", self.input, self.output / "no/model.safetensors"), "does not exist")

    def test_output_inside_input(self) -> None:
        before = sorted(self.input.rglob("*"))
        inner = self.input / "sub"
        inner.mkdir()
        link = self.folder / "link"
        link.symlink_to(inner)
        for out in (self.input / "packed.safetensors", inner / "x.safetensors", link / "x.safetensors"):
            self.assert_refused(nw("pack", self.input, out), "inside the input")
        done = nw("pack", ".", "packed.safetensors", cwd=self.input)
        self.assert_refused(done, "inside the input")
        inner.rmdir()
        self.assertEqual(sorted(self.input.rglob("*")), before)

    def test_output_is_the_input(self) -> None:
        file = self.input / "model.safetensors"
        before = file.read_bytes()
        self.assert_refused(nw("pack", file, file, "--force"), "is the input itself")
        self.assertEqual(file.read_bytes(), before)

    def test_gfx(self) -> None:
        self.assert_refused(nw("pack", self.input, self.packed, "--gfx", "gfx900"), "--gfx gfx900", "gfx1151")

    def test_no_space(self) -> None:
        """A limit on the size of files stands in for a full disk: both are refused by the system."""

        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (16 * 1024, 16 * 1024))

        self.assert_refused(nw("pack", self.input, self.packed, preexec_fn=limit), str(self.packed))

    def test_full_disk(self) -> None:
        """A file system of 256 KB, where the test may mount one."""
        if subprocess.run(["unshare", "-rm", "true"], capture_output=True).returncode:
            self.skipTest("no user namespaces here")
        mount = 'mount -t tmpfs -o size=256k none "$1"'
        script = f'{mount} && "$2" pack --all "$3" "$1/x.safetensors"; s=$?; ls -A "$1"; exit $s'
        source = make_checkpoints.make("awq_g128")
        source.tensors["ballast"] = Tensor("U8", [1 << 20], bytes(1 << 20))
        source.write(self.input)
        command = ["unshare", "-rm", "sh", "-c", script, "sh", self.output, BUILD / "bin/nw", self.input]
        done = subprocess.run(command, capture_output=True, text=True)
        self.assertIn("No space left on device", done.stderr)
        self.assert_refused(done)
        self.assertEqual(done.stdout, "")

    def test_output_folder_that_can_t_be_written(self) -> None:
        if os.geteuid() == 0:
            self.skipTest("root may write anywhere")
        self.output.chmod(0o500)
        self.assert_refused(nw("pack", self.input, self.packed), "can't be created")


class Killed(Folder):
    def test_nothing_is_left(self) -> None:
        """Killed in the midst of writing, it has left nothing: the file has no name yet."""
        source = make_checkpoints.make("awq_g128")
        size = 1 << 28
        source.tensors["ballast"] = Tensor("U8", [size], bytes(size))
        source.write(self.input)
        try:
            os.close(os.open(self.output, os.O_TMPFILE | os.O_RDWR))
        except OSError:
            self.skipTest("files have names from the start here")
        process = subprocess.Popen([BUILD / "bin/nw", "pack", "--all", self.input, self.packed])
        until = time.monotonic() + 10
        while time.monotonic() < until and not self.writes(process.pid):
            pass
        process.send_signal(signal.SIGKILL)
        process.wait()
        self.assertEqual(process.returncode, -signal.SIGKILL)
        self.assertEqual(list(self.output.iterdir()), [])

    def writes(self, pid: int) -> bool:
        try:
            return any(str(self.output) in os.readlink(fd) for fd in Path(f"/proc/{pid}/fd").iterdir())
        except OSError:  # it closed one meanwhile
            return False


if __name__ == "__main__":
    unittest.main()
