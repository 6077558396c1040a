# SPDX-License-Identifier: MIT
"""The examples of the C API, run on the simulated GPU; each compares its results with fp64."""

from __future__ import annotations

import json
import math
import os
import random
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from calling import BUILD, LIBRARY, SANITIZED, SOURCE, Folder, run

sys.path[:0] = [str(SOURCE / "tests/check")]
from reported_faults import FAULTS

TARGETS = sorted(p.name for p in (BUILD / "hsaco").iterdir() if p.is_dir())


class Linear(unittest.TestCase):
    """linear.c: one product."""

    program = BUILD / "bin/tests/api_linear"

    def test_on_every_target(self) -> None:
        for gfx in TARGETS:
            with self.subTest(gfx=gfx):
                done = run(self.program, HIPSIM_ARCH=gfx)
                self.assertEqual((done.returncode, done.stdout), (0, f"{gfx}: 2 x 100 outputs, all as in double\n"))

    def test_what_cards_do_wrong(self) -> None:
        for gfx in ("gfx1100", "gfx1151"):
            with self.subTest(gfx=gfx):
                done = run(self.program, HIPSIM_ARCH=gfx, HIPSIM_CHOICES=FAULTS)
                self.assertEqual((done.returncode, done.stdout), (0, f"{gfx}: 2 x 100 outputs, all as in double\n"))

    def test_missing_kernels_are_named(self) -> None:
        done = run(self.program, NIBBLEWAVE_HSACO="/no/such/folder")
        self.assertEqual(done.returncode, 1)
        self.assertIn("NW_NO_KERNEL_FILES: no code objects for gfx1151: tried /no/such/folder/gfx1151;", done.stdout)

    def test_a_kernel_is_forced(self) -> None:
        name = "decode_w4a16_f16_g128_m2_subnormal"
        done = run(self.program, NIBBLEWAVE_FORCE=name)
        self.assertEqual((done.returncode, done.stdout), (0, "gfx1151: 2 x 100 outputs, all as in double\n"))
        for wrong, expect in [
            (name.replace("m2", "m4"), "m4, the product is"),
            (name.replace("_f16", "_bf16").replace("subnormal", "perm"), "it is for bf16"),
            (name + "x", f"there is no such kernel; the nearest names on gfx1151 are {name}, "),
        ]:
            done = run(self.program, NIBBLEWAVE_FORCE=wrong)
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"NW_UNSUPPORTED: NIBBLEWAVE_FORCE={wrong}: ", done.stdout)
            self.assertIn(expect, done.stdout)


class Moe(unittest.TestCase):
    """moe.c: two products of a mixture of experts."""

    def test_on_every_target(self) -> None:
        for gfx in TARGETS:
            with self.subTest(gfx=gfx):
                done = run(BUILD / "bin/tests/api_moe", HIPSIM_ARCH=gfx)
                self.assertEqual((done.returncode, done.stdout), (0, f"{gfx}: 6 slots of 3 tokens, all as in double\n"))

    def test_what_cards_do_wrong(self) -> None:
        """Its expert ids are copies of few bytes."""
        for gfx in ("gfx1100", "gfx1151"):
            with self.subTest(gfx=gfx):
                done = run(BUILD / "bin/tests/api_moe", HIPSIM_ARCH=gfx, HIPSIM_CHOICES=FAULTS)
                self.assertEqual((done.returncode, done.stdout), (0, f"{gfx}: 6 slots of 3 tokens, all as in double\n"))


