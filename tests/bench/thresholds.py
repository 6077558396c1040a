# SPDX-License-Identifier: MIT
"""Figures of a bench against tests/bench/thresholds.toml.

    python3 tests/bench/thresholds.py FILE...   # what nw_bench --json FILE wrote: exit code 1 where one is worse

As a test: small runs, and that a worse figure is seen.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
import tomllib
import unittest
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


class Thresholds(unittest.TestCase):
    def run_bench(self, *arguments: str) -> dict:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "rows.json"
            bench = Path(os.environ["NW_BUILD_DIR"]) / "bin/nw_bench"
            run = subprocess.run([bench, *arguments, "--json", str(file)], capture_output=True, text=True)
            self.assertEqual(run.returncode, 0, run.stderr)
            for word in ("NOT MET", "goal", "met "):
                self.assertNotIn(word, run.stdout)
            return json.loads(file.read_text())

    def holds(self, run: dict, *whats: str) -> None:
        found = findings(run)
        for what in whats:
            self.assertTrue(any(what in f.what for f in found), f"{what}: nothing was measured")
        self.assertEqual([str(f) for f in found if not f.good], [])

    def test_published_times(self) -> None:
        run = self.run_bench("--suite", "decode", "--table", "published", "--only", "^(2048x2048 .* m1|16384x2048 g128 f16 sym m1|16384x2048 .* m4)$")
        self.holds(run, "speedup of every row", "all rows", "above their line", "every row that fell back")

    def test_layers(self) -> None:
        run = self.run_bench(
            "--suite", "decode", "--table", "shapes", "--model", "Gemma-2B", "--dtype", "f16", "--m", "1,2", "--only", "x2048 "
        )  # fmt: skip
        self.holds(run, "batch 2 by batch 1", "sustained bandwidth", "2048x2048", "zero points add")

    def test_mid(self) -> None:
        run = self.run_bench("--suite", "mid", "--m", "1,16", "--dtype", "f16", "--only", "4096x4096 .* sym")
        self.holds(run, "16 rows by one")

    def test_attention(self) -> None:
        run = self.run_bench("--suite", "attention", "--dtype", "f16", "--only", "^decode 32768 d128 f16 kv (same|q8_0) rows 1$")
        self.holds(run, "a row against 32768 keys")
        run = self.run_bench("--suite", "attention", "--dtype", "f16", "--device", "sim:gfx1201", "--only", "^8192 d64 f16 100%")
        self.holds(run, "dense forward, d = 64")

    def test_traces(self) -> None:
        run = self.run_bench("--suite", "validate", "--only", "^(traces|dispatch) ")
        self.holds(run, "ALU intervals", "memory issue", "a loop's period", "start of a wave")

    def test_a_worse_figure_is_seen(self) -> None:
        row = {"table": "shapes", "gfx": "gfx1151", "m": 2, "n": 64, "k": 64, "of_m1": 1.03}
        run = {"suite": "decode", "rows": [row]}
        self.assertEqual([f.good for f in findings(run)], [True])
        row["of_m1"] = 1.0301
        self.assertEqual([f.good for f in findings(run)], [False])
        (held,) = (t for t in thresholds() if t.what.startswith("% of DRAM's"))
        row = {"table": "shapes", "gfx": "gfx1151", "m": 1, "n": 4096, "k": 8192, "pct_of_bound": held.held["gfx1151"]}
        self.assertEqual([f.good for f in judge(held, [row])], [True])
        self.assertEqual([f.good for f in judge(held, [row | {"pct_of_bound": row["pct_of_bound"] - 0.1}])], [False])
        self.assertEqual([f.good for f in judge(held, [row | {"gfx": "gfx1100"}])], [False])  # where nothing is held the limit does
        self.assertEqual(list(judge(held, [row | {"n": 1024}])), [])  # less than 8 MiB

    def test_all_are_well_formed(self) -> None:
        self.assertGreater(len(thresholds()), 20)
        with self.assertRaises(ValueError):
            Threshold("both", "decode", "of_m1", "why", at_least=1, at_most=2)
        with self.assertRaises(ValueError):
            Threshold("a limit that is reached is not held", "decode", "of_m1", "why", at_most=2, held={"gfx1151": 1})
        with self.assertRaises(TypeError):
            Threshold(what="an unknown key", suite="decode", figure="of_m1", why="why", at_most=2, unknown=1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
