# SPDX-License-Identifier: MIT
"""asm/**/family.toml: a family's contract, read and checked. What is in one: asm/README.md.

Everything that is made from a contract (the header of each .s, structs and checks in C++, the manifest, tests) is made
from what stands here: `Family.rules` is the only list of what a launch must keep to.
"""

from __future__ import annotations

import itertools
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NoReturn

from expressions import BYTES, ELEMENTS, NUMBER, TEXT, ExpressionError, Name, Writer, calls_of, names_of, ordered, parse

PURPOSES = ("library", "micro", "baseline", "ablation", "validate")
NEVER_CHOSEN = ("baseline", "ablation", "validate")
ELEMENT_BYTES = {"u8": 1, "f16": 2, "dtype": 2, "u32": 4, "i32": 4, "f32": 4, "lane16": 16}
ACCESS = {"read": "read_only", "write": "write_only", "update": "read_write"}
FAMILY_KEYS = {
    "include", "order", "purpose", "op", "targets", "template", "symbol", "named", "variants", "candidates", "sizes", "arguments", "let",
    "rules", "grid", "lds", "choice", "slices", "before", "workspace", "promises", "example",
}  # fmt: skip
VARIANT_KEYS = {"purpose", "targets"}  # beside parameters
SIZE_KEYS = {"min", "max", "multiple", "one_of", "texts", "words", "when", "why", "remedy", "unit"}
POINTER_KEYS = {"read", "write", "update", "or", "align", "strides", "optional", "when", "overlaps", "why"}
VALUE_KEYS = {"value", "default", "min", "max", "multiple", "below", "why", "remedy", "when", "row", "unit"}
RULE_KEYS = {"needs", "says", "when", "breaks"}
KERNEL_FACTS = {
    "kernel.block": ELEMENTS, "kernel.rows_per_workgroup": ELEMENTS, "kernel.lds_bytes": BYTES,
    "kernel.waves_per_simd": ELEMENTS, "kernel.vgprs": ELEMENTS,
}  # fmt: skip
PHASES = ("shape", "operands", "choices")
# What HIP and the kernels count in 32 bits.
THREADS, U32 = 2**32, 2**32


@dataclass(frozen=True)
class Rule:
    """`needs` holds, or the launch is refused with `says`: text with {expressions} in it, {x:#x} in hexadecimal."""

    phase: str
    needs: str
    says: str
    when: str = ""
    breaks: Mapping[str, int | str] = field(default_factory=dict)  # values beside those of [example]
    about: str = ""  # the argument that it is about

    @property
    def expression(self) -> str:
        return f"({self.needs}) if ({self.when}) else 1" if self.when else self.needs

    @property
    def names(self) -> set[str]:
        used = names_of(self.needs) | (names_of(self.when) if self.when else set())
        for inserted in re.findall(r"\{([^}]*?)(?::#x)?\}", self.says):
            used |= names_of(inserted)
        return used


@dataclass(frozen=True)
class Pointer:
    name: str
    access: str
    element: str  # of ELEMENT_BYTES
    shape: tuple[str, ...]
    strides: tuple[str, ...]  # arguments, one for each dimension but the last; or none: contiguous
    align: int | str  # or an expression
    optional: bool
    when: str  # else null
    overlaps: tuple[str, ...]  # arguments that it may overlap
    why: str
    other: tuple[str, str] | None = None  # when it has another element type, and which

    def element_where(self, other: bool) -> str:
        return self.other[1] if self.other and other else self.element

    @property
    def size(self) -> str:
        """Bytes of an element."""
        size = f"size_{ELEMENT_BYTES[self.element]}"
        return f"(size_{ELEMENT_BYTES[self.other[1]]} if {self.other[0]} else {size})" if self.other else size

    @property
    def written(self) -> bool:
        return self.access != "read"

    @property
    def row(self) -> str:
        """Elements of a row: of the last dimension."""
        return self.shape[-1]

    @property
    def text(self) -> str:
        return f"{self.element}[{', '.join(self.shape)}]"

    def extent_of(self, dimension: int) -> str:
        """Bytes from the first element of the dimensions from there on to the end of the last one."""
        if not self.strides:
            return " * ".join([f"({d})" for d in self.shape[dimension:]]) + f" * {self.size}"
        inner = f"({self.row}) * {self.size}"
        for d in reversed(range(dimension, len(self.shape) - 1)):
            inner = f"(({self.shape[d]}) - 1) * {self.strides[d]} + {inner}"
        return inner

    @property
    def extent(self) -> str:
        return self.extent_of(0)