class Hsaco(unittest.TestCase):
    """hsaco.cpp: a code object by the manifest, without the library."""

    program = BUILD / "bin/tests/api_hsaco"

    def test_on_every_target(self) -> None:
        for gfx in TARGETS:
            with self.subTest(gfx=gfx):
                done = run(self.program, BUILD / "hsaco", HIPSIM_ARCH=gfx, HIPSIM_CHECK="all")
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assertRegex(done.stdout, r"^decode_w4a16_f16_g128_m1_\w+: 200 outputs, all 1280\.0\n$")

    def test_arguments_are_placed_by_the_manifest(self) -> None:
        with tempfile.TemporaryDirectory() as scratch:
            manifest = json.loads((BUILD / "hsaco/manifest.json").read_text())
            places = {a["name"]: a for a in manifest["families"]["decode_w4a16"]["arguments"]}
            places["n"]["offset"], places["k"]["offset"] = places["k"]["offset"], places["n"]["offset"]
            (Path(scratch) / "manifest.json").write_text(json.dumps(manifest))
            (Path(scratch) / "gfx1151").symlink_to(BUILD / "hsaco/gfx1151")
            done = run(self.program, scratch, HIPSIM_ARCH="gfx1151")
        self.assertEqual(done.returncode, 1, done.stdout)


# ggml's number of the type, elements and bytes of a block, where its f16 scales are.
BLOCKS = {"q4_0": (2, 32, 18, [0]), "q8_0": (8, 32, 34, [0]), "q4_K": (12, 256, 144, [0, 2]), "q6_K": (14, 256, 210, [208])}


