# SPDX-License-Identifier: MIT
"""gen/targets.toml as C++ rows, for host/base/targets.cpp: NW_TARGET(...) and NW_PART(...), each with designated
initialisers in the order of the struct's members.

    targets_inc.py TOML OUT
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from targets import ESTIMATES, FACTS, PLAIN_PART_FACTS, Estimate, Facts, read


def literal(value: int | bool | str | Estimate) -> str:
    if isinstance(value, Estimate):
        return f"{{{value.value}, Origin::{value.origin}, {{{value.low}, {value.high}}}}}"
    return json.dumps(value)  # C++ spells a number, true, false and a plain string so


def row(macro: str, members: dict[str, str]) -> str:
    return f"{macro}({', '.join(f'.{name} = {value}' for name, value in members.items())})\n"


def target_row(name: str, generation: str, series: tuple[str, ...], facts: dict, *, supported: bool, generic: bool) -> str:
    members = {
        "name": literal(name), "generation": f"Generation::{generation}", "series": " | ".join(f"series::{one}" for one in series),
        "supported": literal(supported), "generic": literal(generic),
    }  # fmt: skip
    return row("NW_TARGET", members | {key: literal(facts[key]) for key in FACTS if key in facts})


def rows(facts: Facts) -> str:
    """Supported targets first."""
    out = []
    for t in sorted(facts.targets.values(), key=lambda t: not t.supported):
        out.append(target_row(t.name, t.generation, (t.series,), t.facts, supported=t.supported, generic=False))
    for g in facts.generics:
        own = {"elf_machine": g.elf_machine, "init16": False}
        out.append(target_row(g.name, g.generation, g.series, own, supported=False, generic=True))
    for p in facts.parts:
        members = {"name": literal(p.name), "gfx": literal(p.gfx)}
        out.append(row("NW_PART", members | {key: literal(p.facts[key]) for key in (*PLAIN_PART_FACTS, *ESTIMATES)}))
    return "".join(out)


def main() -> int:
    try:
        Path(sys.argv[2]).write_text(rows(read(Path(sys.argv[1]))))
    except ValueError as error:
        print(f"targets: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
