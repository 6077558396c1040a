# SPDX-License-Identifier: MIT
"""A suite of nw_bench, run by a test."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

BENCH = Path(os.environ["NW_BUILD_DIR"]) / "bin/nw_bench"


def bench(*arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run([BENCH, *arguments], capture_output=True, text=True)


class Suite(unittest.TestCase):
    def rows(self, *arguments: str) -> tuple[list[dict], str]:
        """The rows of --json, and the printed text."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "rows.json"
            run = bench(*arguments, "--json", str(file))
            self.assertEqual(run.returncode, 0, run.stderr)
            return json.loads(file.read_text())["rows"], run.stdout
