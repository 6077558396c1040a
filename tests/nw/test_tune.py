# SPDX-License-Identifier: MIT
"""nw tune: small shapes on the model, and its output file."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
import tomllib
import unittest
from pathlib import Path

from command import BUILD, nw

KERNELS = BUILD / "hsaco"
STEM = "decode_w4a16_f16_g128_m1_subnormal"
HEADER = "model,layer,N,K,count,kind,experts,topk\n"


class Table(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.shapes = self.folder / "shapes.csv"
        self.shapes.write_text(HEADER + "a,q,256,512,1,dense,,\na,o,256,512,1,dense,,\na,e,64,128,1,moe,8,2\n")
        self.table = self.folder / "gfx1151.toml"


class Tune(Table):
    """The candidates are two kernels of the build: the default, and an equivalent one."""

    def setUp(self) -> None:
        super().setUp()
        self.candidates = self.folder / "kernels"
        self.candidates.mkdir()
        rows = {row["symbol"]: row for row in json.loads((KERNELS / "manifest.json").read_text())["kernels"]
                if row["gfx"] == "gfx1151"}  # fmt: skip
        magic = rows[STEM.replace("subnormal", "magic")] | {"candidate": True, "reference": False}
        (self.candidates / "manifest.json").write_text(json.dumps({"kernels": [magic, rows[STEM]]}))
        (self.candidates / "gfx1151").symlink_to(KERNELS / "gfx1151")

    def tune(self, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        return nw("tune", "--gfx", "gfx1151", "--shapes", self.shapes, "--candidates", self.candidates, "--out", self.table,
                  "--all-rows", *arguments)

    def test_the_table(self) -> None:
        done = self.tune()
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"f16 g128 m1 +1 shapes, +\d change, 1\.\d+x over the default, at most ")
        (section,) = tomllib.loads(self.table.read_text())["tuned"]
        self.assertEqual({key: section[key] for key in ("family", "dtype", "group", "zeros", "m")},
                         {"family": "decode_w4a16", "dtype": "f16", "group": 128, "zeros": "", "m": 1})
        (row,) = section["shapes"]  # the same shape twice is one, experts are none
        self.assertEqual((row["n"], row["k"], row["by"]), (256, 512, "AMD Radeon 8060S (sim)"))
        self.assertEqual({row["kernel"], row["next"]}, {STEM, STEM.replace("subnormal", "magic")})
        self.assertLessEqual(row["us"], row["default_us"])
        self.assertGreater(row["us"], 1)
        first = self.table.read_bytes()
        self.assertEqual(self.tune().returncode, 0)
        self.assertEqual(self.table.read_bytes(), first)

    def test_a_part_leaves_the_other_rows(self) -> None:
        self.assertEqual(self.tune().returncode, 0)
        self.shapes.write_text(HEADER + "a,q,128,512,1,dense,,\n")
        self.assertEqual(self.tune().returncode, 0)
        (section,) = tomllib.loads(self.table.read_text())["tuned"]
        self.assertEqual([row["n"] for row in section["shapes"]], [128, 256])

    def test_rows_that_gain_nothing_are_left_out(self) -> None:
        """The two kernels' times differ by less than the model's mean error. Rows of another section stay."""
        other = '[[tuned]]\nfamily = "decode_w4a16"\ndtype = "f16"\ngroup = 32\nzeros = ""\nm = 1\nshapes = [\n  { n = 256, k = 512, kernel = "a", us = 1.00, next = "b", next_us = 1.00, default_us = 1.00, by = "x" },\n]\n'
        self.table.write_text(other)
        done = nw("tune", "--gfx", "gfx1151", "--shapes", self.shapes, "--candidates", self.candidates, "--out", self.table)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("1 shapes,   0 change, 1.000x over the default", done.stdout)
        self.assertEqual([section["group"] for section in tomllib.loads(self.table.read_text())["tuned"]], [32])
        self.table.unlink()
        for _ in range(2):  # a table without rows is one
            self.assertEqual(nw("tune", "--gfx", "gfx1151", "--shapes", self.shapes, "--candidates", self.candidates, "--out", self.table).returncode, 0)
            self.assertEqual(tomllib.loads(self.table.read_text()), {"tuned": []})

    def test_a_dry_run_times_nothing(self) -> None:
        done = self.tune("--dry-run")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stdout, f"f16 g128 m1 256x512: {STEM}, the default {STEM.replace('subnormal', 'magic')}\n"
                                      "2 products of a kernel and a shape\n")  # fmt: skip
        self.assertFalse(self.table.exists())

    def again(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return nw("tune", "--gfx", "gfx1151", "--candidates", self.candidates, "--out", self.table, "--all-rows", "--again",
                  *arguments)  # fmt: skip

    def test_again(self) -> None:
        done = self.again()
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("no row of decode_w4a16 for these options: leave out --again", done.stderr)
        self.assertEqual(self.tune().returncode, 0)
        right = self.table.read_text()
        (row,) = tomllib.loads(right)["tuned"][0]["shapes"]
        self.table.write_text(right.replace(f"us = {row['us']:.2f}", "us = 9.87", 1))
        done = self.again("--dry-run")
        self.assertIn("f16 g128 m1 256x512: ", done.stdout)
        done = self.again("--m", "2")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        done = self.again()
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.table.read_text(), right)

    def test_again_times_all_where_a_row_names_no_candidate(self) -> None:
        self.assertEqual(self.tune().returncode, 0)
        right = self.table.read_text()
        self.table.write_text(right.replace(STEM.replace("subnormal", "magic"), "old"))
        done = self.again()
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stderr, "old: a row has it, but it is no candidate here; the row's are all timed\n")
        self.assertEqual(self.table.read_text(), right)

    def test_nothing_to_choose_from(self) -> None:
        for arguments, text in ((["--m", "2"], "no candidates of decode_w4a16 on gfx1151"),
                                (["--only", "nothing"], "--only nothing: matches no candidate of gfx1151; there are decode_w4a16_")):
            done = self.tune(*arguments)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(text, done.stderr)
        shutil.rmtree(self.candidates)
        done = self.tune()
        self.assertEqual(done.returncode, 2)
        self.assertIn("no manifest.json there: build the candidates first, `cmake --build build --target candidates_gfx1151`",
                      done.stderr)

    def test_bad_files_are_named(self) -> None:
        for text, expect in [("tuned = 3", "the list tuned is missing"), ("[[tuned]", "line 1: "), ('[[tuned]]\nfamily = 3\n', "family is missing or has the wrong type")]:
            with self.subTest(text):
                self.table.write_text(text)
                done = self.tune()
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertIn(f"nw: {self.table}: ", done.stderr)
                self.assertIn(expect, done.stderr)
                self.assertEqual(self.table.read_text(), text)
        self.table.unlink()
        self.shapes.write_text("N,K\n")
        self.assertIn("shapes.csv:1: header must be", self.tune().stderr)
        (self.candidates / "manifest.json").write_text('{"kernels": [{}]}')
        self.assertIn("manifest.json: ", self.tune().stderr)

    def test_a_table_that_cannot_be_written_is_said_first(self) -> None:
        self.table = self.folder / "no/such/folder.toml"
        done = self.tune()
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("can't be written", done.stderr)

    def test_rows_that_the_family_has_no_kernels_for(self) -> None:
        for family, m in [("decode_w4a16", 9), ("prefill_w4a16", 8)]:
            done = self.tune("--family", family, "--m", str(m))
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(f"--m {m}: {family} has kernels for ", done.stderr)


class Tiles(Table):
    """Tiles of prefill_w4a16: all that are built, mid_w4a16's too."""

    def tune_tiles(self, m: int, *arguments: str) -> subprocess.CompletedProcess[str]:
        return nw("tune", "--gfx", "gfx1151", "--family", "prefill_w4a16", "--shapes", self.shapes, "--dtype", "f16", "--group",
                  "128", "--zeros", "eight", "--m", str(m), "--out", self.table, "--all-rows", *arguments)  # fmt: skip

    def test_the_tile_of_a_shape(self) -> None:
        done = self.tune_tiles(64)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"f16 g128 m64 +1 shapes, ")
        (section,) = tomllib.loads(self.table.read_text())["tuned"]
        self.assertEqual({key: section[key] for key in ("family", "dtype", "group", "zeros", "m")},
                         {"family": "prefill_w4a16", "dtype": "f16", "group": 128, "zeros": "", "m": 64})
        (row,) = section["shapes"]
        for key in ("kernel", "next"):
            self.assertRegex(row[key], r"^(mid|prefill)_w4a16_f16_g128_")
        self.assertLessEqual(row["us"], row["default_us"])

    def test_which_tiles(self) -> None:
        few, many = (self.tune_tiles(m, "--dry-run").stdout for m in (32, 512))
        self.assertRegex(few, r": mid_w4a16_f16_g128_\w+, the default ")
        self.assertRegex(many, r": prefill_w4a16_f16_g128_256x128, the default ")
        self.assertEqual(many.count(", the default"), 1)
        self.assertNotIn("mid_", many)  # it reads w for each 32 rows
        self.assertNotIn("256x128", few)  # 8 times the rows
        self.assertFalse(self.table.exists())


