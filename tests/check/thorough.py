# SPDX-License-Identifier: MIT
"""Targets that the default tier checks in full: one of each series, as the build chose them."""

from __future__ import annotations

import os
from pathlib import Path


def thorough(build: Path) -> list[str]:
    return (build / "thorough.txt").read_text().strip().split(",")


def kernels_of_tier(build: Path, folder: str, suffix: str) -> list[Path]:
    """Files of kernels (folder asm or hsaco) for those targets; in --all for every target."""
    every = os.environ.get("NW_TIER") == "all"
    return sorted(file for gfx in (["*"] if every else thorough(build)) for file in (build / folder).glob(f"{gfx}/*{suffix}"))
