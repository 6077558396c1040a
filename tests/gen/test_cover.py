# SPDX-License-Identifier: MIT
"""gen/cover.py: kernels that together walk every path of their templates."""

from __future__ import annotations

import json
import unittest
from types import SimpleNamespace

import jinja2
from generator import BUILD, cover, templates

TEMPLATE = """\
{% macro sum(a, b=2) %}{% if a %}{{ a + b }}{% else %}{{ b }}{% endif %}{% endmacro %}
{% for i in range(n) %}{{ sum(i) }}{% if i % 2 %},{% elif i == 2 %};{% endif %}{% else %}none{% endfor %}
{{ "many" if n > 2 else "few" }}{{ " " ~ word if word }}
"""


def taken(**values: object) -> tuple[str, set[str]]:
    env = templates.Environment(loader=jinja2.DictLoader({"t": TEMPLATE}), undefined=jinja2.StrictUndefined)
    text = env.get_template("t").render(values)
    return text, set(env.taken)


class Sides(unittest.TestCase):
    def test_text_is_the_same(self) -> None:
        for n in range(4):
            for word in ("", "x"):
                self.assertEqual(taken(n=n, word=word)[0], jinja2.Template(TEMPLATE).render(n=n, word=word))

    def test_another_side_is_another_path(self) -> None:
        paths = [taken(n=n, word=word)[1] for n, word in ((0, ""), (1, ""), (2, ""), (3, ""), (3, "x"))]
        for one, other in zip(paths, paths[1:]):
            self.assertTrue(other - one, (one, other))
        self.assertEqual(taken(n=5, word="")[1], taken(n=7, word="")[1])


class Choice(unittest.TestCase):
    def test_few_take_all_sides(self) -> None:
        sides = {name: frozenset(of) for name, of in {"a": "12", "b": "2", "c": "3", "d": "123"}.items()}
        self.assertEqual(cover.cover(sides, []), ["d"])
        self.assertEqual(cover.cover(sides, ["b"]), ["b", "d"])
        self.assertEqual(cover.cover({"a": frozenset("1"), "b": frozenset("1")}, []), ["a"])

    def test_least_and_greatest_numbers(self) -> None:
        kernels = [SimpleNamespace(symbol=f"k{m}{group}", params={"m": m, "group": group}) for m in (1, 4, 8) for group in ("k", 32, 128)]
        chosen = cover.extremes(kernels)
        self.assertEqual({int(name[1]) for name in chosen} & {1, 8}, {1, 8})
        self.assertEqual({name[2:] for name in chosen} >= {"32", "128"}, True)


class Built(unittest.TestCase):
    def test_every_side_of_every_family_is_taken(self) -> None:
        files = sorted((BUILD / "asm").glob("*/*.cover"))
        self.assertTrue(files)
        fewer = 0
        for file in files:
            rows = json.loads(file.with_suffix(".json").read_text())
            chosen = file.read_text().split()
            everything = set().union(*(row["sides"] for row in rows.values()))
            self.assertEqual(set().union(*(rows[symbol]["sides"] for symbol in chosen)), everything, file)
            fewer += len(rows) - len(chosen)
        self.assertGreater(fewer, 0)


if __name__ == "__main__":
    unittest.main()
