# SPDX-License-Identifier: MIT
"""Helpers shared by the Python tests of the C API."""

from __future__ import annotations

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(os.environ["NW_SOURCE_DIR"])
BUILD = Path(os.environ["NW_BUILD_DIR"])
LIBRARY = BUILD / "lib/libnibblewave.so"
SANITIZED = os.environ.get("NW_SANITIZE") == "ON"
SIMULATED = BUILD / "hipsim/libamdhip64.so"


def run(*command: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """On the simulated GPU, unless LD_LIBRARY_PATH is given."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("HIPSIM_", "NIBBLEWAVE_"))}
    environment |= {"LD_LIBRARY_PATH": f"{BUILD}/hipsim:{BUILD}/lib"} | variables
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)


class Folder(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name).resolve()
