# SPDX-License-Identifier: MIT
"""An expression of a contract says the same as C++ (what the library checks), as Python (what the manifest has), and
with a kernel's parameters put in (what its header has)."""

from __future__ import annotations

import ast
import random
import re
import subprocess
import tempfile
import unittest
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, SimpleNamespace

from generator import BUILD, ROOT, catalogue, contract, emit_header, expressions, family, fold, targets

LIMIT = 2**63  # values and intermediate results stay below; above, C++ and Python differ
TRIES, NEEDED = 400, 10

# Beside those of contracts: every operator and function.
LISTED = [
    "a + b * c - a", "a // b", "a % b", "(a + b) * (c + 1)", "a - (b - c)", "2**20 + a", "ceil_div(a, b)", "round_up(a, b)", "min(a, b)", "max(a, b)",
    "bit_ceil(a)", "log2(a)", "pow2(a)", "inverse(a)", "1 <= a <= b < 9", "a == 3", "a != b", "a in (1, 2, 3)", "a not in (1, b)", "a > b and b >= c",
    "a < b or c == 0 and not a > 4", "not (a <= b)", "a if b > c else c if a else b", "word == 'x'", "word != 'y' and a", "word in ('x', 'z')",
    "word not in ('x', 'y')",
]  # fmt: skip


@dataclass(frozen=True)
class Case:
    what: str
    cpp: str
    python: str
    names: tuple[str, ...]
    words: dict[str, list[str]]  # of the names that are text
    condition: bool  # else a number


def pow2(bits: int) -> int:
    if bits > 62:
        raise OverflowError(bits)
    return 1 << bits


FUNCTIONS = {name: eval(text) for name, text in expressions.PYTHON.items()} | {"pow2": pow2}


class Evaluated:
    """An expression, evaluated by Python; None where it, or part of it, leaves the numbers that C++ has."""

    def __init__(self, text: str) -> None:
        tree = ast.parse(text, mode="eval")
        parts = [n for n in ast.walk(tree.body) if isinstance(n, ast.BinOp | ast.Call)]
        self.parts = [self.code(part) for part in reversed(parts)]
        self.whole = self.code(tree.body)
        self.constants = [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant)]

    @staticmethod
    def code(node: ast.expr) -> CodeType:
        return compile(ast.fix_missing_locations(ast.Expression(node)), "expression", "eval")

    def of(self, values: dict[str, object]) -> int | None:
        names = nested(values)
        try:
            inside = all(0 <= eval(part, FUNCTIONS, names) < LIMIT for part in self.parts)
            return int(eval(self.whole, FUNCTIONS, names)) if inside else None
        except (ZeroDivisionError, OverflowError, ValueError):
            return None


def nested(values: dict[str, object]) -> dict[str, object]:
    """p.bm as bm of an object p."""
    out: dict[str, object] = {}
    for name, value in values.items():
        group, _, fact = name.rpartition(".")
        if group:
            setattr(out.setdefault(group, SimpleNamespace()), fact, value)
        else:
            out[name] = value
    return out


def drawn(rng: random.Random, names: tuple[str, ...], words: dict[str, list[str]], constants: list) -> dict[str, object]:
    near = [c + d for c in constants if isinstance(c, int) for d in (-1, 0, 1) if c + d >= 0] or [0]
    bits = rng.choice((3, 6, 10, 16, 24, 34))

    def number() -> int:
        if rng.random() < 0.3:
            return rng.choice(near)
        return rng.getrandbits(rng.randint(1, bits)) // (step := 1 << rng.randrange(6)) * step

    return {name: rng.choice(words[name]) if name in words else number() for name in names}


def case(what: str, text: str, scope: dict[str, expressions.Name], f: family.Family | None) -> Case | None:
    """None where the expression is a name of text, which a message inserts."""
    known = fold.known_of(f) if f else {}
    python = fold.substituted(text, known)
    names = tuple(sorted(expressions.names_of(python)))
    words = {n: sorted(scope[n].words) for n in names if scope[n].words is not None}
    if python in words:
        return None
    places = {
        name: expressions.Name(f"v[{at}]", scope[name].unit, {w: str(i) for i, w in enumerate(words[name])} if name in words else None)
        for at, name in enumerate(names)
    }  # fmt: skip
    places |= {name: found for name, found in scope.items() if name.startswith("size_")}
    writer = expressions.Writer(places)
    for p in f.pointers.values() if f else ():
        if p.name in expressions.calls_of(text, "extent"):
            places[f"extent({p.name})"] = expressions.Name(f"({writer.cpp(p.extent)})", expressions.BYTES)
    return Case(what, writer.cpp(text), python, names, words, writer.unit(text) == expressions.CONDITION)


def texts_of(f: family.Family) -> Iterator[str]:
    yield from (text for _, _, text, _ in contract._expressions(f) if text not in ("1", "counters"))
    yield from (p.extent for p in f.pointers.values())
    for rule in f.rules:
        yield from filter(None, (rule.needs, rule.when))
        yield from (found[0] for found in fold.INSERTED.findall(rule.says))


