# SPDX-License-Identifier: MIT
"""The catalogue is as good as bench/golden says: slots, registers, LDS, occupancy, modelled times."""

import os
import subprocess
import unittest
from pathlib import Path


class Golden(unittest.TestCase):
    def test_no_kernel_got_worse(self):
        build = Path(os.environ["NW_BUILD_DIR"])
        run = subprocess.run([build / "bin/nw_bench", "--suite", "golden"], capture_output=True, text=True)
        print(run.stdout)
        self.assertEqual(run.returncode, 0, f"\n{run.stdout}{run.stderr}")
