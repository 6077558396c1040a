# SPDX-License-Identifier: MIT
"""build/asm/<gfx>/<family>.cover: kernels that together cover every path of a family's templates, one symbol per line.

A path is a side of a condition of a template (gen/templates.py): of an `if`, of `a if b else c`, of a loop that is entered or empty.
A greedy set cover selects kernels that take every side which any kernel of the family takes. Kernels with the smallest and the
largest value of each numeric parameter are always included, for the shortest and the longest unrolled loops. The default tier
of tests checks these in full, and the others by one launch (tests/check/extents.h).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from catalogue import Kernel


def extremes(listed: Iterable[Kernel]) -> set[str]:
    """For each numeric parameter a kernel with the smallest value and one with the largest."""
    out = set()
    for name in {name for k in listed for name, value in k.params.items() if isinstance(value, int)}:
        values = sorted((k.params[name], k.symbol) for k in listed if isinstance(k.params.get(name), int))
        out |= {values[0][1], values[-1][1]}
    return out


def cover(sides: Mapping[str, frozenset[str]], first: Iterable[str]) -> list[str]:
    """Greedy set cover that starts with `first`; ties go to the first by name."""
    chosen = sorted(first)
    left = set().union(*sides.values()).difference(*(sides[name] for name in chosen))
    while left:
        chosen.append(min(sides, key=lambda name: (-len(sides[name] & left), name)))
        left -= sides[chosen[-1]]
    return sorted(chosen)


def text(listed: list[Kernel], sides: Mapping[str, frozenset[str]]) -> str:
    return "".join(f"{symbol}\n" for symbol in cover({k.symbol: sides[k.symbol] for k in listed}, extremes(listed)))
