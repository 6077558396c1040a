# SPDX-License-Identifier: MIT
"""Writing files of the build directory, and exit codes of the scripts that do."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path


def write_if_changed(path: Path, text: str) -> None:
    """Writes to a temporary file and renames it: a build may be killed."""
    if path.exists() and path.read_text() == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{os.getpid()}")
    part.write_text(text)
    part.replace(path)


def exit_code(name: str, work: Callable[[], object]) -> int:
    """Runs work(); prints a ValueError and returns exit code 1."""
    try:
        work()
    except ValueError as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 1
    return 0
