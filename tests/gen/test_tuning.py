# SPDX-License-Identifier: MIT
"""gen/tuning/<gfx>.toml: invalid tables are refused, and entries of valid ones can be built."""

from __future__ import annotations

import tempfile
import tomllib
import unittest
from pathlib import Path

from generator import ROOT, catalogue

import tuning

GFX = "gfx1151"
ALL = catalogue.catalogue(ROOT, [GFX])
STEM = "decode_w4a16_bf16_g128_m1_perm"
SHAPE = f"""{{ n = 64, k = 128, kernel = "{STEM}_w4", us = 1.0, next = "{STEM}", next_us = 1.1, default_us = 1.1, by = "x" }},
"""
SECTION = f"""
[[tuned]]
family = "decode_w4a16"
dtype = "bf16"
group = 128
zeros = ""
m = 1
shapes = [
{SHAPE}]
"""


class Tables(unittest.TestCase):
    def read(self, text: str, name: str = f"{GFX}.toml") -> list[tuning.Tuned]:
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, name).write_text(text)
            return tuning.read_all(Path(folder), ALL)

    def refused(self, expect: str, *change: str) -> None:
        text = SECTION.replace(*change) if change else SECTION
        self.assertNotEqual(text, SECTION)
        with self.assertRaisesRegex(ValueError, expect):
            self.read(text)

    def test_a_good_one_is_read(self) -> None:
        (row,) = self.read(SECTION)
        self.assertEqual((row.gfx, row.n, row.k, row.kernel, row.default_us), (GFX, 64, 128, STEM + "_w4", 1.1))

    def test_rows_come_sorted(self) -> None:
        rows = self.read(SECTION.replace(SHAPE, SHAPE.replace("n = 64", "n = 96") + SHAPE))
        self.assertEqual([row.n for row in rows], [64, 96])

    def test_a_table_of_a_gfx_that_is_not_built_is_not_read(self) -> None:
        self.assertEqual(self.read("nonsense", "gfx1100.toml"), [])

    def test_unknown_kernel(self) -> None:
        self.refused(f"64x128: asm has no {STEM}_w5 for {GFX}: tune again", "perm_w4", "perm_w5")
        self.refused(f"has no {STEM}_w7", f'next = "{STEM}"', f'next = "{STEM}_w7"')

    def test_a_kernel_for_other_products(self) -> None:
        self.refused("_m2_perm_w4 is not for such products", "_m1_perm_w4", "_m2_perm_w4")
        self.refused("_m1_f32 is not for such products", "perm_w4", "f32")  # a reference

    def test_tiles_are_for_any_number_of_rows(self) -> None:
        for m, tile in [(48, "mid_w4a16_bf16_g128_32x32"), (300, "prefill_w4a16_bf16_g128_256x128")]:
            text = SECTION.replace("decode_w4a16\"", "prefill_w4a16\"").replace("m = 1\n", f"m = {m}\n")
            (row,) = self.read(text.replace(STEM + "_w4", tile).replace(STEM, "prefill_w4a16_bf16_g128_128x128"))
            self.assertEqual((row.family, row.m, row.kernel), ("prefill_w4a16", m, tile))
            with self.assertRaisesRegex(ValueError, f"{tile} is not for such products"):
                self.read(SECTION.replace(STEM + "_w4", tile))

    def test_ways_to_gguf_products(self) -> None:
        shape = SHAPE.replace(f"{STEM}_w4", "gguf_mid_q4_K_b16").replace(STEM, "gguf_decode_q4_K_m8")
        text = f'[[tuned]]\nfamily = "gguf"\ntype = "q4_K"\nm = 12\nshapes = [\n{shape}]\n'
        (row,) = self.read(text)
        self.assertEqual((row.family, row.dtype, row.m, row.kernel), ("gguf", "q4_K", 12, "gguf_mid_q4_K_b16"))
        self.assertTrue(tuning.registry_row(row).startswith("NW_TUNED(gfx1151, gguf, 12, 64, 128, gguf_mid_q4_K_b16, "))
        (many,) = self.read(text.replace("m = 12", "m = 48").replace("gguf_mid_q4_K_b16", "gguf_prefill_q4_K_64x128"))
        self.assertEqual((many.m, many.kernel), (48, "gguf_prefill_q4_K_64x128"))
        for change in (("q4_K_m8", "q6_K_m8"), ("m = 12", "m = 7"), ("gguf_mid_q4_K_b16", STEM)):  # another type; more rows; no way
            with self.assertRaisesRegex(ValueError, "is not for such products"):
                self.read(text.replace(*change))
        with self.assertRaisesRegex(ValueError, "keys differ from the format"):
            self.read(text.replace("m = 12", 'm = 12\nzeros = ""'))

    def test_a_shape_twice(self) -> None:
        self.refused("64x128: is there twice", SHAPE, SHAPE + SHAPE)

    def test_keys(self) -> None:
        self.refused("colour", "m = 1\n", "m = 1\ncolour = 1\n")
        self.refused("next_us", "next_us = 1.1, ", "")
        self.refused("shapes", "shapes = [", "forms = [")
        self.refused("wild", "[[tuned]]", "wild = 1\n[[tuned]]")

    def test_times(self) -> None:
        self.refused("us = 0.0: a time is above 0", " us = 1.0", " us = 0.0")

    def test_no_toml_at_all(self) -> None:
        self.refused(f"{GFX}.toml: ", "]\n", "")


class Shipped(unittest.TestCase):
    def test_what_is_chosen_is_as_fast_as_the_default(self) -> None:
        for row in tuning.read_all(ROOT / "gen/tuning", ALL):
            self.assertLessEqual(row.us, row.default_us, row)

    def test_lines_are_in_order(self) -> None:
        for path in (ROOT / "gen/tuning").glob("*.toml"):
            for section in tomllib.loads(path.read_text())["tuned"]:
                at = [(shape["n"], shape["k"]) for shape in section["shapes"]]
                self.assertEqual(at, sorted(at), path.name)