class Gguf(Table):
    """Methods for a GGUF product."""

    def tune_ways(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return nw("tune", "--gfx", "gfx1151", "--family", "gguf", "--shapes", self.shapes, "--out", self.table, "--all-rows", *arguments)

    def test_the_way_of_a_shape(self) -> None:
        self.table.write_text('[[tuned]]\nfamily = "decode_w4a16"\ndtype = "f16"\ngroup = 32\nzeros = "zp"\nm = 2\nshapes = []\n')
        done = self.tune_ways("--m", "1,9")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"q4_K m9 +1 shapes, ")
        one, nine = (s for s in tomllib.loads(self.table.read_text())["tuned"] if s["family"] == "gguf")
        self.assertEqual((set(one), one["type"], one["m"], nine["m"]), ({"family", "type", "m", "shapes"}, "q4_K", 1, 9))
        (row,) = nine["shapes"]
        self.assertEqual({row["kernel"], row["next"]}, {"gguf_mid_q4_K_b16", "gguf_decode_q4_K_m8"})
        self.assertLessEqual(row["us"], row["default_us"])
        first = self.table.read_bytes()
        self.assertEqual(self.tune_ways("--m", "9").returncode, 0)
        self.assertEqual(self.table.read_bytes(), first)  # the same time, the other rows stay

    def test_which_ways(self) -> None:
        done = self.tune_ways("--m", "17", "--type", "q4_K,q4_0", "--dry-run")
        self.assertIn("q4_K m17 256x512: gguf_mid_q4_K_b32, the default gguf_decode_q4_K_m8 gguf_mid_q4_K_b16\n", done.stdout)
        self.assertFalse(self.table.exists())

    def test_options_of_other_families(self) -> None:
        done = self.tune_ways("--only", "b16")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("not for family gguf, which times all strategies of the build", done.stderr)


if __name__ == "__main__":
    unittest.main()
