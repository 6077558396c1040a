# SPDX-License-Identifier: MIT
"""Figures of a bench against tests/bench/thresholds.toml.

    python3 tests/bench/thresholds.py FILE...   # what nw_bench --json FILE wrote: exit code 1 where one is worse
"""

from __future__ import annotations

import json
import math
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

Row = dict
FILE = Path(__file__).with_name("thresholds.toml")
BYTES_OF_256 = {"q4_0": 144, "q8_0": 272, "q4_K": 144, "q6_K": 210}


@dataclass(frozen=True)
class Threshold:
    what: str
    suite: str
    figure: str
    why: str
    at_least: float | None = None
    at_most: float | None = None
    of: str = "worst"
    where: dict = field(default_factory=dict)
    above: dict = field(default_factory=dict)
    minus: dict = field(default_factory=dict)
    held: dict = field(default_factory=dict)
    has: str = ""
    weights_mib: float = 0
    gfx: tuple = ()
    not_gfx: tuple = ()
    types: tuple = ()

    def __post_init__(self) -> None:
        if (self.at_least is None) == (self.at_most is None) or self.of not in ("worst", "mean") or not self.why:
            raise ValueError(f"{self.what}: needs at_least or at_most, of = worst or mean, and why")
        for name, held in self.held.items():
            if self.reaches(held, self.limit):
                raise ValueError(f"{self.what}: held {held} of {name} reaches the limit {self.limit}: leave it out")

    @property
    def limit(self) -> float:
        return self.at_most if self.at_least is None else self.at_least

    def reaches(self, value: float, limit: float) -> bool:
        return value <= limit if self.at_least is None else value >= limit

    def takes(self, row: Row) -> bool:
        """Whether the figure of this row counts."""
        fits = all(row.get(key) in (value if isinstance(value, list) else [value]) for key, value in self.where.items())
        return (
            fits
            and (not self.gfx or row.get("gfx") in self.gfx)
            and row.get("gfx") not in self.not_gfx
            and (not self.has or self.has in row)
            and all(row.get(key, 0) > value for key, value in self.above.items())
            and (not self.weights_mib or weight_bytes(row) >= self.weights_mib * 2**20)
            and self.measured(row.get(self.figure))
        )

    def measured(self, value: float | None) -> bool:
        """A rate of 0 was not; an error of 0 was."""
        return value is not None and (value > 0 or (value == 0 and self.at_least is None and self.of != "mean"))


@dataclass(frozen=True)
class Finding:
    what: str
    value: float
    limit: float
    bound: float  # the limit, or the value to keep
    good: bool
    where: str

    def __str__(self) -> str:
        state = "worse than is held" if not self.good else "reached" if self.bound == self.limit else f"not reached, {self.bound:g} is held"
        return f"{self.what:<70} limit {self.limit:>7.4g}, measured {self.value:>9.4f}: {state} {self.where}"


def weight_bytes(row: Row) -> float:
    per_256 = BYTES_OF_256[row["type"]] if "type" in row else 128
    return row["n"] * row["k"] / 256 * per_256


def thresholds() -> list[Threshold]:
    rows = tomllib.loads(FILE.read_text())["threshold"]
    return [Threshold(**{key: tuple(value) if isinstance(value, list) else value for key, value in row.items()}) for row in rows]


def added(threshold: Threshold, rows: list[Row], row: Row) -> float | None:
    """The figure of the row less that of the one which differs in `minus` alone."""
    if not threshold.minus:
        return row[threshold.figure]
    same = ("gfx", "group", "m", "n", "k", "dtype", "table")
    others = [o for o in rows if all(o.get(k) == row.get(k) for k in same) and all(o.get(k) == v for k, v in threshold.minus.items())]
    return row[threshold.figure] - others[0][threshold.figure] if others else None


def judge(threshold: Threshold, rows: list[Row]) -> Iterator[Finding]:
    """A finding for each gfx, and type where these are judged alone."""
    kinds: dict[tuple, list[tuple[float, Row]]] = {}
    for row in rows:
        if not threshold.takes(row) or (threshold.types and row.get("type") not in threshold.types):
            continue
        value = added(threshold, rows, row)
        if threshold.measured(value):
            kind = (row.get("gfx", ""), row["type"]) if threshold.types else (row.get("gfx", ""),)
            kinds.setdefault(kind, []).append((value, row))
    for kind, found in kinds.items():
        name = " ".join(kind)
        worst, row = (max if threshold.at_least is None else min)(found, key=lambda pair: pair[0])
        if threshold.of == "mean":
            value = math.exp(sum(math.log(value) for value, _ in found) / len(found))
        else:
            value = worst
        bound = threshold.held.get(name, threshold.limit)
        where = "" if threshold.of == "mean" else " ".join(str(row[k]) for k in ("layer", "k", "n", "dtype", "type", "zp", "m", "name", "check") if row.get(k))
        slack = abs(bound) * (1e-4 if bound != threshold.limit else 0)  # digits of the file
        good = threshold.reaches(value, bound + slack if threshold.at_least is None else bound - slack)
        yield Finding(f"{threshold.suite}, {name}: {threshold.what}", value, threshold.limit, bound, good, where)


def findings(run: dict) -> list[Finding]:
    return [f for t in thresholds() if t.suite == run["suite"] for f in judge(t, run["rows"])]


def main(paths: list[str]) -> int:
    found = [f for path in paths for f in findings(json.loads(Path(path).read_text()))]
    for finding in found:
        print(finding)
    return 0 if all(f.good for f in found) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
