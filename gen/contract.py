# SPDX-License-Identifier: MIT
"""Reads and checks a family's contract, asm/**/family.toml. Its format: asm/README.md."""

from __future__ import annotations

import itertools
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

from expressions import BYTES, ELEMENTS, ExpressionError, Writer, names_of, ordered, parse
from family import ACCESS, ELEMENT_BYTES, INSERTED, MOST_COSTS, PURPOSES, VARIANT_KEYS, Before, Copied, Family, Pointer, Rule, Value, scope_of
from rules import all_rules, own_rule
from word_tables import WordTableError, expanded

FAMILY_KEYS = {
    "include", "order", "purpose", "op", "targets", "template", "symbol", "named", "variants", "candidates", "sizes", "arguments", "let",
    "rules", "grid", "lds", "choice", "slices", "before", "workspace", "promises", "edges", "example", "face", "served_by",
}  # fmt: skip
SIZE_KEYS = {"min", "max", "multiple", "one_of", "texts", "words", "when", "why", "remedy", "unit"}
POINTER_KEYS = {"read", "write", "update", "or", "align", "strides", "optional", "when", "overlaps", "why"}
VALUE_KEYS = {"value", "default", "min", "max", "multiple", "below", "least", "why", "remedy", "when", "row", "unit"}
RULE_KEYS = {"needs", "says", "when", "breaks"}
BEFORE_KEYS = {"family", "when", "sets", "gives"}
OP_BEFORE_KEYS = BEFORE_KEYS | {"of", "then"}
COPY_KEYS = {"copy", "when", "rows", "row", "stride"}


class Place:
    """Location of an error in a contract."""

    def __init__(self, path: Path, text: str) -> None:
        self.path, self.lines = path, text.splitlines()
        self.included: list[Place] = []

    def fail(self, section: str, key: str, what: str) -> NoReturn:
        raise ValueError(f"{self.at(section, key)}: {f'[{section}] ' if section else ''}{key}: {what}")

    def at(self, section: str, key: str) -> str:
        """File and line of the key or rule; else of the section."""
        name = re.escape(key)
        for pattern in ((rf"\s*\"?{name}\"?\s*=", rf".*\b{name}\s*=", rf".*\"{name}\"") if key else ()) + (r"\s*\[",):
            for place in (self, *self.included):
                if line := place.line(section, pattern):
                    return f"{place.path}:{line}"
        return f"{self.path}:1"

    def line(self, section: str, pattern: str) -> int | None:
        here = section == ""
        for number, text in enumerate(self.lines, 1):
            if head := re.match(r"\s*\[+([\w.]+)\]+", text):
                here = head[1] == section
            if here and re.match(pattern, text):
                return number
        return None


def _known(place: Place, section: str, row: Mapping, known: set[str]) -> None:
    for key in row:
        if key not in known:
            place.fail(section, key, f"is no key of this table: {', '.join(sorted(known))}")


def _joined(base: dict, own: Mapping) -> dict:
    """Tables row by row, a row of `own` in place of one of `base`, [words] word by word; lists one after the other."""
    out = dict(base)
    for key, value in own.items():
        was = out.get(key)
        if key == "words" and was:
            value = {size: was.get(size, {}) | rows for size, rows in value.items()}
        out[key] = was | value if isinstance(was, dict) else was + value if isinstance(was, list) else value
    return out


def _merged(root: Path, path: Path) -> tuple[dict, Place]:
    """A contract merged with its includes."""
    text = path.read_text()
    place = Place(path.relative_to(root), text)
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{place.path}: {error}") from error
    base: dict = {}
    for name in table.pop("include", []):
        if not (root / "asm" / name).exists():
            place.fail("", "include", f"asm/{name} is not there")
        other_table, other = _merged(root, root / "asm" / name)
        place.included += [other, *other.included]
        base = _joined(base, other_table)
    return _joined(base, table), place


def _contract(root: Path, path: Path) -> tuple[dict, Place]:
    """The same with [words] expanded."""
    table, place = _merged(root, path)
    try:
        return expanded(table), place
    except WordTableError as error:
        place.fail(error.section, error.fact, str(error))


def _array(place: Place, name: str, text: str) -> tuple[str, tuple[str, ...]]:
    """Element type and shape of `f32[m, k]`."""
    found = re.fullmatch(r"(\w+)\[(.*)\]", text)
    if not found or found[1] not in ELEMENT_BYTES:
        place.fail("arguments", name, f"`{text}` is no element type with a shape, as f32[m, k]: types are {', '.join(ELEMENT_BYTES)}")
    return found[1], tuple(part.strip() for part in re.split(r",(?![^(]*\))", found[2]))