@dataclass(frozen=True)
class Value:
    name: str
    value: str  # derived, or ""
    default: str  # of what a caller may choose, or ""
    facts: Mapping[str, object]
    stride_of: tuple[Pointer, int] | None = None


@dataclass(frozen=True)
class Before:
    """A launch that makes arguments of ours: its family, arguments it gets, and which of its results are which of ours."""

    family: str
    sets: Mapping[str, str | int]
    gives: Mapping[str, str]


@dataclass
class Family:
    name: str
    path: Path
    title: list[str]  # the comment that its file begins with
    purpose: str
    op: str
    targets: list[str]
    template: str
    symbol: list
    named: dict[str, dict[str, int]]
    variants: list[dict]
    candidates: list[dict]
    sizes: dict[str, dict]
    pointers: dict[str, Pointer]
    values: dict[str, Value]
    order: list[str]  # of arguments
    let: dict[str, str]
    grid: dict
    lds: str
    choice: dict
    slices: dict
    before: list[Before]
    workspace: dict
    promises: dict[str, str]
    example: dict
    rules: list[Rule] = field(default_factory=list)

    @property
    def derived(self) -> dict[str, str]:
        """Arguments and [let]: what follows from others, in order."""
        return self.let | {v.name: v.value for v in self.values.values() if v.value}

    @property
    def match(self) -> list[str]:
        return self.choice.get("match", [])

    @property
    def parameters(self) -> dict[str, list]:
        """Every parameter and the values that it has."""
        out: dict[str, list] = {}
        for row in [*self.variants, *({k: v for k, v in c.items() if k != "of"} for c in self.candidates)]:
            for key, value in row.items():
                if key not in VARIANT_KEYS:
                    for one in value if isinstance(value, list) else [value]:
                        if one not in out.setdefault(key, []):
                            out[key].append(one)
        return out

    def is_text(self, parameter: str) -> bool:
        return any(isinstance(v, str) and v not in self.named.get(parameter, {}) for v in self.parameters[parameter])

    def offsets(self) -> dict[str, tuple[int, int]]:
        """Argument -> offset and size: in order, each naturally aligned."""
        at, out = 0, {}
        for name in self.order:
            size = 8 if name in self.pointers else 4
            at = -(-at // size) * size
            out[name] = (at, size)
            at += size
        return out

    @property
    def kernarg_bytes(self) -> int:
        offset, size = self.offsets()[self.order[-1]]
        return offset + size


class Place:
    """Where in a file an error is."""

    def __init__(self, path: Path, text: str) -> None:
        self.path, self.lines = path, text.splitlines()
        self.included: list[Place] = []

    def fail(self, section: str, key: str, what: str) -> NoReturn:
        raise ValueError(f"{self.at(section, key)}: {f'[{section}] ' if section else ''}{key}: {what}")

    def at(self, section: str, key: str) -> str:
        """File and line of the key, or of the rule that it is; else of the section."""
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
    """Tables row by row, a row of `own` in place of one of `base`; lists one after the other."""
    out = dict(base)
    for key, value in own.items():
        was = out.get(key)
        out[key] = was | value if isinstance(was, dict) else was + value if isinstance(was, list) else value
    return out


def _merged(root: Path, path: Path) -> tuple[dict, Place]:
    """A contract, after all that it includes."""
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
            place.fail("arguments", name, f"{len(shape)} dimensions, or {len(other_shape)}: there must be as many")
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


def listed(values: list) -> str:
    """32, 64 or 128"""
    words = [str(v) for v in values]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def power(value: int) -> str:
    """2^32 - 1 rather than ten digits."""
    for add in (0, -1):
        bits = (value - add).bit_length() - 1
        if value - add == 1 << bits and bits >= 16:
            return f"2^{bits}" + ("-1" if add else "")
    return str(value)


def _size_rules(f: Family, name: str, row: Mapping) -> Iterator[Rule]:
    """min, max, one_of, multiple of a size."""
    when, remedy, why = row.get("when", ""), row.get("remedy", ""), row.get("why", "")
    low, high = row.get("min", 0 if "max" in row else None), row.get("max")
    tail = f"; {remedy}" if remedy else f", {why}" if why else ""
    if "one_of" in row:
        codes = [f.named.get(name, {}).get(v, v) for v in row["one_of"]]
        words = row.get("words") or listed(row["one_of"])
        numbers = [c for c in codes if isinstance(c, int) and c < U32 - 1]
        yield Rule("shape", f"{name} in ({', '.join(map(repr, codes))},)", f"{name} = {{{name}}}: must be {words}{tail}", when,
                   {name: max(numbers) + 1 if numbers else ""}, name)  # fmt: skip
    elif high is not None:
        text = f"{name} = {{{name}}}: must be {low}..{high if high < 10**9 else power(high)}{tail}"
        yield Rule("shape", f"{low} <= {name} <= {high}" if low else f"{name} <= {high}", text, when, {name: high + 1}, name)
    elif low is not None:
        tail = tail or ("; there is nothing to launch" if low == 1 else "")
        yield Rule("shape", f"{name} >= {low}", f"{name} = {{{name}}}: must be at least {low}{tail}", when, {name: low - 1}, name)
    if "multiple" in row:
        text = f"{name} = {{{name}}}: must be a multiple of {{{row['multiple']}}}" + (f"; {remedy}" if remedy else f", {why}" if why else "")
        yield Rule("shape", f"{name} % ({row['multiple']}) == 0", text, when, {name: f"{name} + 1"}, name)


def _pointer_rules(p: Pointer, own: list[Rule]) -> Iterator[Rule]:
    if p.when and not any(rule.needs == f"{p.name} == 0" for rule in own):  # it says better why
        text = f"{p.name} = {{{p.name}:#x}}: must be null here{', ' + p.why if p.why else ''}"
        yield Rule("operands", f"{p.name} == 0", text, f"not ({p.when})", {p.name: 4096}, p.name)
    if not p.optional:
        yield Rule("operands", f"{p.name} != 0", f"{p.name} is null: it must point to device memory", p.when, {p.name: 0}, p.name)
    if p.align != 1:
        align = p.align if isinstance(p.align, int) else f"{{{p.align}}}"
        text = f"{p.name} = {{{p.name}:#x}}: must be {align}-byte aligned; allocations of hipMalloc are"
        yield Rule("operands", f"{p.name} % {p.align} == 0", text, p.when, {p.name: f"{p.name} + 1"}, p.name)


def _stride_rules(v: Value) -> Iterator[Rule]:
    p, at = v.stride_of
    row, facts = p.extent_of(at + 1), v.facts
    unit, below = facts.get("multiple", p.size if p.other else ELEMENT_BYTES[p.element]), facts.get("below", U32)
    what = facts.get("row", f"a row of {p.name}, {p.element}[{p.row}]," if at == len(p.shape) - 2 else f"what it spans of {p.name},")
    why = facts.get("why", "as it is a 32-bit argument")
    when = facts.get("when", p.when)
    yield Rule("operands", f"{v.name} >= {row}", f"{v.name} = {{{v.name}}}: must be at least {what} {{{row}}} bytes", when, {v.name: f"{row} - 1"}, v.name)
    if unit != 1:
        shown = unit if isinstance(unit, int) else f"{{{unit}}}"
        text = f"{v.name} = {{{v.name}}}: must be a multiple of {shown}; pad to {{round_up({v.name}, {unit})}} bytes"
        yield Rule("operands", f"{v.name} % {unit} == 0", text, when, {v.name: f"{v.name} + 1"}, v.name)
    yield Rule("operands", f"{v.name} < {below}", f"{v.name} = {{{v.name}}}: must be below {{{below}}}, {why}", when,
               {v.name: f"round_up({below}, {unit})"}, v.name)  # fmt: skip


def _choice_rules(v: Value) -> Iterator[Rule]:
    low, high, why = v.facts.get("min", 0), v.facts.get("max"), v.facts.get("why", "")
    tail = f", {why}" if why else ""
    if high is not None:
        yield Rule("choices", f"{low} <= {v.name} <= ({high})" if low else f"{v.name} <= ({high})", f"{v.name} = {{{v.name}}}: must be {low}..{{{high}}}{tail}", "",
                   {v.name: f"({high}) + 1"}, v.name)  # fmt: skip
    elif low:
        yield Rule("choices", f"{v.name} >= {low}", f"{v.name} = {{{v.name}}}: must be at least {low}{tail}", "", {v.name: low - 1}, v.name)


def _overlap_rules(f: Family) -> Iterator[Rule]:
    """A result overlaps nothing: a workgroup may read what another one has overwritten already. Of two results the
    second is told where the first one is."""
    results = [p for p in f.pointers.values() if p.written]
    for at, c in enumerate(results):
        for other in [p for p in f.pointers.values() if not p.written] + results[:at]:
            if other.name in c.overlaps or c.name in other.overlaps:
                continue
            apart = f"{other.name} == 0 or {c.name} + extent({c.name}) <= {other.name} or {other.name} + extent({other.name}) <= {c.name}"
            text = (f"{c.name} = {{{c.name}:#x}}, {{extent({c.name})}} bytes, overlaps {other.name} = {{{other.name}:#x}}, "
                    f"{{extent({other.name})}} bytes: give the result memory of its own")  # fmt: skip
            yield Rule("choices" if f.variants else "operands", apart, text, other.when, {c.name: other.name}, c.name)


def _grid_rule(f: Family) -> Iterator[Rule]:
    if "x" in f.grid and not f.grid.get("bounded"):
        sizes = [n for n in f.sizes if n in _all_names(f, f.grid["x"]) and n not in f.match]
        shown = ", ".join(f"{n} = {{{n}}}" for n in sizes)
        text = f"{shown}: {{{f.grid['x']}}} workgroups of {{kernel.block}} are more than 2^32 - 1 work-items; {f.grid.get('remedy', 'split the launch')}"
        yield Rule("choices", f"({f.grid['x']}) * kernel.block < {THREADS}", text, "", f.grid.get("breaks", {}), "grid")


def _all_names(f: Family, text: str) -> set[str]:
    """Those of an expression, and of what they follow from."""
    out, todo = set(), set(names_of(text))
    while todo:
        name = todo.pop()
        out.add(name)
        if name in f.derived:
            todo |= names_of(f.derived[name]) - out
        elif name in f.values and f.values[name].default:
            todo |= names_of(f.values[name].default) - out
    return out


def _phase(f: Family, names: set[str]) -> str:
    """When all of these are known."""
    used = set(names)
    for name in names:
        used |= _all_names(f, name)
    if used & {v.name for v in f.values.values() if v.default} or any(n.startswith(("kernel.", "part.", "target.")) for n in used):
        return "choices"
    operands = f.pointers.keys() | {v.name for v in f.values.values() if v.stride_of}
    return "operands" if used & operands or any(n.startswith("p.") for n in used) else "shape"


def _rules(place: Place, f: Family, listed_rules: list[dict]) -> list[Rule]:
    out = [rule for name, row in f.sizes.items() for rule in _size_rules(f, name, row)]
    own = []
    for row in listed_rules:
        _known(place, "rules", row, RULE_KEYS)
        if missing := {"needs", "says", "breaks"} - row.keys():
            place.fail("rules", str(row.get("needs", "needs")), f"{', '.join(sorted(missing))} missing: a rule has a text, and values that break it")
        for text in (row["needs"], row.get("when", "1")):
            _parsed(place, "rules", row["needs"], text)
        phase = _phase(f, names_of(row["needs"]) | names_of(row.get("when", "1")))
        own.append(Rule(phase, row["needs"], row["says"], row.get("when", ""), row["breaks"], "rules"))
    out += [rule for rule in own if rule.phase == "shape"]
    for p in f.pointers.values():
        out += _pointer_rules(p, own)
    for v in f.values.values():
        if v.stride_of and not v.value:
            out += _stride_rules(v)
    out += [rule for rule in own if rule.phase == "operands"]
    for v in f.values.values():
        if v.default:
            out += _choice_rules(v)
    out += [rule for rule in own if rule.phase == "choices"]
    # Last: extents are known, and of a product that is not too large.
    return [*out, *_grid_rule(f), *_overlap_rules(f)]


def texts_of(f: Family, size: str) -> list[str]:
    """What an op's value may be, where it is text."""
    row, own = f.sizes[size], f.parameters[size] if size in f.parameters and f.is_text(size) else []
    return row.get("texts") or [v for v in row.get("one_of", []) if isinstance(v, str) and v not in f.named.get(size, {})] or own


def scope_of(f: Family, target_facts: Mapping[str, str] = {}, words: Mapping[str, list[str]] = {}) -> dict[str, Name]:
    """Every name that an expression of the family may use. words: of the op's values that are text."""
    out = {fact: Name(f"k.{fact.split('.')[1]}", unit) for fact, unit in KERNEL_FACTS.items()}
    out["part.wgps"] = Name("m.wgps", NUMBER)
    for fact, unit in target_facts.items():
        out[f"target.{fact}"] = Name(f"m.target->{fact}", unit)
    for size in ELEMENT_BYTES.values():
        out[f"size_{size}"] = Name(f"u64{{{size}}}", BYTES)
    for name in f.parameters:
        text = f.is_text(name)
        out[f"p.{name}"] = Name(f"k.p.{name}", TEXT if text else ELEMENTS, {w: f'word("{w}")' for w in f.parameters[name]} if text else None)
    for name, row in f.sizes.items():
        known = words.get(name) or texts_of(f, name)
        out[name] = Name(f"o.{name}", TEXT if known else row.get("unit", ELEMENTS), {w: f'word("{w}")' for w in known} if known else None)
    for name, p in f.pointers.items():
        out[name] = Name(f"o.{name}", BYTES)
    for name, v in f.values.items():
        if name not in f.sizes:
            unit = BYTES if v.stride_of else v.facts.get("unit", ELEMENTS)
            out[name] = Name(f"{name}_" if v.value else f"o.{name}", unit)
    for name, p in f.pointers.items():
        out[f"extent({name})"] = Name(f"extent_{name}", BYTES)
    for name in f.let:
        out[name] = Name(f"{name}_", "")
    for name in ordered("[let]", f.let):
        try:
            out[name] = Name(f"{name}_", Writer(out).unit(f.let[name]))
        except ExpressionError as error:
            raise ExpressionError(f"[let] {name} = `{f.let[name]}`: {error}") from error
    return out


def _parsed(place: Place, section: str, key: str, text: str) -> None:
    try:
        parse(text)
    except ExpressionError as error:
        place.fail(section, key, str(error))


def _expressions(f: Family) -> Iterator[tuple[str, str, str, str | None]]:
    """Section, key, expression and the unit that is wanted, of all but the rules."""
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
        for name, text in before.sets.items():
            yield "before", name, str(text), None


def _check(place: Place, f: Family, target_facts: Mapping[str, str]) -> None:
    try:
        ordered("[let] and [arguments]", f.derived)
        scope = scope_of(f, target_facts)
    except ExpressionError as error:
        place.fail("let", next((n for n in f.derived if f" {n} " in f" {error} "), ""), str(error))
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
            for inserted in re.findall(r"\{([^}]*?)(?::#x)?\}", rule.says):
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


def _title(place: Place) -> list[str]:
    """The comment on top, after the licence: what the family makes. Headers of its kernels begin with it."""
    comment = itertools.takewhile(lambda line: line.startswith("#"), place.lines)
    return [line.removeprefix("#").removeprefix(" ") for line in comment if "SPDX" not in line]


def _read(root: Path, path: Path, needed: tuple[str, ...], given: Mapping = {}) -> tuple[Family, Place, list[dict]]:
    """A family without its rules, and those that its file lists."""
    table, place = _merged(root, path)
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
    pointers, values = _arguments(place, table["arguments"])
    f = Family(
        name, path, _title(place), table["purpose"], table.get("op", name), table["targets"],
        str((path.parent / table["template"]).resolve().relative_to((root / "asm").resolve())), table["symbol"],
        table.get("named", {}), table["variants"], table.get("candidates", []), table.get("sizes", {}), pointers, values,
        table.get("order") or list(table["arguments"]), {k: str(v) for k, v in table.get("let", {}).items()}, table["grid"],
        str(table.get("lds", {}).get("dynamic", "0")), table.get("choice", {}), table.get("slices", {}),
        [Before(b["family"], b.get("sets", {}), b["gives"]) for b in table.get("before", [])], table.get("workspace", {}),
        table.get("promises", {}), table["example"],
    )  # fmt: skip
    if sorted(f.order) != sorted(table["arguments"]):
        place.fail("", "order", f"{', '.join(sorted(set(f.order) ^ table['arguments'].keys()))}: of the kernarg segment, has every argument once")
    _order_defaults(place, f)
    return f, place, table.get("rules", [])


def _order_defaults(place: Place, f: Family) -> None:
    """Puts what a caller may choose after what its default follows from."""
    chosen = {v.name: v.default for v in f.values.values() if v.default}
    try:
        uses = {name: " + ".join(sorted(_all_names(f, text) & chosen.keys())) or "0" for name, text in chosen.items()}
        order = ordered("[arguments] default", uses)
    except ExpressionError as error:
        place.fail("arguments", "", str(error))
    f.values = {name: f.values[name] for name in [*(n for n in f.values if n not in chosen), *order]}


def _with_rules(f: Family, place: Place, listed_rules: list[dict], target_facts: Mapping[str, str]) -> Family:
    for section, key, text, _ in _expressions(f):
        _parsed(place, section, key, text)
    try:
        f.rules = _rules(place, f, listed_rules)
    except ExpressionError as error:
        place.fail("rules", "", str(error))
    _check(place, f, target_facts)
    return f


def load(root: Path, path: Path, target_facts: Mapping[str, str] = {}) -> Family:
    """A contract. Refused with the file, its line, the value, the rule and the remedy."""
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
    """The contract of an op that takes several launches: a family without kernels, which has what a caller brings."""
    given = {"purpose": "library", "targets": [], "template": "", "symbol": [], "variants": [], "grid": {}}
    f, place, listed_rules = _read(root, path, ("arguments", "example"), given)
    for key in given:
        if getattr(f, key) != given[key] and key != "template":
            place.fail("", key, "an op has none: its families have")
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
    """The contracts of ops that take several launches: asm/ops/<op>/op.toml."""
    return {path.parent.name: load_op(root, path) for path in sorted((root / "asm/ops").glob("*/op.toml"))}
