# SPDX-License-Identifier: MIT
"""build/*.inc, which C++ includes: the contracts' rules and tables (gen/emit_cpp.py), cases that break each rule in tests
(gen/emit_cases.py), kernels.inc and tuning.inc. No rendered kernel is needed."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path

import contract
import emit_cases
import emit_cpp
import tuning
from catalogue import TARGET_FACTS, Kernel, arches_of, families_of, shipped
from faces import c_functions, face
from family import Family
from files import exit_code, write_if_changed


def number_of(f: Family, parameter: str, value: str | int, words: list[str]) -> int:
    """A parameter's value in the registry: the number itself, or the number of a named value or a word."""
    value = f.named.get(parameter, {}).get(value, value)
    return words.index(value) if isinstance(value, str) else value


def registry(listed: list[Kernel], families: Mapping[str, Family], words: list[str]) -> str:
    """Rows of numbers. Parameter sets that kernels share stand once; a row has the set's index."""
    places = {f.name: at for at, f in enumerate(emit_cpp.in_order(families))}
    sets: dict[tuple[int, ...], int] = {}
    targets_seen = list(dict.fromkeys(k.gfx for k in listed))
    rows, end = [], 0
    for k in listed:
        f = k.contract
        parameters = tuple(number_of(f, name, k.params[name], words) for name in f.parameters)
        if parameters not in sets:
            sets[parameters], end = end, end + len(parameters)
        rows.append(
            f'ROW("{k.symbol}", {targets_seen.index(k.gfx)}, {places[k.family]}, {sets[parameters]}, {k.block}, {k.rows_per_workgroup}, '
            f"{int(k.reference)}, {int(k.candidate)})\n"
        )
    numbers = "".join(f"NUMBERS({', '.join(map(str, one))})\n" for one in sets)
    return "".join(f'TARGET("{gfx}")\n' for gfx in targets_seen) + numbers + "".join(rows)


def emit(root: Path, build: Path) -> None:
    families, ops = families_of(root), contract.load_ops(root)
    listed, tuned = shipped(root, list(arches_of(root)))
    words = emit_cpp.words_of([*families.values(), *ops.values()])
    made = face.load(root, families, ops)
    texts = emit_cpp.emit(families, ops, TARGET_FACTS) | {
        "contract_cases.inc": emit_cases.emit(families, ops, TARGET_FACTS),
        "contract_edges.inc": emit_cases.emit_edges(families, TARGET_FACTS),
        "faces.inc": c_functions.functions(made),
        "kernels.inc": registry(listed, families, words),
        "library_kernels.inc": registry([k for k in listed if k.purpose == "library"], families, words),
        "typed_ops.inc": c_functions.typed(made),
        "tuning.inc": "".join(map(tuning.registry_row, tuned)),
    }
    for name, text in texts.items():
        write_if_changed(build / name, text)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=Path, help="the source tree (holds asm/ and gen/)")
    parser.add_argument("build", type=Path, help="where the *.inc go")
    options = parser.parse_args()
    return exit_code("emit", lambda: emit(options.root, options.build))


if __name__ == "__main__":
    sys.exit(main())
