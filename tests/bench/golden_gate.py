# SPDX-License-Identifier: MIT
"""The catalogue is as good as bench/golden says: slots, registers, LDS, occupancy, modelled times. In the default tier on one
target of each series, in --all on every target."""

import os
import subprocess
import sys
import unittest
from pathlib import Path

BUILD = Path(os.environ["NW_BUILD_DIR"])
sys.path[:0] = [str(Path(__file__).parents[1] / "check")]

from thorough import thorough  # noqa: E402


class Golden(unittest.TestCase):
    def test_no_kernel_got_worse(self):
        devices = [["--device", f"sim:{gfx}"] for gfx in thorough(BUILD)] if os.environ.get("NW_TIER") != "all" else [[]]
        for device in devices:
            run = subprocess.run([BUILD / "bin/nw_bench", "--suite", "golden", *device], capture_output=True, text=True)
            print(run.stdout)
            self.assertEqual(run.returncode, 0, f"\n{run.stdout}{run.stderr}")
