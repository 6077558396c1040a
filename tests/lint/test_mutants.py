# SPDX-License-Identifier: MIT
"""Kernels with one wait, nop or barrier less: the lint or the checkers find at least 98 % of the harmful ones."""

from __future__ import annotations

import os
import sys
import unittest
from pathlib import Path

SOURCE = Path(os.environ["NW_SOURCE_DIR"])
BUILD = Path(os.environ["NW_BUILD_DIR"])
sys.path[:0] = [str(SOURCE / "tests/lint")]

import mutants  # noqa: E402

LEAST_PERCENT = 98
KERNELS, OF_EACH, RUN = 40, 10, 60  # of a gfx; mutants of each kernel; of them on the simulated GPU
# Least number of judged mutants, and of found ones, for each kind of wait, hazard and barrier.
FOUND_BY = {"s_waitcnt": "lint", "s_waitcnt_depctr": "lint", "s_wait_loadcnt": "lint", "s_wait_dscnt": "lint",
            "s_wait_kmcnt": "lint", "s_wait_alu": "lint", "s_barrier": "run",
            "s_barrier_signal": "run", "s_barrier_wait": "run"}  # fmt: skip


def some_kernels() -> list[Path]:
    """Computing kernels of the collection: a sample of each target's, by name."""
    files = []
    for gfx in ("gfx1100", "gfx1151", "gfx1201"):
        of_gfx = sorted(path for path in (BUILD / "hsaco" / gfx).glob("*.hsaco") if not path.stem.startswith("micro_"))
        files += of_gfx[:: max(1, len(of_gfx) // KERNELS)]
    return files


class Mutants(unittest.TestCase):
    def test_what_matters_is_found(self) -> None:
        result = mutants.judge(BUILD, some_kernels(), OF_EACH, seed=5, most_runs=RUN)
        print(result.table())
        survivors = [m.name for m in result.mutants if m.verdict == "survive"]
        self.assertGreaterEqual(result.found_percent, LEAST_PERCENT, "\n".join(survivors))
        for mnemonic, verdict in FOUND_BY.items():
            self.assertGreater(result.count(verdict, mnemonic), 0, mnemonic)
        self.assertGreater(result.count("lint"), 500)
        self.assertGreater(result.count("run"), 20)


if __name__ == "__main__":
    unittest.main()
