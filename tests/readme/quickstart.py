# SPDX-License-Identifier: MIT
"""The beginning of ./bench/run's output, as README.md shows it."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROWS = 4  # of the table, its head among them


def lines(build: Path) -> list[str]:
    """The title, the first rows, and the summary; the legend is omitted."""
    command = [build / "bin/nw_bench", "--device", "sim:gfx1151"]
    said = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout.splitlines()
    head = next(i for i, text in enumerate(said) if text.startswith("layer "))
    shown = [*said[:2], "...", *said[head : head + ROWS], "...", said[-1]]
    return ["```text", *(text.rstrip() for text in shown), "```"]
