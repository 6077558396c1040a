# SPDX-License-Identifier: MIT
"""The repository under test: its root and the files that git tracks."""

from __future__ import annotations

import os
import subprocess
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def tracked(root: Path = ROOT) -> list[Path]:
    """Tracked files, relative to the root. Without git's data there is nothing to judge."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    listing = subprocess.run(
        ["git", "-c", "safe.directory=*", "-C", root, "ls-files", "-z"],
        env=environment,
        capture_output=True,
        text=True,
    )
    if listing.returncode != 0:
        raise unittest.SkipTest(f"not a git checkout: {root}")
    names = [Path(name) for name in listing.stdout.split("\0") if name]
    return [name for name in names if (root / name).is_file()]
