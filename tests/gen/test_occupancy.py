# SPDX-License-Identifier: MIT
"""gen/occupancy.py against the notes."""

from __future__ import annotations

import unittest

from generator import ROOT, occupancy, targets

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