def _pointer(place: Place, name: str, row: Mapping) -> Pointer:
    _known(place, "arguments", row, POINTER_KEYS)
    access = next(key for key in ACCESS if key in row)
    element, shape = _array(place, name, row[access])
    other = None
    if "or" in row:  # another array where `when`
        _known(place, "arguments", row["or"], {"when", access})
        when = row["or"]["when"]
        other_element, other_shape = _array(place, name, row["or"][access])
        if len(other_shape) != len(shape):
            place.fail("arguments", name, f"{len(shape)} dimensions, or {len(other_shape)}: their number must be equal")
        shape = tuple(a if a == b else f"({b} if {when} else {a})" for a, b in zip(shape, other_shape))
        other = (when, other_element)
    strides = tuple(row.get("strides", []))
    if strides and len(strides) != len(shape) - 1:
        place.fail("arguments", name, f"{len(strides)} strides for {len(shape)} dimensions: one for each but the last")
    found = Pointer(
        name, access, element, shape, strides, ELEMENT_BYTES[element], row.get("optional", False),
        row.get("when", ""), tuple(row.get("overlaps", [])), row.get("why", ""), other,
    )  # fmt: skip
    return replace(found, align=row.get("align", found.size if other else found.align))


def _arguments(place: Place, table: Mapping) -> tuple[dict[str, Pointer], dict[str, Value]]:
    pointers = {n: _pointer(place, n, row) for n, row in table.items() if ACCESS.keys() & row.keys()}
    strides: dict[str, tuple[Pointer, int]] = {}
    for p in pointers.values():
        for at, stride in enumerate(p.strides):
            strides.setdefault(stride, (p, at))
    values = {}
    for name, row in table.items():
        if name in pointers:
            continue
        _known(place, "arguments", row, VALUE_KEYS)
        if "value" in row and "default" in row:
            place.fail("arguments", name, "has a value and a default: one of them")
        values[name] = Value(name, str(row.get("value", "")), str(row.get("default", "")), row, strides.get(name))
    return pointers, values


def _before(place: Place, row: Mapping) -> Before:
    _known(place, "before", row, OP_BEFORE_KEYS if "of" in row else BEFORE_KEYS)
    return Before(row["family"], row.get("sets", {}), row["gives"], row.get("when", ""), row.get("of", ""), row.get("then", {}))


def _copied(place: Place, row: Mapping) -> Copied:
    if row.keys() != COPY_KEYS:
        place.fail("before", "copy", f"{', '.join(sorted(row.keys() ^ COPY_KEYS))}: a copy has {', '.join(sorted(COPY_KEYS))}, and nothing else")
    return Copied(row["copy"], row["rows"], row["row"], row["stride"], row["when"])


def _listed_rules(place: Place, f: Family, rows: list[dict]) -> Iterator[Rule]:
    for row in rows:
        _known(place, "rules", row, RULE_KEYS)
        if missing := {"needs", "says", "breaks"} - row.keys():
            place.fail("rules", str(row.get("needs", "needs")), f"{', '.join(sorted(missing))} missing: a rule has a text, and values that break it")
        for text in (row["needs"], row.get("when", "1")):
            _parsed(place, "rules", row["needs"], text)
        yield own_rule(f, row)


def _parsed(place: Place, section: str, key: str, text: str) -> None:
    try:
        parse(text)
    except ExpressionError as error:
        place.fail(section, key, str(error))


def _expressions(f: Family) -> Iterator[tuple[str, str, str, str | None]]:
    """Section, key, expression and expected unit of every expression outside the rules."""
    for name, text in f.let.items():
        yield "let", name, text, None
    for p in f.pointers.values():
        for d in p.shape:
            yield "arguments", p.name, d, ELEMENTS
        yield "arguments", p.name, p.when or "1", None
    for v in f.values.values():
        unit = BYTES if v.stride_of else v.facts.get("unit", ELEMENTS)
        for text in (v.value, v.default):
            if text:
                yield "arguments", v.name, text, unit
    yield "grid", "x", f.grid.get("x", "1"), ELEMENTS
    yield "lds", "dynamic", f.lds, BYTES
    for key in ("region", "takes", "takes_rest", "worth"):
        yield "choice", key, f.choice.get(key, "1"), None
    for text in f.choice.get("cost", []):
        yield "choice", "cost", text, None
    for key, text in f.slices.items():
        yield "slices", key, str(text), ELEMENTS
    for name, text in f.workspace.items():
        if text != "counters":
            yield "workspace", name, str(text), None
    for before in f.before:
        yield "before", "when", before.when or "1", None
        for name, text in (before.sets | before.then).items():
            yield "before", name, str(text), None
    for copied in f.copies:
        yield "before", "when", copied.when, None
        yield "before", "rows", copied.rows, ELEMENTS
        yield "before", "row", copied.row, BYTES
        yield "before", "stride", copied.stride, BYTES
    for name, lengths in f.edges.items():
        for text in lengths:
            yield "edges", name, str(text), ELEMENTS


