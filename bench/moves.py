# SPDX-License-Identifier: MIT
"""Sensitivity of modelled times to each constant of the model, at the ends of its likely range.

    python3 bench/moves.py [--build DIR] [--part NAME...] [--only REGEX]    renews bench/data/moves.csv, or rows of it

A row: part, constant, value, low, high, and the change of each product's time at low and at high, in per cent.
The products: one row (decode), 32 rows (WMMA at memory's speed), 128 rows (WMMA). Constants of launches and copies, in us,
are left out: each adds itself to a time. tests/readme/card.py makes bench/card/README.md from the rows.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "bench/data/moves.csv"
PARTS = ["8060S", "7900 XTX", "9070 XT"]
PRODUCTS = {
    "decode": "--suite layer --m 1 --dtype f16 --layer o",
    "rows32": "--suite mid --m 32 --dtype f16 --only '2560x3840 .*f16 sym'",
    "rows128": "--suite prefill --m 128 --dtype f16 --only '2560x3840 .* sym'",
}
COLUMNS = ["part", "constant", "value", "low", "high", *(f"{name}_{end}" for name in PRODUCTS for end in ("low", "high"))]


def constants(build: Path, part: str) -> dict:
    """All of a part, by `nw constants`."""
    command = [build / "bin/nw", "constants", "--part", part, "--json"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def time_us(build: Path, gfx: str, part: str, product: str, change: dict) -> float:
    """The product's modelled time under a profile with the change."""
    with tempfile.TemporaryDirectory() as folder:
        profile, rows = Path(folder, "profile.json"), Path(folder, "rows.json")
        profile.write_text(json.dumps({"schema": "nibblewave.profile.v1", "part": part} | change))
        command = [build / "bin/nw_bench", *shlex.split(PRODUCTS[product]), "--device", f"sim:{gfx}", "--json", rows]
        subprocess.run(command, check=True, capture_output=True, env=os.environ | {"HIPSIM_PROFILE": str(profile)})
        return json.loads(rows.read_text())["rows"][0]["time_us"]


def swept(constant: dict) -> bool:
    """True if the constant has a range and is not a time between launches."""
    between = constant["unit"] == "us" and constant["name"] != "launch_overhead"
    return constant["likely_low"] != constant["likely_high"] and not between and not re.search("^(copy|link)_", constant["name"])


def moves(build: Path, part: str, only: str) -> Iterator[dict]:
    """A row for each constant that is swept."""
    said = constants(build, part)
    wanted = [c for c in said["constants"] if swept(c) and re.search(only, c["name"])]
    base = {name: time_us(build, said["gfx"], part, name, {}) for name in PRODUCTS}

    def row(constant: dict) -> dict:
        out = {"part": part, "constant": constant["name"], "value": f"{constant['value']:g}",
               "low": f"{constant['likely_low']:g}", "high": f"{constant['likely_high']:g}"}  # fmt: skip
        for name in PRODUCTS:
            for end in ("low", "high"):
                to = constant[f"likely_{end}"]
                change = {constant["section"]: {constant["name"]: to}}
                same = to == constant["value"]
                us = base[name] if same else time_us(build, said["gfx"], part, name, change)
                out[f"{name}_{end}"] = f"{100 * (us / base[name] - 1):+.2f}"
        return out

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        yield from pool.map(row, wanted)


def read() -> list[dict]:
    with FILE.open() as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def write(rows: list[dict]) -> None:
    with FILE.open("w") as file:
        file.write("# SPDX-License-Identifier: MIT\n# Modelled (sim). python3 bench/moves.py renews it.\n")
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--part", nargs="*", default=PARTS, metavar="NAME")
    parser.add_argument("--only", default="", metavar="REGEX", help="constants to renew")
    options = parser.parse_args()
    kept = {(row["part"], row["constant"]): row for row in (read() if FILE.exists() else [])}
    for part in options.part:
        for row in moves(options.build, part, options.only):
            kept[row["part"], row["constant"]] = row
            write(sorted(kept.values(), key=lambda row: (row["part"], row["constant"])))
        print(f"{part}: done", file=sys.stderr)


if __name__ == "__main__":
    main()
