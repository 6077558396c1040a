# SPDX-License-Identifier: MIT
"""gen/occupancy.py against the notes."""

from __future__ import annotations

import itertools
import subprocess
import unittest

from generator import BUILD, ROOT, occupancy, targets

ARCHES = targets.arches_of(ROOT / "gen/targets.toml")


class Occupancy(unittest.TestCase):
    def test_by_vgprs(self) -> None:  # note T-002
        for gfx, table in {
            "gfx1151": {96: 16, 97: 12, 120: 12, 144: 10, 168: 9, 192: 8, 256: 5},
            "gfx1103": {64: 16, 65: 12, 80: 12, 96: 10, 128: 8, 256: 4},
        }.items():
            for vgprs, waves in table.items():
                self.assertEqual(occupancy.waves_per_simd(ARCHES[gfx], vgprs, 0, 1), waves, (gfx, vgprs))

    def test_by_lds(self) -> None:  # note T-003: 128 KiB of four SIMDs, blocks of 1 KiB
        self.assertEqual(occupancy.waves_per_simd(ARCHES["gfx1151"], 32, 16384, 8), 16)
        self.assertEqual(occupancy.waves_per_simd(ARCHES["gfx1151"], 32, 16385, 8), 14)
        self.assertEqual(occupancy.waves_per_simd(ARCHES["gfx1151"], 32, 65536, 8), 4)

    def test_the_library_has_the_same_formula(self) -> None:
        grid = list(itertools.product(range(1, 257), (0, 1, 1024, 1025, 16384, 16385, 40960, 65536, 65537), (1, 2, 3, 4, 8, 12, 16, 32)))
        said = subprocess.run(
            [BUILD / "bin/tests/occupancy_table"], check=True, capture_output=True, text=True,
            input="".join(f"{vgprs} {lds} {waves}\n" for vgprs, lds, waves in grid),
        ).stdout.splitlines()
        expected = [
            f"{gfx} {vgprs} {lds} {waves} {occupancy.waves_per_simd(arch, vgprs, lds, waves)}"
            for vgprs, lds, waves in grid for gfx, arch in ARCHES.items()
        ]  # fmt: skip
        self.assertEqual(len(said), len(expected))
        self.assertEqual([pair for pair in zip(said, expected) if pair[0] != pair[1]][:10], [])
