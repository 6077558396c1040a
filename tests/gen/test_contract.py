# SPDX-License-Identifier: MIT
"""gen/contract.py refuses a wrong family.toml with file, line, key, rule and what there is instead."""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path

from generator import contract, family

GOOD = """\
# SPDX-License-Identifier: MIT
# y[i] = the sum of row i of x, in pieces.
purpose  = "library"
targets  = ["gfx11"]
template = "sums.s.j2"
symbol   = ["dtype"]
variants = [{ dtype = ["f16", "bf16"], waves = 8, rows = 1 }]
candidates = [{ of = { dtype = "f16" }, waves = 4 }]

[sizes]
dtype = {}
m = { min = 1 }
k = { multiple = 8 }

[arguments]
x = { read = "dtype[m, k]", strides = ["x_stride"] }
y = { write = "f32[m, tiles]" }
m = {}
tiles = { value = "ceil_div(k, 8)" }
x_stride = {}

[let]
pairs = "ceil_div(m, 2)"

[[rules]]
needs = "m < 2**20"
says = "m = {m}: must be below 2^20"
breaks = { m = "2**20" }

[grid]
x = "pairs"

[choice]
match = ["dtype"]

[example]
dtype = "f16"
m = 3
k = 16
"""


OP = """\
# SPDX-License-Identifier: MIT
# y = the sum of rows of x, whose order is given or not
served_by = ["sums", "ordered_sums"]

[sizes]
m = { min = 1 }
gap = {}

[arguments]
x = { read = "f32[m]" }
workspace = { update = "u8[workspace_bytes]" }
workspace_bytes = {}

[[before]]
copy = "x"
when = "gap != 0"
rows = "m"
row = "size_4"
stride = "size_4 + gap * size_1"

[[before]]
of = "ordered_sums"
family = "sums"
gives = { y = "x" }

[workspace]
counters = "0"
piece = 16

[example]
m = 3
gap = 0
"""


def load_op(text: str) -> family.Family:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "asm/ops/total/op.toml"
        path.parent.mkdir(parents=True)
        path.write_text(text)
        return contract.load_op(Path(folder), path)


def load(text: str) -> family.Family:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        path = root / "asm/sums/family.toml"
        path.parent.mkdir(parents=True)
        path.write_text(text)
        return contract.load(root.resolve(), path.resolve())


WORDS = """
[words.dtype.f16]
bytes_of = 2
digits   = "11 bits"

[words.dtype.bf16]
bytes_of = 2
digits   = "8 bits"

[promises]
exact = "{dtype.digits}; {8 * dtype.bytes_of} bits in all"
"""


