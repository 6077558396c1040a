# SPDX-License-Identifier: MIT
"""thresholds.py on small runs, and that a worse figure is seen."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import pytest
from thresholds import Threshold, findings, judge, thresholds


class Thresholds(unittest.TestCase):
    def run_bench(self, *arguments: str) -> dict:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "rows.json"
            bench = Path(os.environ["NW_BUILD_DIR"]) / "bin/nw_bench"
            run = subprocess.run([bench, *arguments, "--json", str(file)], capture_output=True, text=True)
            self.assertEqual(run.returncode, 0, run.stderr)
            for word in ("NOT MET", "goal", "met "):
                self.assertNotIn(word, run.stdout)
            return json.loads(file.read_text())

    def holds(self, run: dict, *whats: str) -> None:
        found = findings(run)
        for what in whats:
            self.assertTrue(any(what in f.what for f in found), f"{what}: nothing was measured")
        self.assertEqual([str(f) for f in found if not f.good], [])

    def test_published_times(self) -> None:
        run = self.run_bench("--suite", "decode", "--table", "published", "--only", "^(2048x2048 .* m1|16384x2048 g128 f16 sym m1|16384x2048 .* m4)$")
        self.holds(run, "speedup of every row", "all rows", "above their line", "every row that fell back")

    @pytest.mark.all_tier
    def test_layers(self) -> None:
        run = self.run_bench(
            "--suite", "decode", "--table", "shapes", "--model", "Gemma-2B", "--dtype", "f16", "--m", "1,2", "--only", "x2048 "
        )  # fmt: skip
        self.holds(run, "batch 2 by batch 1", "sustained bandwidth", "2048x2048", "zero points add")

    @pytest.mark.all_tier
    def test_mid(self) -> None:
        run = self.run_bench("--suite", "mid", "--m", "1,16", "--dtype", "f16", "--only", "4096x4096 .* sym")
        self.holds(run, "16 rows by one")

    @pytest.mark.all_tier
    def test_attention(self) -> None:
        run = self.run_bench("--suite", "attention", "--dtype", "f16", "--only", "^decode 32768 d128 f16 kv (same|q8_0) rows 1$")
        self.holds(run, "a row against 32768 keys")
        run = self.run_bench("--suite", "attention", "--dtype", "f16", "--device", "sim:gfx1201", "--only", "^8192 d64 f16 100%")
        self.holds(run, "dense forward, d = 64")

    def test_traces(self) -> None:
        run = self.run_bench("--suite", "validate", "--only", "^(traces|dispatch) ")
        self.holds(run, "ALU intervals", "memory issue", "a loop's period", "start of a wave")

    def test_a_worse_figure_is_seen(self) -> None:
        row = {"table": "shapes", "gfx": "gfx1151", "m": 2, "n": 64, "k": 64, "of_m1": 1.03}
        run = {"suite": "decode", "rows": [row]}
        self.assertEqual([f.good for f in findings(run)], [True])
        row["of_m1"] = 1.0301
        self.assertEqual([f.good for f in findings(run)], [False])
        (held,) = (t for t in thresholds() if t.what.startswith("% of DRAM's"))
        row = {"table": "shapes", "gfx": "gfx1151", "m": 1, "n": 4096, "k": 8192, "pct_of_bound": held.held["gfx1151"]}
        self.assertEqual([f.good for f in judge(held, [row])], [True])
        self.assertEqual([f.good for f in judge(held, [row | {"pct_of_bound": row["pct_of_bound"] - 0.1}])], [False])
        self.assertEqual([f.good for f in judge(held, [row | {"gfx": "gfx1100"}])], [False])  # where nothing is held the limit does
        self.assertEqual(list(judge(held, [row | {"n": 1024}])), [])  # less than 8 MiB

    def test_all_are_well_formed(self) -> None:
        self.assertGreater(len(thresholds()), 20)
        with self.assertRaises(ValueError):
            Threshold("both", "decode", "of_m1", "why", at_least=1, at_most=2)
        with self.assertRaises(ValueError):
            Threshold("a limit that is reached is not held", "decode", "of_m1", "why", at_most=2, held={"gfx1151": 1})
        with self.assertRaises(TypeError):
            Threshold(what="an unknown key", suite="decode", figure="of_m1", why="why", at_most=2, unknown=1)


if __name__ == "__main__":
    unittest.main()
