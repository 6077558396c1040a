# SPDX-License-Identifier: MIT
"""What is claimed of the kernels: README's table as measured now, and limits that may not be passed."""

from __future__ import annotations

import os
import unittest
from pathlib import Path

import numbers_table as numbers

README = (Path(os.environ["NW_SOURCE_DIR"]) / "README.md").read_text()
# VALU slots per 8 weights and lane, whole kernel, 4096 x 4096, groups of 128.
LIMITS = {("f16", 1): 9.5, ("f16", 4): 17, ("bf16", 1): 11, ("bf16", 4): 19}


class Numbers(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.rows = numbers.measure(Path(os.environ["NW_BUILD_DIR"]))

    def test_readme_shows_what_is_measured(self) -> None:
        for line in numbers.table(self.rows):
            self.assertIn(line + "\n", README)

    def test_slots(self) -> None:
        chosen = {(r["dtype"], r["m"]): r["valu_slots_per_8w"] for r in self.rows if not r["reference"]}
        self.assertEqual(chosen.keys(), LIMITS.keys())
        for key, limit in LIMITS.items():
            self.assertLessEqual(chosen[key], limit, key)

    def test_what_is_chosen_needs_the_fewest_slots(self) -> None:
        for row in (r for r in self.rows if r["reference"]):
            chosen = next(r for r in self.rows if not r["reference"] and (r["dtype"], r["m"]) == (row["dtype"], row["m"]))
            self.assertLess(chosen["valu_slots_per_8w"], row["valu_slots_per_8w"], row["kernel"])

    def test_errors_are_those_of_rounding(self) -> None:
        for row in self.rows:
            self.assertLess(row["max_err"], 1, row["kernel"])
