# SPDX-License-Identifier: MIT
"""bench/models.py: models have the sizes that their files are known to have, and a row is what nw bench-model says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE, BUILD = Path(os.environ["NW_SOURCE_DIR"]), Path(os.environ["NW_BUILD_DIR"])
sys.path[:0] = [str(SOURCE / "bench")]

import models  # noqa: E402


class Models(unittest.TestCase):
    def test_files_are_as_long_as_those_that_people_load(self) -> None:
        gib = {("Llama-2-7B", "Q4_0"): 3.56, ("Llama-3.1-8B", "Q4_K_M"): 4.58, ("Qwen2.5-7B", "Q4_K_M"): 4.36}  # as llama-bench prints them
        for (name, file), size in gib.items():
            with self.subTest(name):
                tensors = models.MODELS[name].tensors(file)
                self.assertAlmostEqual(sum(models.size_of(kind, sizes) for _, kind, sizes in tensors) / 2**30, size, delta=0.006 * size)

    def test_every_published_row_has_a_model_and_a_part(self) -> None:
        rows = models.published()
        self.assertTrue(rows)
        for row in rows:
            self.assertIn(row["model"], models.MODELS)
            self.assertIn(row["part"], models.PARTS)
            self.assertLessEqual(float(row["low"]), float(row["high"]))
            self.assertTrue(row["source"])
            self.assertRegex(row["pass"], r"^(tg\d+|verify (9|23))$")  # that --verify has by default

    def test_a_draft_that_is_verified_stands_beside_cycles(self) -> None:
        """10 ms a pass equal 60 tokens a second with 0.6 tokens each; 5 accepted ones are 500 a second."""
        known = [{"pass": "verify 9", "backend": "HIP", "low": "60", "high": "60", "source": "somebody", "accepted": accepted} for accepted in ("", "5")]
        known.append(known[0] | {"pass": "tg64"})
        row = models.row_of("M F P", {"pass": "verify 9", "tokens": 9, "time_us": 10000, "tokens_per_s": 900}, known)
        plain, accepted = row["published"]
        self.assertAlmostEqual(plain["tokens_to_equal"], 0.6)
        self.assertNotIn("accepted", plain)
        self.assertAlmostEqual(accepted["tokens_per_s_by_pass"], 500)
        self.assertEqual((row["low"], row["high"]), (900, 900))
        self.assertIn("equalled by 0.60 tokens a pass; 5 were accepted, here 500 tokens/s", models.line(row))
        single = models.row_of("M F P", {"pass": "tg128", "tokens": 1, "time_us": 20000, "tokens_per_s": 50}, known)
        self.assertEqual([sorted(of) for of in single["published"]], [["backend", "high", "low", "source"]])

    def test_a_row_is_the_models_time_beside_what_is_published(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "rows.json")
            command = [sys.executable, SOURCE / "bench/models.py", "--build", BUILD, "--only", "Llama-2-7B", "--json", file]
            done = subprocess.run(command, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            [row] = json.loads(file.read_text())["rows"]
        self.assertEqual(row["name"], "Llama-2-7B Q4_0 7900 XTX tg128")
        self.assertTrue(row["low"] <= row["tokens_per_s"] <= row["high"])
        self.assertAlmostEqual(row["tokens_per_s"], 1e3 / row["ms"])
        weights = sum(models.size_of(kind, sizes) for name, kind, sizes in models.MODELS["Llama-2-7B"].tensors("Q4_0") if name != "token_embd.weight")
        self.assertGreater(row["ms"], weights / 960e9 * 1e3)  # its bus has 960 GB/s
        self.assertEqual([of["backend"] for of in row["published"]], ["HIP", "Vulkan"])
        self.assertIn("llama.cpp issue 20934", done.stdout)
        none = subprocess.run([*command[:4], "--only", "no such"], capture_output=True, text=True)
        self.assertEqual(none.returncode, 1)
        self.assertIn("--only no such: no model and part", none.stderr)


if __name__ == "__main__":
    unittest.main()
