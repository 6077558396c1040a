# SPDX-License-Identifier: MIT
"""A long launch is timed by a sample of its workgroups and iterations: at most 1 % from the time of all of them."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

BENCH = Path(os.environ["NW_BUILD_DIR"]) / "bin/nw_bench"


def launch(timing: str, folder: str) -> dict:
    """The counts of the suite's launch on a small part, which its workgroups fill several times."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("HIPSIM_", "NIBBLEWAVE_"))}
    stats, rows = Path(folder) / f"{timing}.stats.json", Path(folder) / f"{timing}.json"
    subprocess.run([BENCH, "--suite", "prefill", "--table", "published", "--device", "sim:gfx1103", "--m", "1024", "--only",
                    "^4096x4096 f16 sym", "--json", rows], check=True, stdout=subprocess.DEVNULL,
                   env=clean | {"HIPSIM_TIMING": timing, "HIPSIM_STATS": str(stats)})  # fmt: skip
    (row,) = json.loads(rows.read_text())["rows"]
    return json.loads(stats.read_text().splitlines()[-1]) | {"us": row["time_us"]}


class SampledTimes(unittest.TestCase):
    def test_a_prefill_kernel(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            sampled, exact = launch("on", folder), launch("exact", folder)
        self.assertGreater(sampled["sampling_error"], 0)
        self.assertEqual(exact["sampling_error"], 0)
        self.assertLess(abs(sampled["us"] / exact["us"] - 1), 0.01)


if __name__ == "__main__":
    unittest.main()
