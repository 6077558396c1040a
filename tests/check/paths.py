# SPDX-License-Identifier: MIT
"""paths.py ROOT OUT --family FAMILY.toml --gfx A,B: which kernels of a family walk, together, every path of its templates.

A path is a side of a condition of a template: of an `if`, of `a if b else c`, of a loop that is entered or not. Of the library's
kernels on each target these are nearly the fewest that take every side which any of them takes. Those with the extremes of a
numeric parameter are among them, so that the longest and the shortest loops are. OUT: a line each, `gfx symbol`.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Iterable
from pathlib import Path

import jinja2
from jinja2 import nodes

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "gen")]

import contract  # noqa: E402
import dual  # noqa: E402
import render  # noqa: E402
from catalogue import TARGET_FACTS, Kernel, arches_of, kernels  # noqa: E402
from files import write_if_changed  # noqa: E402

Step = tuple[str, int]  # a template, and the number of a side of one of its conditions


class Instrumented(jinja2.Environment):
    """Notes in `taken` which side of each condition of a template is taken, and which loops are entered or have nothing to do."""

    def __init__(self, root: Path) -> None:
        super().__init__(loader=render.Loader(root / "asm"), undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True)
        self.taken: set[Step] = set()
        self.globals["taken__"] = self._take

    def _take(self, template: str, side: int, value: object = "") -> object:
        self.taken.add((template, side))
        return value

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        tree = super()._parse(source, name, filename)
        sides = itertools.count()

        def call(*more: nodes.Expr) -> nodes.Call:
            return nodes.Call(nodes.Name("taken__", "load"), [nodes.Const(name), nodes.Const(next(sides)), *more], [], None, None)

        for condition in list(tree.find_all((nodes.If, nodes.For))):
            for body in (condition.body, condition.else_):
                body.insert(0, nodes.ExprStmt(call()))
        for condition in list(tree.find_all(nodes.CondExpr)):
            condition.expr1 = call(condition.expr1)
            condition.expr2 = call(condition.expr2) if condition.expr2 else None
        return tree


def steps_of(env: Instrumented, k: Kernel, root: Path) -> frozenset[Step]:
    env.taken.clear()
    render.render_body(env, k, arches_of(root)[k.gfx])
    return frozenset(env.taken)


def extremes(listed: list[Kernel]) -> set[str]:
    """Of each numeric parameter a kernel with its least value, and one with its greatest."""
    out = set()
    for name in sorted({name for k in listed for name, value in k.params.items() if isinstance(value, int)}):
        of = [k for k in listed if isinstance(k.params.get(name), int)]
        out |= {min(of, key=lambda k: (k.params[name], k.symbol)).symbol, max(of, key=lambda k: (k.params[name], k.symbol)).symbol}
    return out


def cover(steps: dict[str, frozenset[Step]], first: Iterable[str]) -> list[str]:
    """`first`, then always what adds the most; of equals the first by name."""
    chosen = sorted(first)
    left = set().union(*steps.values()).difference(*(steps[name] for name in chosen))
    while left:
        best = min(steps, key=lambda name: (-len(steps[name] & left), name))
        chosen.append(best)
        left -= steps[best]
    return sorted(chosen)


def chosen(root: Path, family: Path, gfx: list[str]) -> list[str]:
    f = contract.load(root, family, TARGET_FACTS)
    env, lines = Instrumented(root), []
    dual.schedule = lambda text, *_: text  # the order of instructions is none of the templates' paths, and takes long
    for one in gfx:
        listed = [k for k in kernels({f.name: f}, arches_of(root)) if k.gfx == one and not k.candidate and not k.reference]
        if listed:
            steps = {k.symbol: steps_of(env, k, root) for k in listed}
            found = cover(steps, extremes(listed))
            lines += [f"{one} {symbol}" for symbol in found]
            print(f"{f.name} {one}: {len(found)} of {len(listed)} kernels take all {len(set().union(*steps.values()))} sides")
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--family", type=Path, required=True)
    parser.add_argument("--gfx", required=True)
    options = parser.parse_args()
    lines = chosen(options.root, options.family, options.gfx.split(","))
    write_if_changed(options.out, "".join(f"{line}\n" for line in lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
