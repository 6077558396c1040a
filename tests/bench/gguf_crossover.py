# SPDX-License-Identifier: MIT
"""nw_bench --suite gguf --table crossover: every method for a product, the fastest and the library's choice."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

BENCH = Path(os.environ["NW_BUILD_DIR"]) / "bin/nw_bench"
SHAPE = "q4_K 256x2048"


def bench(*arguments: str) -> subprocess.CompletedProcess:
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("HIPSIM_", "NIBBLEWAVE_"))}
    return subprocess.run([BENCH, "--suite", "gguf", "--table", "crossover", *arguments], capture_output=True, text=True, env=clean)


class Crossover(unittest.TestCase):
    def test_every_candidate_of_a_shape(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "rows.json"
            run = bench("--only", f"^{SHAPE}$", "--m", "1,8,9,17", "--device", "sim:gfx1201", "--json", str(file))
            self.assertEqual(run.returncode, 0, run.stderr)
            rows = json.loads(file.read_text())["rows"]
        self.assertTrue(all(row["table"] == "crossover" and row["gfx"] == "gfx1201" and row["time_us"] > 1 for row in rows))
        for m, scalar in [(1, "m1"), (8, "m8"), (9, "m8"), (17, "m8")]:
            candidates = {row["candidate"]: row for row in rows if row["m"] == m}
            self.assertEqual(candidates["scalar"]["kernel"], f"gguf_decode_q4_K_{scalar}")
            self.assertIn("mid_b16", candidates)
            self.assertEqual("mid_b32" in candidates, m > 16)
            fastest = [row for row in candidates.values() if row["fastest"]]
            self.assertEqual([row["time_us"] for row in fastest], [min(row["time_us"] for row in candidates.values())])
            self.assertEqual(sum(row["chosen"] for row in candidates.values()), 1)
        one, two = (next(row["time_us"] for row in rows if (row["m"], row["candidate"]) == (m, "scalar")) for m in (8, 9))
        self.assertGreater(two, 1.3 * one)  # weights are read twice
        for text in (f"\n{SHAPE}\n", "scalar", "fastest", "Trees of 9 to 23 rows, time of scalar by that of the fastest: m9 "):
            self.assertIn(text, run.stdout)

    def test_a_shape_that_there_is_not(self) -> None:
        run = bench("--only", "nothing")
        self.assertEqual((run.returncode, run.stdout), (2, ""))
        self.assertIn("--only nothing: no shape has such a name; q4_K 4096x4096 is one", run.stderr)


if __name__ == "__main__":
    unittest.main()
