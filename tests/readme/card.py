# SPDX-License-Identifier: MIT
"""The tables of bench/card/README.md: measurements by how much they could move modelled times.

The moves are those of bench/data/moves.csv (bench/moves.py); values, ranges and words of `nw constants`; rows of `nw micro`.
"""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))
import moves  # noqa: E402

PARTS = moves.PARTS
LEAST = 0.5  # per cent
HEAD = [
    "| measurement of `nw micro` | constant | value, range | one row | 32 rows | 128 rows | meaning |",
    "|---|---|---|---|---|---|---|",
]


def key(part: str) -> str:
    return "card-" + part.replace(" ", "-")


def told(build: Path, part: str) -> dict[str, str]:
    """Constant -> the row that determines it, or the reason why none does."""
    said = subprocess.run([build / "bin/nw", "micro", "--constants", "--part", part], check=True, capture_output=True, text=True).stdout
    return {line.split()[0]: cell(line) for line in said.splitlines()[1:]}


def cell(line: str) -> str:
    row, why = line.partition(" <- ")[2], line.partition(" -- ")[2]
    return f"`{row}`" if row else f"none: {why}"


def value(constant: dict) -> str:
    unit = {"count": "", "kind": "", "ratio": "", "line": "B", "bytes": "B", "gb_per_s": "GB/s"}.get(constant["unit"], constant["unit"])
    return f"{constant['value']:g} ({constant['likely_low']:g} to {constant['likely_high']:g}) {unit}".strip()


def current(row: dict, constant: dict) -> bool:
    """Swept from today's value over today's range."""
    return all(row[a] == f"{constant[b]:g}" for a, b in (("value", "value"), ("low", "likely_low"), ("high", "likely_high")))


def most(row: dict) -> float:
    return max(abs(float(row[f"{name}_{end}"])) for name in moves.PRODUCTS for end in ("low", "high"))


def line(row: dict, constant: dict, measured: str) -> str:
    cells = [measured, f"`{constant['name']}`", value(constant)]
    for name in moves.PRODUCTS:
        ends = sorted(float(row[f"{name}_{end}"]) for end in ("low", "high"))
        cells.append(f"{ends[0]:+.1f} to {ends[1]:+.1f} %" if max(map(abs, ends)) >= LEAST else "")
    return "| " + " | ".join([*cells, constant["what"]]) + " |"


def listed(words: str, names: list[str]) -> list[str]:
    """By their first letter."""
    letters = itertools.groupby(sorted(names), key=lambda name: name[0])
    return ["", f"{words}:", "", *(f"- {', '.join(f'`{name}`' for name in each)}" for _, each in letters)] if names else []


def table(swept: list[dict], constants: list[dict], rows: dict[str, str]) -> list[str]:
    ranged = {c["name"]: c for c in constants if moves.swept(c)}
    valid = [r for r in swept if r["constant"] in ranged and current(r, ranged[r["constant"]])]
    moving = sorted((r for r in valid if most(r) >= LEAST), key=most, reverse=True)
    still = [r["constant"] for r in valid if most(r) < LEAST]
    between = [c for c in constants if c["likely_low"] != c["likely_high"] and c["name"] not in ranged]
    missing = sorted(ranged.keys() - {r["constant"] for r in valid})
    out = HEAD + [line(r, ranged[r["constant"]], rows[r["constant"]]) for r in moving]
    if between:
        out += ["", "Between kernels: each launch, node or copy of a program takes that long.", ""]
        out += ["| measurement of `nw micro` | constant | value, range | meaning |", "|---|---|---|---|"]
        out += [f"| {rows[c['name']]} | `{c['name']}` | {value(c)} | {c['what']} |" for c in between]
    return out + listed("Ranges that move none of the three by 0.5 %", still) + listed("Not swept yet", missing)


def lines_of(part: str) -> Callable[[Path], list[str]]:
    def lines(build: Path) -> list[str]:
        swept = [row for row in moves.read() if row["part"] == part]
        return table(swept, moves.constants(build, part)["constants"], told(build, part))

    return lines
