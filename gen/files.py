# SPDX-License-Identifier: MIT
"""Files of the build directory, and how a script that writes them ends."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path


def write_if_changed(path: Path, text: str) -> None:
    """Whole or not at all: a build may be killed."""
    if path.exists() and path.read_text() == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{os.getpid()}")
    part.write_text(text)
    part.replace(path)


def exit_code(name: str, work: Callable[[], object]) -> int:
    """Of a script: 1 where its work refuses what it read, which is said."""
    try:
        work()
    except ValueError as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 1
    return 0