class WordTables(unittest.TestCase):
    """[words.<size>.<word>]: facts of each word, stated once (gen/word_tables.py)."""

    def with_words(self, words: str) -> family.Family:
        text = GOOD.replace("dtype = {}\n", "").replace('"ceil_div(m, 2)"', '"ceil_div(m, bytes_of)"')
        return load(text.replace("[example]", words + "\n[example]"))

    def test_facts(self) -> None:
        f = self.with_words(WORDS.replace("2", "3", 1))
        self.assertEqual(f.sizes["dtype"], {"one_of": ["f16", "bf16"]})
        self.assertEqual(f.let["bytes_of"], "(3 if dtype == 'f16' else 2)")
        self.assertIn("{8 * (3 if p.dtype == 'f16' else 2)} bits", f.promises["exact"])
        self.assertIn("{('11 bits' if p.dtype == 'f16' else '8 bits')}", f.promises["exact"])
        self.assertEqual(self.with_words(WORDS).let["bytes_of"], "(2)")

    def test_an_include_has_words_too(self) -> None:
        base, own = ({"words": {"dtype": {word: {"bytes_of": size}}}} for word, size in (("f16", 2), ("f32", 4)))
        joined = contract._joined(base | {"let": {"a": "1"}}, own | {"let": {"b": "2"}})
        self.assertEqual(joined["words"], {"dtype": {"f16": {"bytes_of": 2}, "f32": {"bytes_of": 4}}})
        self.assertEqual(joined["let"], {"a": "1", "b": "2"})

    def test_a_size_like_another(self) -> None:
        words = {"dtype": {"f16": {"bytes_of": 2, "digits": "11 bits"}}, "dtype3": {"like": "dtype", "same": {"bytes_of": 0}}}
        table = contract.expanded({"words": words, "promises": {"exact": "{dtype3.bytes_of} bytes"}})
        self.assertEqual(table["sizes"]["dtype3"], {"one_of": ["same", "f16"]})
        self.assertEqual(set(table["let"]), {"bytes_of", "bytes_of3"})
        self.assertEqual(table["let"]["bytes_of3"], "(0 if dtype3 == 'same' else 2)")
        self.assertEqual(table["promises"]["exact"], "{(0 if p.dtype3 == 'same' else 2)} bytes")
        with self.assertRaisesRegex(ValueError, "'type' must have words"):
            contract.expanded({"words": {"type3": {"like": "type", "same": {"bytes_of": 0}}}})

    def test_what_is_refused(self) -> None:
        for old, new, says in (
            ('digits   = "8 bits"\n', "", "[words.dtype.bf16] digits: is missing: other words have it"),
            ('"8 bits"', "[8]", "[words.dtype.bf16] digits: [8] must be a number, or a text without braces"),
            ('"8 bits"', '"{8} bits"', "[words.dtype.bf16] digits: '{8} bits' must be"),
        ):
            with self.subTest(says), self.assertRaises(ValueError) as raised:
                self.with_words(WORDS.replace(old, new))
            self.assertIn(says, str(raised.exception))