def tensor_bytes(rng: random.Random, name: str, ne: list[int]) -> bytes:
    """Any quants, scales as models have them."""
    _, elements, size, scales = BLOCKS[name]
    out = bytearray()
    for _ in range(math.prod(ne) // elements):
        block = bytearray(rng.randbytes(size))
        for at in scales:
            block[at : at + 2] = struct.pack("<e", rng.random() / 512)
        out += block
    return bytes(out)


def gguf_file(tensors: list[tuple[str, str, list[int]]]) -> bytes:
    """GGUF 3 without metadata; tensors of one type each, and a norm in f32."""
    rng, infos, data = random.Random(5), b"", b""
    for name, kind, ne in [*tensors, ("norm", "f32", [8])]:
        number = 0 if kind == "f32" else BLOCKS[kind][0]
        infos += struct.pack("<Q", len(name)) + name.encode() + struct.pack("<I", len(ne))
        infos += struct.pack(f"<{len(ne)}Q", *ne) + struct.pack("<IQ", number, len(data))
        data += bytes(32) if kind == "f32" else tensor_bytes(rng, kind, ne)
        data += bytes(-len(data) % 32)
    header = b"GGUF" + struct.pack("<IQQ", 3, len(tensors) + 1, 0) + infos
    return header + bytes(-len(header) % 32) + data


class Gguf(Folder):
    """gguf.c: the tensors of a file through nibblewave_ggml.h."""

    def multiply(self, rows: int, gfx: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return run(BUILD / "bin/tests/api_gguf", self.folder / "model.gguf", str(rows), HIPSIM_ARCH=gfx, **variables)

    def test_on_every_target(self) -> None:
        tensors = [(f"w.{name}", name, [512, 40]) for name in BLOCKS] + [("experts", "q4_K", [256, 24, 2, 2])]
        (self.folder / "model.gguf").write_bytes(gguf_file(tensors))
        for gfx in TARGETS:
            for rows in (1, 9):
                with self.subTest(gfx=gfx, rows=rows):
                    done = self.multiply(rows, gfx)
                    self.assertEqual((done.returncode, done.stdout), (0, f"{gfx}: 20 products, all as in double\n"))

    def test_what_cards_do_wrong(self) -> None:
        (self.folder / "model.gguf").write_bytes(gguf_file([("w", "q4_K", [512, 40]), ("experts", "q4_K", [256, 24, 2, 2])]))
        done = self.multiply(1, "gfx1151", HIPSIM_CHOICES=FAULTS)
        self.assertEqual((done.returncode, done.stdout), (0, "gfx1151: 8 products, all as in double\n"))

    def test_a_way_is_forced(self) -> None:
        (self.folder / "model.gguf").write_bytes(gguf_file([("w", "q4_K", [512, 40])]))
        for name in ("gguf_decode_q4_K_m8", "gguf_mid_q4_K_b32"):
            done = self.multiply(20, "gfx1151", NIBBLEWAVE_FORCE=name)
            self.assertEqual((done.returncode, done.stdout), (0, "gfx1151: 4 products, all as in double\n"))
        done = self.multiply(4, "gfx1151", NIBBLEWAVE_FORCE="gguf_decode_q4_K_m8")
        self.assertEqual(done.returncode, 1)
        self.assertIn("NW_UNSUPPORTED: NIBBLEWAVE_FORCE=gguf_decode_q4_K_m8: it is for m >= 8", done.stdout)

    def test_a_result_that_is_none_is_seen(self) -> None:
        blob = bytearray(gguf_file([("w", "q8_0", [64, 8])]))
        place = len(blob) - 32 - 8 * 68  # the norm's 32 bytes come last
        good = self.folder / "model.gguf"
        good.write_bytes(blob)
        self.assertEqual(self.multiply(2, "gfx1151").returncode, 0)
        blob[place : place + 2] = struct.pack("<e", math.nan)  # a scale that is none
        good.write_bytes(blob)
        done = self.multiply(2, "gfx1151")
        self.assertEqual(done.returncode, 1)
        self.assertIn("w: dst[0][0][0][0] is ", done.stdout)


@unittest.skipIf(SANITIZED, "Python would have to be started with the sanitizer's runtime")
class Python(unittest.TestCase):
    """linear.py: one product by ctypes."""

    def test_on_old_and_new_targets(self) -> None:
        script = SOURCE / "tests/api/linear.py"
        for gfx, choices in (("gfx1100", ""), ("gfx1151", ""), ("gfx1151", FAULTS), ("gfx1201", "")):
            with self.subTest(gfx=gfx, choices=choices):
                done = run(sys.executable, script, LIBRARY, HIPSIM_ARCH=gfx, HIPSIM_CHOICES=choices)
                self.assertEqual((done.stderr, done.stdout), ("", f"{gfx}: 5 x 24 outputs, all as in double\n"))

    def test_the_message_of_an_error_arrives(self) -> None:
        done = run(sys.executable, SOURCE / "tests/api/linear.py", LIBRARY, NIBBLEWAVE_HSACO="/no/such")
        self.assertIn("RuntimeError: no code objects for gfx1151: tried /no/such/gfx1151;", done.stderr)


class Model(Folder):
    """model.cpp: all linears of a packed checkpoint."""

    def packed(self, name: str) -> Path:
        maker = SOURCE / "tests/formats/make_checkpoints.py"
        subprocess.run([sys.executable, maker, self.folder, name], check=True, env=os.environ)
        packed = self.folder / f"{name}.safetensors"
        subprocess.run([BUILD / "bin/nw", "pack", self.folder / name, packed], check=True, capture_output=True)
        return packed

    def test_every_format(self) -> None:
        for name, rows in {
            "gptq_v1_sym": "1", "gptq_v2_asym": "4", "gptq_per_row": "8", "gptq_act_order": "2", "awq_g128": "5",
            "compressed_asym": "3", "compressed_per_row": "1", "moe_gptq": "2", "moe_compressed_stacked": "1",
        }.items():  # fmt: skip
            with self.subTest(name=name):
                packed = self.packed(name)
                for choices in ("", FAULTS):
                    done = run(BUILD / "bin/tests/api_model", packed, rows, HIPSIM_CHOICES=choices)
                    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                    self.assertRegex(done.stdout, r"^gfx1151: \d+ matrices, all as in double\n$")

    def test_scales_from_the_wrong_place_are_seen(self) -> None:
        packed = self.packed("awq_g128")
        self.assertEqual(run(BUILD / "bin/tests/api_model", packed).returncode, 0)
        layout = packed.with_suffix(".json")
        made = json.loads(layout.read_text())
        made["linears"][0]["s_stride"] += 2  # only the device's reading of it: the comparison packs rows tightly
        layout.write_text(json.dumps(made))
        done = run(BUILD / "bin/tests/api_model", packed)
        self.assertEqual(done.returncode, 1)
        self.assertIn("of what is allowed", done.stdout)
