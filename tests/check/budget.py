# SPDX-License-Identifier: MIT
"""budget.py STAMPS TESTS.json BUDGET.toml [--update]: cost of the default tier's tests by room, beside its limits.

The cost is the CPU seconds of the tests, which their stamps have, over those of a workload that never changes
(run_test.workload, measured before each test, so that it sees the same machine under the same load). Tests that together cost
over a tenth more than BUDGET.toml says fail: make them cheaper, or change a number there (--update writes the measured ones).
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tomllib
from pathlib import Path

ALLOWED = 1.1

HEAD = """\
# SPDX-License-Identifier: MIT
# Limits of the cost of the default tier's tests, by room (folder of tests/): CPU seconds over those of a fixed workload of about 0.01 s
# (tests/check/budget.py, whose --update writes this file). A sum that grows by more than a tenth fails the test `budget`.
"""


def costs(stamps: Path, rows: list[dict]) -> dict[str, float]:
    """Cost by room, in workloads. Tests without a stamp, because they skip all their cases here, cost nothing."""
    outcomes = [
        (row["room"], json.loads((stamps / row["name"]).read_text()))
        for row in rows
        if "default" in row["tiers"] and (stamps / row["name"]).exists()
    ]
    speed = statistics.median(outcome["speed"] for _, outcome in outcomes)
    out: dict[str, float] = {}
    for room, outcome in outcomes:
        out[room] = out.get(room, 0.0) + outcome["cpu_seconds"] / speed
    return out


def write(file: Path, found: dict[str, float]) -> None:
    file.write_text(HEAD + "".join(f"{room} = {cost:.0f}\n" for room, cost in sorted(found.items())))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stamps", type=Path)
    parser.add_argument("tests", type=Path)
    parser.add_argument("budget", type=Path)
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    found = costs(options.stamps, json.loads(options.tests.read_text()))
    if options.update:
        write(options.budget, found)
        return 0
    allowed = tomllib.loads(options.budget.read_text())
    for room in sorted(found.keys() | allowed.keys()):
        print(f"{room:16}{found.get(room, 0.0):9.0f} of {allowed.get(room, 0)} workloads")
    cost, may = sum(found.values()), sum(allowed.values())
    print(f"{'all':16}{cost:9.0f} of {may} workloads")
    if cost <= ALLOWED * may:
        print("1 passed, 0 failed")
        return 0
    print(f"tests cost over a tenth more than {options.budget} allows: make them cheaper, keep what is rarely needed for --all, or change the numbers there")
    print("0 passed, 1 failed")
    return 1


if __name__ == "__main__":
    sys.exit(main())
