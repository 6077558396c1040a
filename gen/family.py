# SPDX-License-Identifier: MIT
"""A family's contract in memory: arguments, sizes, rules, choice. gen/contract.py reads it from a file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from expressions import BYTES, ELEMENTS, NUMBER, TEXT, ExpressionError, Name, Writer, names_of, ordered

PURPOSES = ("library", "micro", "baseline", "ablation", "validate")
NEVER_CHOSEN = ("baseline", "ablation", "validate")
ELEMENT_BYTES = {"u8": 1, "f16": 2, "dtype": 2, "u32": 4, "i32": 4, "f32": 4, "lane16": 16}
ACCESS = {"read": "read_only", "write": "write_only", "update": "read_write"}
INSERTED = re.compile(r"\{([^{}]*?)(:#x|:f32)?\}")  # in texts: an expression; :#x in hexadecimal, :f32 as the f32 of these bits
MOST_COSTS = 4  # host/runtime/contract.h: Cost
VARIANT_KEYS = {"purpose", "targets", "template"}  # beside parameters
KERNEL_FACTS = {
    "kernel.block": ELEMENTS, "kernel.rows_per_workgroup": ELEMENTS, "kernel.lds_bytes": BYTES,
    "kernel.waves_per_simd": ELEMENTS, "kernel.vgprs": ELEMENTS,
}  # fmt: skip


@dataclass(frozen=True)
class Rule:
    """`needs` holds, or the launch is refused with `says`: text with {expressions} in it, {x:#x} in hexadecimal, {x:f32} as the
    f32 of these bits."""

    phase: str
    needs: str
    says: str
    when: str = ""
    breaks: Mapping[str, int | str] = field(default_factory=dict)  # values that replace those of [example]
    about: str = ""  # its argument

    @property
    def expression(self) -> str:
        return f"({self.needs}) if ({self.when}) else 1" if self.when else self.needs

    @property
    def names(self) -> set[str]:
        used = names_of(self.needs) | (names_of(self.when) if self.when else set())
        for inserted, _ in INSERTED.findall(self.says):
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
    default: str  # where a caller may choose, else ""
    facts: Mapping[str, object]
    stride_of: tuple[Pointer, int] | None = None


@dataclass(frozen=True)
class Before:
    """A launch that produces arguments of this family: its family, its arguments, and which results are which arguments."""

    family: str
    sets: Mapping[str, str | int]
    gives: Mapping[str, str]
    when: str = ""  # else it does not run
    of: str = ""  # of an op that others serve: the one that it precedes
    then: Mapping[str, str | int] = field(default_factory=dict)  # values of that op once its results are there


@dataclass(frozen=True)
class Copied:
    """Rows of an operand with gaps between them, which are copied next to each other into the workspace first."""

    argument: str
    rows: str  # how many
    row: str  # bytes of one
    stride: str  # bytes from one to the next
    when: str


@dataclass
class Family:
    name: str
    path: Path
    title: list[str]  # the comment at the top of its file
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
    copies: list[Copied]  # of an op
    served_by: list[str]  # of an op without families: the ops that serve it, of which the first that has kernels is taken
    workspace: dict
    promises: dict[str, str]
    edges: dict[str, list]
    example: dict
    rules: list[Rule] = field(default_factory=list)

    @property
    def derived(self) -> dict[str, str]:
        """Derived arguments and [let], in order of dependency."""
        return self.let | {v.name: v.value for v in self.values.values() if v.value}

    def names_behind(self, text: str) -> set[str]:
        """Names in an expression, and the names that their values and defaults depend on."""
        out, todo = set(), set(names_of(text))
        while todo:
            name = todo.pop()
            out.add(name)
            if name in self.derived:
                todo |= names_of(self.derived[name]) - out
            elif name in self.values and self.values[name].default:
                todo |= names_of(self.values[name].default) - out
        return out

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


def texts_of(f: Family, size: str) -> list[str]:
    """Possible values of an op's text field."""
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
