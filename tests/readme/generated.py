# SPDX-License-Identifier: MIT
"""Parts of the READMEs that commands print. Each stands between `<!-- NAME: ... -->` and `<!-- end -->`.

    python3 tests/readme/generated.py [--build DIR] [NAME...]    renews them, or these, from the build

The tests compare them with what is printed now.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from pathlib import Path

import card
import comparison
import fidelity
import figures
import matrix
import quickstart
import slots
import tokens

ROOT = Path(__file__).resolve().parents[2]
PARTS: dict[str, tuple[str, Callable[[Path], list[str]]]] = {
    "compare": ("README.md", comparison.lines),
    "output": ("README.md", quickstart.lines),
    "cards": ("README.md", matrix.card_lines),
    "matrix": ("README.md", matrix.lines),
    "figures": ("bench/README.md", figures.lines),
    "slots": ("bench/README.md", slots.lines),
    "tokens": ("host/engines/ggml/README.md", tokens.lines),
    "fidelity": ("host/sim/fidelity.md", fidelity.lines),
    **{card.key(part): ("bench/card/README.md", card.lines_of(part)) for part in card.PARTS},
}


def pattern(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<=^)(<!-- {name}: [^\n]*-->\n)(.*?)(?=^<!-- end -->$)", re.MULTILINE | re.DOTALL)


def part(name: str) -> list[str]:
    """As it stands in its document."""
    return pattern(name).search((ROOT / PARTS[name][0]).read_text())[2].splitlines()


def renew(name: str, build: Path) -> None:
    file, lines = PARTS[name]
    new = "\n".join(lines(build)) + "\n"
    path = ROOT / file
    path.write_text(pattern(name).sub(lambda m: m[1] + new, path.read_text()))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Renews what commands print in the READMEs.")
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(PARTS)}; default: all")
    options = parser.parse_args()
    for chosen in options.names or PARTS:
        renew(chosen, options.build)
