# SPDX-License-Identifier: MIT
"""Slots of the kernels: the table of bench/README.md as measured now, and limits that must hold."""

from __future__ import annotations

import json
import os
import subprocess
import unittest
from pathlib import Path

import generated
import slots as table

# VALU slots per 8 weights and lane, whole kernel, 4096 x 4096, groups of 128.
LIMITS = {("f16", 1): 9.5, ("f16", 4): 17, ("f16", 8): 29, ("bf16", 1): 11, ("bf16", 4): 19, ("bf16", 8): 29}
ASYMMETRIC_MORE = 1  # slots that zero points may cost at M = 1


def slots(symbol: str, zeros: list[str]) -> float:
    """Slots of the same launch by nw; `zeros`: arguments z and z_stride."""
    k = n = 4096
    arguments = [f"buf:{2 * k}", f"buf:{n * k // 2}", f"buf:{n * k // 64}", "null", f"buf:{2 * n}", f"u32:{n}", f"u32:{k}",
                 f"u32:{k // 2}", f"u32:{k // 64}", *zeros, f"u32:{n // 32}"]
    build = Path(os.environ["NW_BUILD_DIR"])
    command = [build / "bin/nw", "time", build / f"hsaco/gfx1151/{symbol}.hsaco", "--grid", str(n // 32), "--stats", "--json"]
    said = subprocess.run([*command, "--args", *arguments], check=True, capture_output=True, text=True).stdout
    counts = json.loads(said)["insts"]
    return (counts["valu"] + counts["vopd"]) / (n * k / 8 / 32)


class Asymmetric(unittest.TestCase):
    def test_zero_points_cost_a_slot_at_most(self) -> None:
        packed, typed = ["buf:65536", "u32:128"], ["buf:262144", "u32:64"]
        for dtype, way in (("bf16", "perm"), ("f16", "subnormal")):
            symmetric = slots(f"decode_w4a16_{dtype}_g128_m1_{way}", ["null", "u32:0"])
            for form, zeros in (("zp", packed), ("zt", typed)):
                with self.subTest(dtype=dtype, form=form):
                    asymmetric = slots(f"decode_w4a16_{dtype}_g128_{form}_m1_{way}", zeros)
                    self.assertLessEqual(asymmetric, symmetric + ASYMMETRIC_MORE)


class Numbers(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.rows = table.measure(Path(os.environ["NW_BUILD_DIR"]))

    def test_the_table_is_what_is_measured(self) -> None:
        self.assertEqual(generated.part("slots"), table.table(self.rows))

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
