# SPDX-License-Identifier: MIT
"""What ./bench/run prints, as README.md shows it: the beginning."""

from __future__ import annotations

import subprocess
from pathlib import Path

MOST = 9  # lines


def lines(build: Path) -> list[str]:
    command = [build / "bin/nw_bench", "--device", "sim:gfx1151"]
    said = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout.splitlines()
    return ["```text", *[text.rstrip() for text in said[:MOST]], *["..."][: len(said) > MOST], "```"]
