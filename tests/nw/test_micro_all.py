# SPDX-License-Identifier: MIT
"""nw micro --all: each instruction of a target has a row, its numbers agree with single measurements, and each says what it comes from."""

from __future__ import annotations

import json
import re
import tempfile
import unittest
from pathlib import Path

from command import SOURCE, nw
from test_annotate import Page
from test_micro_own import said, value

SOME = "^(v_add_f32|v_exp_f32|v_mul_lo_u32|v_fma_f64|v_dot2_f32_bf16|v_dot2_f32_f16|v_dual_add_f32|v_wmma_f32_16x16x16_f16|v_cmp_lt_f32|v_cmpx_lt_f32|s_add_u32|s_mov_b32|s_mul_i32|global_load_b32|ds_load_b32|s_endpgm|s_branch)$"  # fmt: skip


def table(gfx: str, only: str) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "table.json")
        done = nw("micro", "--all", "--device", f"sim:{gfx}", "--only", only, "--json", path)
        assert done.returncode == 0, done.stderr
        return json.loads(path.read_text())


class All(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.table = table("gfx1151", SOME)
        cls.rows = {row["mnemonic"]: row for row in cls.table["instructions"]}

    def test_as_single_measurements(self) -> None:
        for name in ("v_add_f32", "v_exp_f32", "v_dot2_f32_bf16", "v_wmma_f32_16x16x16_f16", "s_mul_i32"):
            with self.subTest(name):
                row = self.rows[name]
                own = said(row["line"])
                self.assertAlmostEqual(row["throughput"]["cycles"], value(own, "throughput"), delta=0.01)
                own = said(row["latency"]["chain"], "--latency")
                self.assertAlmostEqual(row["latency"]["cycles"], value(own, "latency"), delta=0.01)

    def test_every_number_has_evidence(self) -> None:
        constants = {c["name"]: c for c in self.table["constants"]}
        listed = json.loads(nw("constants", "--part", self.table["part"], "--json").stdout)["constants"]
        notes = {path.name[:5] for path in (SOURCE / "isa_notes").glob("T-*.md")}
        for row in self.rows.values():
            for number in ("latency", "throughput"):
                for evidence in row.get(number, {}).get("evidence", []):
                    with self.subTest(row["mnemonic"], number=number):
                        self.assertIn(evidence["note"], notes)
                        if "constant" in evidence:
                            own = next(c for c in listed if c["name"] == evidence["constant"])
                            self.assertEqual((evidence["value"], evidence["origin"]), (own["value"], own["origin"]))
                            self.assertIn(evidence["constant"], constants)

        def names(mnemonic: str, number: str) -> set[str]:
            return {e.get("constant", e.get("rule")) for e in self.rows[mnemonic][number]["evidence"]}

        self.assertEqual(names("v_add_f32", "throughput"), {"one a cycle"})
        self.assertEqual(names("v_add_f32", "latency"), {"valu_latency"})
        self.assertIn("trans_interval", names("v_exp_f32", "throughput"))
        self.assertIn("trans_latency", names("v_exp_f32", "latency"))
        self.assertIn("mul32_interval", names("v_mul_lo_u32", "throughput"))
        self.assertIn("wmma_f16_interval", names("v_wmma_f32_16x16x16_f16", "throughput"))
        self.assertIn("salu_mul_interval", names("s_mul_i32", "throughput"))
        self.assertIn("salu_latency", names("s_add_u32", "latency"))
        self.assertEqual(names("v_dual_add_f32", "latency"), {"vopd_latency"})  # by the same number as v_add_f32
        self.assertIn("dot_latency", names("v_dot2_f32_f16", "latency"))

    def test_units_and_what_collides(self) -> None:
        def collides(mnemonic: str) -> list[str]:
            return [pair["unit"] for pair in self.rows[mnemonic]["in_turn_with"] if pair["collides"]]

        self.assertEqual([self.rows[name]["unit"] for name in ("v_add_f32", "v_exp_f32", "v_wmma_f32_16x16x16_f16", "s_add_u32")],
                         ["VALU", "TRANS", "WMMA", "SALU"])  # fmt: skip
        self.assertEqual(collides("v_exp_f32"), ["TRANS"])
        self.assertIn("VALU", collides("v_wmma_f32_16x16x16_f16"))
        self.assertNotIn("SALU", collides("v_wmma_f32_16x16x16_f16"))

    def test_what_is_not_measured_says_why(self) -> None:
        for name, words in [("v_cmpx_lt_f32", "EXEC"), ("global_load_b32", "memory"), ("ds_load_b32", "memory"), ("s_branch", "branches")]:
            self.assertIn(words, self.rows[name]["not_measured"])
            self.assertNotIn("latency", self.rows[name])

    def test_every_series_and_every_instruction_has_a_row(self) -> None:
        for gfx in ("gfx1010", "gfx1030", "gfx1100", "gfx1201"):
            with self.subTest(gfx):
                listed = nw("isa", "--gfx", gfx).stdout.splitlines()[:-1]
                names = {line[:36].strip() for line in listed if re.match(r"v_(add|fma|exp|pk|dual)_|s_add", line)}
                rows = {row["mnemonic"]: row for row in table(gfx, "^(v_(add|fma|exp|pk|dual)_|s_add)")["instructions"]}
                self.assertEqual(set(rows), names)
                for name, row in rows.items():
                    self.assertIn("throughput", row, f"{name}: {row.get('not_measured')}")

    def test_text_fits_a_terminal(self) -> None:
        done = nw("micro", "--all", "--device", "sim:gfx1201", "--only", "^(v_add_f32|v_swmmac_.*fp8_bf8|v_exp_f32|global_load_b32)$")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("modelled (sim), not measured on a card", done.stdout)
        self.assertLessEqual(max(map(len, done.stdout.splitlines())), 100)
        self.assertRegex(done.stdout, r"(?m)^v_add_f32 +VALU +5\.00 +1\.00 .*T-050 fact/T-050 fact$")
        self.assertRegex(done.stdout, r"(?m)^not measured: +1  accesses memory")

    def test_page(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "page.html")
            done = nw("micro", "--all", "--device", "sim:gfx1151", "--only", SOME, "--html", path)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            text = path.read_text()
        page = Page(text.replace("<input ", "<meta "))  # a tag without an end
        self.assertNotRegex(text, r"https?:|@import|url\(")
        self.assertIn("prefers-color-scheme: dark", text)
        row = next(row for row in page.rows if row and row[0] == "v_exp_f32")
        self.assertEqual(row[1:4], ["TRANS", "9.00", "4.00"])
        targets = set(re.findall(r'id="([^"]+)"', text))
        self.assertLessEqual({link[1:] for link in page.links}, targets)

    def test_what_is_wrong_is_named(self) -> None:
        for arguments, words in [(["--all", "--only", "^nothing$"], "matches no instruction of gfx1151"), (["--html", "a.html"], "--all"),
                                 (["v_nop", "--all"], "excludes"), (["--all", "--html", "/no/folder/a.html"], "can't be written")]:  # fmt: skip
            device = ["--device", "sim:gfx1151"]
            done = nw("micro", *arguments, *device)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(words, done.stderr)
        done = nw("micro", "--all", "--device", "sim:gfx1151?profile=/no/file.json")
        self.assertEqual(done.returncode, 2)


if __name__ == "__main__":
    unittest.main()
