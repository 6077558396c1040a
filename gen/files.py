# SPDX-License-Identifier: MIT
"""Files of the build directory."""

from __future__ import annotations

import os
from pathlib import Path


def write_if_changed(path: Path, text: str) -> None:
    """Whole or not at all: a build may be killed."""
    if path.exists() and path.read_text() == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{os.getpid()}")
    part.write_text(text)
    part.replace(path)