def cases() -> list[Case]:
    families = [*catalogue.families_of(ROOT).values(), *contract.load_ops(ROOT).values()]
    out: dict[tuple[str, str], Case] = {}
    scope = {name: expressions.Name(name) for name in "abc"} | {"word": expressions.Name("word", expressions.TEXT, dict.fromkeys("xyz", ""))}
    for text in LISTED:
        out[text, ""] = case("listed", text, scope, None)
    for f in families:
        scope = family.scope_of(f, catalogue.TARGET_FACTS)
        for text in texts_of(f):
            if found := case(f.name, text, scope, f):
                out.setdefault((found.cpp, found.python), found)
    return list(out.values())


def compiled(folder: Path, every: list[Case]) -> Path:
    lines = "".join(f"    [](const u64 *v) {{ static_cast<void>(v); return u64({c.cpp}); }},\n" for c in every)
    source = folder / "expressions.cpp"
    source.write_text(
        '#include <cstdio>\n#include "runtime/arithmetic.h"\nusing namespace nw;\n'
        f"u64 (*const all[])(const u64 *) = {{\n{lines}}};\n"
        'int main() {\n    unsigned which, n;\n    while (std::scanf("%u %u", &which, &n) == 2) {\n        unsigned long long v[64];\n'
        '        u64 u[64];\n        for (unsigned i = 0; i < n; ++i) { if (std::scanf("%llu", &v[i]) != 1) return 1; u[i] = v[i]; }\n'
        '        std::printf("%llu\\n", static_cast<unsigned long long>(all[which](u)));\n    }\n}\n'
    )
    compiler = re.search(r"^CMAKE_CXX_COMPILER:\w+=(.*)$", (BUILD / "CMakeCache.txt").read_text(), re.MULTILINE)[1]
    program = folder / "expressions"
    subprocess.run([compiler, "-std=c++20", "-O0", "-w", f"-I{ROOT / 'host'}", source, "-o", program], check=True)
    return program


class Agree(unittest.TestCase):
    def test_cpp_and_python(self) -> None:
        rng, every = random.Random(27), cases()
        self.assertGreater(len(every), 300)
        asked, want, rare = [], [], []
        for number, c in enumerate(every):
            evaluated, found, tries = Evaluated(c.python), 0, 0
            while found < NEEDED and tries < TRIES:
                tries += 1
                values = drawn(rng, c.names, c.words, evaluated.constants)
                if (result := evaluated.of(values)) is not None:
                    found += 1
                    numbers = [c.words[n].index(v) if n in c.words else v for n, v in values.items()]
                    asked.append(" ".join(map(str, [number, len(numbers), *numbers])))
                    want.append((c, values, result))
            if found < NEEDED:
                rare.append((c.what, c.python, found))
        self.assertEqual(rare, [])
        with tempfile.TemporaryDirectory() as folder:
            program = compiled(Path(folder), every)
            done = subprocess.run([program], input="\n".join(asked), check=True, capture_output=True, text=True)
        for got, (c, values, result) in zip(done.stdout.split(), want, strict=True):
            self.assertEqual(*(map(bool, (int(got), result)) if c.condition else (int(got), result)), (c.what, c.python, values))

    def test_with_parameters_put_in(self) -> None:
        rng, arches = random.Random(28), targets.arches_of(ROOT / "gen/targets.toml")
        kernels = [k for k in catalogue.kernels(catalogue.families_of(ROOT), arches) if k.gfx == "gfx1151"]
        compared = 0
        for k in rng.sample(kernels, 60):
            f = k.contract
            scope = family.scope_of(f, catalogue.TARGET_FACTS)
            r = SimpleNamespace(kernel=k, vgprs=96, sgprs=40, lds_bytes=8192, waves_per_simd=16)
            known = emit_header.Contract(r, arches[k.gfx]).known
            constants = {name: fold.value_of(node) for name, node in known.items() if fold.value_of(node) is not None}
            for text in dict.fromkeys(texts_of(f)):
                plain, put_in = fold.substituted(text, fold.known_of(f)), ast.unparse(fold.folded(text, known))
                names = tuple(sorted(expressions.names_of(plain) - constants.keys()))
                if plain in constants and isinstance(constants[plain], str):
                    continue
                words = {n: w for n in names if (w := scope[n].words)}
                condition = expressions.Writer(scope).unit(text) == expressions.CONDITION
                first, second = Evaluated(plain), Evaluated(put_in)
                for _ in range(8):
                    values = drawn(rng, names, {n: sorted(w) for n, w in words.items()}, first.constants) | constants
                    result = first.of({n: values[n] for n in expressions.names_of(plain)})
                    if result is not None and plain not in words:
                        compared += 1
                        got = second.of(values)
                        self.assertEqual(*(map(bool, (got, result)) if condition else (got, result)), (k.symbol, plain, put_in, values))
        self.assertGreater(compared, 5000)


if __name__ == "__main__":
    unittest.main()