class Refused(unittest.TestCase):
    def refused(self, old: str, new: str, *expected: str) -> None:
        """Replaces `old` by `new`: the line number of the first line of `new` with a mark `@`, and the message."""
        self.assertIn(old, GOOD)
        text = GOOD.replace(old, new, 1)
        line = text[: text.index("@")].count("\n") + 1 if "@" in text else None
        with self.assertRaises(ValueError) as raised:
            load(text.replace("@", ""))
        message = str(raised.exception)
        self.assertIn(f"asm/sums/family.toml:{line or ''}", message)
        if line:
            self.assertIn(f"asm/sums/family.toml:{line}: ", message)
        for part in expected:
            self.assertIn(part, message)

    def test_edges_are_of_sizes(self) -> None:
        self.assertEqual(load(GOOD.replace("[example]", "[edges]\nk = [8]\n\n[example]")).edges, {"k": [8]})
        self.refused("[example]", "[edges]\n@tiles = [8]\n\n[example]", "[edges] tiles: is no size: dtype, m, k")

    def test_bounds_of_an_argument_that_is_no_size_are_a_rule(self) -> None:
        f = load(GOOD.replace("x_stride = {}", "x_stride = {}\nlimit = { max = 7 }"))
        self.assertEqual([rule.needs for rule in f.rules if rule.about == "limit"], ["limit <= 7"])

    def test_as_it_is_it_passes(self) -> None:
        f = load(GOOD)
        self.assertEqual(f.title, ["y[i] = the sum of row i of x, in pieces."])
        self.assertEqual(f.offsets(), {"x": (0, 8), "y": (8, 8), "m": (16, 4), "tiles": (20, 4), "x_stride": (24, 4)})
        self.assertEqual(f.kernarg_bytes, 28)
        self.assertIn("(m - 1) * x_stride", f.pointers["x"].extent.replace("((m) - 1)", "(m - 1)"))

    def test_no_title(self) -> None:
        self.refused("# y[i] = the sum of row i of x, in pieces.\n", "", ":1: no comment on top", "say there")

    def test_unknown_key(self) -> None:
        self.refused('purpose  = "library"', 'purpose  = "library"\ncolour@ = 1', "colour: is no key", "purpose")
        self.refused("m = { min = 1 }", "m = { min = 1, colour@ = 1 }", "[sizes] colour: is no key", "one_of")
        self.refused("m = {}", "m = { colour@ = 1 }", "[arguments] colour: is no key", "default")
        self.refused('strides = ["x_stride"] }', 'strides = ["x_stride"], colour@ = 1 }', "[arguments] colour: is no key", "optional")
        self.refused("breaks = {", "colour@ = 1\nbreaks = {", "[rules] colour: is no key", "needs")

    def test_missing_key(self) -> None:
        self.refused('template = "sums.s.j2"\n', "", "template: is missing")
        self.refused('[grid]\nx = "pairs"\n', "", "grid: is missing")
        self.refused('breaks = { m = "2**20" }\n', "", "breaks missing", "a rule has a text, and values that break it")

    def test_unknown_purpose(self) -> None:
        self.refused('purpose  = "library"', 'purpose@  = "toy"', "'toy'", "library, micro, baseline, ablation, validate")

    def test_unknown_include(self) -> None:
        self.refused('purpose  = "library"', 'include@ = ["lib/none.toml"]\npurpose  = "library"', "asm/lib/none.toml is not there")

    def test_no_expression(self) -> None:
        self.refused('x = "pairs"', 'x@ = "pairs +"', "[grid] x", "`pairs +` is no expression")
        self.refused('needs = "m < 2**20"', 'needs@ = "m << 20 < 1"', "[rules] ", "`m << 20` is not of the language")
        self.refused('x = "pairs"', 'x@ = "pairs / 2"', "is not of the language")
        self.refused('x = "pairs"', 'x@ = "f32(pairs)"', "f32 is no function", "ceil_div")
        self.refused('x = "pairs"', 'x@ = "ceil_div(pairs)"', "ceil_div has 2 arguments")
        self.refused('x = "pairs"', 'x@ = "extent(m)"', "extent needs a pointer")
        self.refused("must be below 2^20", "must be below {2 **}", "is no expression")

    def test_unknown_name(self) -> None:
        self.refused('x = "pairs"', 'x@ = "pears"', "[grid] x", "pears is not known here", "pairs")
        self.refused('x = "pairs"', 'x@ = "p.blocks"', "p.blocks is not known here", "p.rows")
        self.refused('needs = "m < 2**20"', 'needs@ = "target.wheels > m"', "target.wheels is not known here")

    def test_a_cycle(self) -> None:
        self.refused('pairs = "ceil_div(m, 2)"', 'pairs@ = "halves * 2"\nhalves = "pairs // 2"', "is a cycle", "pairs -> halves -> pairs")
        self.refused('"ceil_div(k, 8)"', '"tiles + k"', "tiles -> tiles is a cycle")

    def test_units(self) -> None:
        self.refused("x_stride = {}", 'x_stride@ = { value = "k + 8" }', "`k + 8` is in elements, bytes are wanted")
        self.refused('x = "pairs"', 'x@ = "x_stride"', "is in bytes, elements are wanted")
        self.refused('pairs = "ceil_div(m, 2)"', 'pairs@ = "ceil_div(m, 2) + x_stride"', "+ of elements and bytes")
        self.refused('needs = "m < 2**20"', 'needs@ = "x_stride * extent(x) > 4"', "bytes times bytes")
        self.refused('needs = "m < 2**20"', 'needs@ = "x_stride > k"', "> of bytes and elements")
        load(GOOD.replace("x_stride = {}", 'x_stride = { value = "k * size_2" }'))

    def test_conditions_are_no_numbers(self) -> None:
        self.refused('pairs = "ceil_div(m, 2)"', 'pairs@ = "(m and k) * 2"', "condition times number")
        self.refused('pairs = "ceil_div(m, 2)"', 'pairs@ = "max(m > k, 1)"', "max of a condition")
        self.refused('x = "pairs"', 'x@ = "m and k"', "is in condition, elements are wanted")
        self.refused('needs = "m < 2**20"', 'needs@ = "(m < k) < 2"', "< of condition and number")
        self.refused('needs = "m < 2**20"', 'needs@ = "p.dtype or m"', "`p.dtype` is text, which is neither true nor false")
        load(GOOD.replace('needs = "m < 2**20"', 'needs = "m < 2**20 and k"'))

    def test_text(self) -> None:
        self.refused('needs = "m < 2**20"', "needs@ = \"p.dtype != 'f17'\"", "p.dtype is never 'f17'", "'f16', 'bf16'")
        self.refused('needs = "m < 2**20"', "needs@ = \"m == 'f16'\"", "m is no text to compare")
        self.refused('needs = "m < 2**20"', "needs@ = \"p.dtype > 'f16'\"", "p.dtype is no text to compare")
        self.refused('x = "pairs"', "x@ = \"'pairs'\"", "text is only compared")

    def test_least_stride(self) -> None:
        """A stride is at least the span of the inner dimensions, or the contract's value."""
        needs = lambda text: [r.needs for r in load(text).rules if r.about == "x_stride"]
        self.assertIn("x_stride >= (k) * size_2", needs(GOOD))
        self.assertIn("x_stride >= 4 * size_2", needs(GOOD.replace("x_stride = {}", 'x_stride = { least = "4 * size_2" }')))
        self.refused("x_stride = {}", 'x_stride@ = { least = "k" }', ">= of bytes and elements")

    def test_nothing_uses_it(self) -> None:
        self.refused("x_stride = {}", "x_stride = {}\nextra@ = {}", "[arguments] extra: nothing uses it", "in which range")
        self.refused("[let]\n", '[let]\nextra@ = "m + 1"\n', "[let] extra: nothing uses it")

    def test_arguments(self) -> None:
        self.refused("dtype[m, k]", "f64[m, k]", "[arguments] x", "`f64[m, k]` is no element type with a shape", "f32")
        self.refused('x = { read =', 'x@ = { sometimes =', "[arguments] sometimes: is no key", "default")
        self.refused('strides = ["x_stride"]', 'strides = ["x_stride", "m"]', "2 strides for 2 dimensions", "one for each but the last")
        self.refused('value = "ceil_div(k, 8)"', 'value = "ceil_div(k, 8)", default = 1', "tiles: has a value and a default")

    def test_costs(self) -> None:
        self.refused('match = ["dtype"]', 'match = ["dtype"]\ncost@ = ["m", "k", "m", "k", "m"]', "[choice] cost: 5 values: must be 4 at most")

    def test_promises(self) -> None:
        self.refused("[example]", '[promises]\nbound@ = "{p.blocks} of it"\n[example]', "[promises] bound: p.blocks: not known here", "p.waves")
        self.refused("[example]", '[promises]\nbound@ = "{p.waves +} of it"\n[example]', "[promises] bound: `p.waves +` is no expression")
        self.refused("[example]", '[promises]\nbound@ = "{(\' of {p.waves}\' if p.waves > 1 else \'\')}"\n[example]', "[promises] bound: an {expression} within another's braces")

    def test_variants(self) -> None:
        self.refused("rows = 1 }]", "rows = 1 }, { dtype = \"f16\", waves = 4 }]", "variants", "every variant has the same parameters")
        for new, unknown in (("}, wheels = 4 }", "wheels"), (', wheels = 4 }, waves = 4 }', "wheels"), ('}, purpose = "baseline" }', "purpose")):
            self.refused("}, waves = 4 }" if new[0] == "}" else " }, waves = 4 }", new, "candidates", f"{unknown}: no parameter of the variants")

    def test_what_precedes_an_op(self) -> None:
        op = load_op(OP)
        self.assertEqual((op.served_by, op.copies[0].argument, op.before[0].of), (["sums", "ordered_sums"], "x", "ordered_sums"))
        for old, new, says in (
            ('of = "ordered_sums"', 'of = "sorted_sums"', "[before] of: 'sorted_sums': must be one of served_by, sums, ordered_sums"),
            ('rows = "m"\n', "", "[before] copy: rows: a copy has copy, row, rows, stride, when, and nothing else"),
            ('row = "size_4"', 'row = "4 * m"', "[before] row: `4 * m` is in elements"),
            ('gives = { y', 'give = { y', "[before] give: is no key of this table"),
        ):
            with self.subTest(says), self.assertRaises(ValueError) as raised:
                load_op(OP.replace(old, new))
            self.assertIn(says, str(raised.exception))

    def test_no_toml(self) -> None:
        self.refused("[sizes]", "[sizes", "")


if __name__ == "__main__":
    unittest.main()
