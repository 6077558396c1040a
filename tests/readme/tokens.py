# SPDX-License-Identifier: MIT
"""Whole tokens of models, in host/engines/ggml/README.md: bench/data/tokens.csv as a table."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))
import compare  # noqa: E402


def lines(build: Path) -> list[str]:
    rows = compare.data(compare.TOKENS)
    parts = list(dict.fromkeys(row["part"] for row in rows))
    out = [f"| tokens/s (GB/s of DRAM), sim | {' | '.join(parts)} |", "|---" * (1 + len(parts)) + "|"]
    for name in dict.fromkeys(f"{row['model']} {row['file']}" for row in rows):
        cells = {row["part"]: f"{1000 / float(row['ms']):.1f} ({float(row['mb']) / float(row['ms']):.0f})" for row in rows if name == f"{row['model']} {row['file']}"}
        out.append(f"| {name} | {' | '.join(cells.get(part, '') for part in parts)} |")
    return out
