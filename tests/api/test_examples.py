# SPDX-License-Identifier: MIT
"""The examples of the C API, run on the simulated GPU; each compares its results with fp64."""

from __future__ import annotations

import os
import subprocess
import unittest
from pathlib import Path

BUILD = Path(os.environ["NW_BUILD_DIR"])
TARGETS = sorted(p.name for p in (BUILD / "hsaco").iterdir() if p.is_dir())


def run(*command: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("HIPSIM_", "NIBBLEWAVE_"))}
    environment |= {"LD_LIBRARY_PATH": f"{BUILD}/hipsim:{BUILD}/lib"} | variables
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)


class Linear(unittest.TestCase):
    """linear.c: one product."""

    program = BUILD / "bin/tests/api_linear"

    def test_on_every_target(self) -> None:
        for gfx in TARGETS:
            with self.subTest(gfx=gfx):
                done = run(self.program, HIPSIM_ARCH=gfx)
                self.assertEqual((done.returncode, done.stdout), (0, f"{gfx}: 2 x 100 outputs, all as in double\n"))

    def test_missing_kernels_are_named(self) -> None:
        done = run(self.program, NIBBLEWAVE_HSACO="/no/such/folder")
        self.assertEqual(done.returncode, 1)
        self.assertIn("NW_NO_KERNEL_FILES: no code objects for gfx1151: tried /no/such/folder/gfx1151;", done.stdout)