def _check(place: Place, f: Family, target_facts: Mapping[str, str]) -> None:
    try:
        ordered("[let] and [arguments]", f.derived)
        scope = scope_of(f, target_facts)
    except ExpressionError as error:
        place.fail("let", next((n for n in f.derived if f" {n} " in f" {error} "), ""), str(error))
    if len(costs := f.choice.get("cost", [])) > MOST_COSTS:
        place.fail("choice", "cost", f"{len(costs)} values: must be {MOST_COSTS} at most, which is what is compared; leave the last ones out")
    writer, used = Writer(scope), set()
    for section, key, text, unit in _expressions(f):
        try:
            writer.cpp(text, unit)
        except ExpressionError as error:
            place.fail(section, key, str(error))
        used |= names_of(text)
    for rule in f.rules:
        section = "rules" if rule.about == "rules" else "arguments" if rule.about in f.order else "sizes" if rule.about in f.sizes else "grid"
        try:
            writer.cpp(rule.needs)
            writer.cpp(rule.when or "1")
            for inserted, _ in INSERTED.findall(rule.says):
                if not (inserted in scope and scope[inserted].words is not None):
                    writer.cpp(inserted)
        except ExpressionError as error:
            place.fail(section, rule.about if section != "rules" else rule.needs, str(error))
        used |= rule.names
    for key, promise in f.promises.items():
        for inserted in re.findall(r"\{([^{}]*)\}", promise):
            _parsed(place, "promises", key, inserted)
            if unknown := names_of(inserted) - scope.keys():
                place.fail("promises", key, f"{', '.join(sorted(unknown))}: not known here; there are {', '.join(sorted(scope))}")
        if re.search("[{}]", INSERTED.sub("", promise)):
            place.fail("promises", key, "an {expression} within another's braces would stay as it is: write the two side by side")
    for before in f.before:
        for text in before.sets.values():
            used |= names_of(text)
    strides = {s for p in f.pointers.values() for s in p.strides}
    for name in [*f.sizes, *f.values]:
        alone = name in f.values and not f.values[name].facts and name not in f.sizes
        if alone and name not in used | strides:
            place.fail("arguments", name, "nothing uses it: no rule, shape, value or grid; say at least in which range it is")
    for name in f.let:
        if name not in used:
            place.fail("let", name, "nothing uses it")


def title_of(lines: list[str]) -> list[str]:
    """The comment after the licence line, which states the formula. Kernel headers begin with it."""
    comment = itertools.takewhile(lambda line: line.startswith("#"), lines)
    return [line.removeprefix("#").removeprefix(" ") for line in comment if "SPDX" not in line]


def _read(root: Path, path: Path, needed: tuple[str, ...], given: Mapping = {}) -> tuple[Family, Place, list[dict]]:
    """A family without rules, and the rows of its [[rules]]."""
    table, place = _contract(root, path)
    _known(place, "", table, FAMILY_KEYS)
    for key in needed:
        if key not in table:
            place.fail("", key, "is missing")
    table = {**given, **table}
    name = path.parent.name
    if table["purpose"] not in PURPOSES:
        place.fail("", "purpose", f"'{table['purpose']}' is none of {', '.join(PURPOSES)}")
    for size, row in table.get("sizes", {}).items():
        _known(place, "sizes", row, SIZE_KEYS)
    for size in table.get("edges", {}):
        if size not in table.get("sizes", {}):
            place.fail("edges", size, f"is no size: {', '.join(table.get('sizes', {}))}")
    pointers, values = _arguments(place, table["arguments"])
    f = Family(
        name, path, title_of(place.lines), table["purpose"], table.get("op", name), table["targets"],
        str((path.parent / table["template"]).resolve().relative_to((root / "asm").resolve())), table["symbol"],
        table.get("named", {}), table["variants"], table.get("candidates", []), table.get("sizes", {}), pointers, values,
        table.get("order") or list(table["arguments"]), {k: str(v) for k, v in table.get("let", {}).items()}, table["grid"],
        str(table.get("lds", {}).get("dynamic", "0")), table.get("choice", {}), table.get("slices", {}),
        [_before(place, b) for b in table.get("before", []) if "copy" not in b], [_copied(place, b) for b in table.get("before", []) if "copy" in b], table.get("served_by", []), table.get("workspace", {}),
        table.get("promises", {}), table.get("edges", {}), table["example"],
    )  # fmt: skip
    if sorted(f.order) != sorted(table["arguments"]):
        place.fail("", "order", f"{', '.join(sorted(set(f.order) ^ table['arguments'].keys()))}: of the kernarg segment, has every argument once")
    _order_defaults(place, f)
    return f, place, table.get("rules", [])


