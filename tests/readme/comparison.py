# SPDX-License-Identifier: MIT
"""README.md's comparison with published figures: the summary of bench/compare.py."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))
import compare  # noqa: E402


def lines(build: Path) -> list[str]:
    return compare.summary(compare.read())