def _order_defaults(place: Place, f: Family) -> None:
    """Orders arguments with defaults after the arguments that their defaults depend on."""
    chosen = {v.name: v.default for v in f.values.values() if v.default}
    try:
        uses = {name: " + ".join(sorted(f.names_behind(text) & chosen.keys())) or "0" for name, text in chosen.items()}
        order = ordered("[arguments] default", uses)
    except ExpressionError as error:
        place.fail("arguments", "", str(error))
    f.values = {name: f.values[name] for name in [*(n for n in f.values if n not in chosen), *order]}


def _with_rules(f: Family, place: Place, listed_rules: list[dict], target_facts: Mapping[str, str]) -> Family:
    for section, key, text, _ in _expressions(f):
        _parsed(place, section, key, text)
    try:
        f.rules = all_rules(f, list(_listed_rules(place, f, listed_rules)))
    except ExpressionError as error:
        place.fail("rules", "", str(error))
    _check(place, f, target_facts)
    return f


def load(root: Path, path: Path, target_facts: Mapping[str, str] = {}) -> Family:
    """Reads a contract. Errors name file, line, value, rule and remedy."""
    f, place, listed_rules = _read(root, path, ("purpose", "targets", "template", "symbol", "variants", "arguments", "grid", "example"))
    if not any(f.title):
        raise ValueError(f"{place.path}:1: no comment on top: say there, after the licence, what the family makes")
    keys = {frozenset(v) - VARIANT_KEYS for v in f.variants}
    if len(keys) != 1 or not {"waves", "rows"} <= next(iter(keys)):
        place.fail("", "variants", "every variant has the same parameters, waves and rows among them")
    known = next(iter(keys))
    for candidate in f.candidates:
        if unknown := ((candidate.keys() - {"of"}) | candidate.get("of", {}).keys()) - known:
            place.fail("", "candidates", f"{', '.join(sorted(unknown))}: no parameter of the variants")
    return _with_rules(f, place, listed_rules, target_facts)


def load_op(root: Path, path: Path) -> Family:
    """The contract of an op with several launches: a family without kernels, whose arguments are the caller's."""
    given = {"purpose": "library", "targets": [], "template": "", "symbol": [], "variants": [], "grid": {}}
    f, place, listed_rules = _read(root, path, ("arguments", "example"), given)
    for key in given:
        if getattr(f, key) != given[key] and key != "template":
            place.fail("", key, "an op has none: its families have")
    for before in f.before:
        if before.of not in f.served_by:
            place.fail("before", "of", f"'{before.of}': must be one of served_by, {', '.join(f.served_by) or 'which is empty'}")
    return _with_rules(f, place, listed_rules, {})


def load_all(root: Path, target_facts: Mapping[str, str] = {}) -> dict[str, Family]:
    """Every contract below asm/, by family."""
    out: dict[str, Family] = {}
    for path in sorted((root / "asm").rglob("family.toml")):
        family = load(root, path, target_facts)
        if family.name in out:
            raise ValueError(f"{path.relative_to(root)}: the family {family.name} is there twice")
        out[family.name] = family
    for f in out.values():
        for before in f.before:
            if before.family not in out:
                raise ValueError(f"{f.path.relative_to(root)}: [before] family = '{before.family}': there is none of that name")
    return out


def load_ops(root: Path) -> dict[str, Family]:
    """The contracts of ops with several launches: asm/ops/<op>/op.toml. A file that names a `family` is an op of one launch, with that
    family's contract."""
    files = sorted((root / "asm/ops").glob("*/op.toml"))
    return {path.parent.name: load_op(root, path) for path in files if "family" not in tomllib.loads(path.read_text())}
