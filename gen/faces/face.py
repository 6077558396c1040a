# SPDX-License-Identifier: MIT
"""The faces of an op as data, from [face] of asm/ops/<op>/op.toml: what its C struct, its calls and Python's method are made from."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import contract
from catalogue import families_of
from family import Family, texts_of

FACE_KEYS = {"struct", "call", "operand", "text", "members", "queues", "prepare", "prepared_by", "workspace", "python"}
MEMBER_KEYS = {"says", "enumerators", "by", "init", "c", "sets"}
CALL_KEYS = {"call", "reads", "says", "also"}
C_ELEMENTS = {"f32": "float", "i32": "int32_t"}  # others are void
PREPARES = "Loads the kernels that such launches need, whatever their other members."
WORKSPACE = "Bytes of workspace, whichever kernels are chosen."


@dataclass(frozen=True)
class Member:
    name: str
    kind: str  # C's: uint32_t, or const float * with the star
    says: str
    enumerators: Mapping[str, str]  # word -> enumerator, of an op's value that is text
    by: str  # the function of host/capi that turns it into the op's value; "" for none
    init: str  # of _INIT
    sets: str  # the op's size or argument
    text: bool  # it is a word there

    @property
    def pointer(self) -> bool:
        return self.kind.endswith("*")


@dataclass(frozen=True)
class Group:
    """Members that stand together, under a comment or none."""

    says: str
    rows: tuple[tuple[Member, ...], ...]  # of one declaration each, beside the comment of its first


@dataclass(frozen=True)
class Reading:
    """A call that reads some members only: _prepare, _workspace_size."""

    call: str
    reads: list[str]
    says: str  # before "Reads a, b and c only."
    also: list[Mapping[str, str]]  # of _prepare: ops that this one's caller launches too, with values of their own


@dataclass
class Face:
    op: str  # of enum OpKind
    family: Family  # whose sizes, arguments and rules they are
    title: list[str]
    struct: str
    call: str
    operand: str  # what the calls name their pointer to the struct
    text: str  # above the struct; {title} stands for the contract's formula
    groups: list[Group]
    queues: str  # above the call
    prepare: Reading | None
    prepared_by: str  # the function that loads its kernels: its own _prepare, or another op's
    workspace: Reading | None
    python: bool  # else Context has a method by hand

    members: list[Member] = field(init=False)

    def __post_init__(self) -> None:
        self.members = [m for group in self.groups for row in group.rows for m in row]


def _fail(path: Path, key: str, what: str) -> None:
    raise ValueError(f"{path}: [face] {key}: {what}")


def _kind(f: Family, name: str) -> str:
    """C's type of a member: by what the contract says of it."""
    if name in f.pointers:
        p = f.pointers[name]
        element = "void" if p.other else C_ELEMENTS.get(p.element, "void")
        return f"{'' if p.written else 'const '}{element} *"
    if name in f.sizes and texts_of(f, name):
        return "int32_t"
    v = f.values.get(name)
    if v and (v.stride_of or v.facts.get("unit") == "bytes"):
        return "uint64_t"
    return "float" if v and _is_float(f, name) else "uint32_t"


def _is_float(f: Family, name: str) -> bool:
    """True of an argument that its rules show as one."""
    return any(f"{{{name}:f32}}" in rule.says for rule in f.rules)


def _member(path: Path, f: Family, name: str, row: str | Mapping) -> Member:
    facts = {"says": row} if isinstance(row, str) else dict(row)
    sets = facts.get("sets", name)
    if sets not in f.sizes and sets not in f.order:
        _fail(path, sets, f"is no size or argument of {f.name}: {', '.join(dict.fromkeys([*f.sizes, *f.order]))}")
    if unknown := facts.keys() - MEMBER_KEYS:
        _fail(path, name, f"{', '.join(sorted(unknown))}: no key of a member: {', '.join(sorted(MEMBER_KEYS))}")
    enumerators = facts.get("enumerators", {})
    words = texts_of(f, sets) if sets in f.sizes else []
    if not facts.get("by") and set(enumerators) != set(words):
        _fail(path, name, f"enumerators are of {', '.join(enumerators) or 'none'}: they must be of every word that it may be, and of no other")
    kind = facts.get("c") or ("int32_t" if facts.get("by") else _kind(f, sets))
    return Member(name, kind, facts.get("says", ""), enumerators, facts.get("by", ""), facts.get("init", "NULL" if kind.endswith("*") else "0"), sets, bool(words))


def _reading(path: Path, face: Mapping, key: str, end: str, says: str) -> Reading | None:
    if key not in face:
        return None
    if unknown := face[key].keys() - CALL_KEYS:
        _fail(path, key, f"{', '.join(sorted(unknown))}: no key of it: {', '.join(sorted(CALL_KEYS))}")
    call = face[key].get("call", f"{face['call'].removesuffix('_linear')}_{end}")
    return Reading(call, face[key]["reads"], face[key].get("says", says), face[key].get("also", []))


def _row(path: Path, f: Family, names: str, row: str | Mapping) -> tuple[Member, ...]:
    """The members of a key: x_s, or "x_b, x_s, x_h" of one type."""
    return tuple(_member(path, f, name, row) for name in names.split(", "))


def _needed(f: Family) -> list[str]:
    """What a caller brings: sizes and arguments that follow from nothing, and have no default."""
    return [n for n in dict.fromkeys([*f.sizes, *f.order]) if n in f.sizes or n in f.pointers or not (f.values[n].value or f.values[n].default)]


def _read(path: Path, table: Mapping, f: Family) -> Face:
    face = table["face"]
    if unknown := face.keys() - FACE_KEYS:
        _fail(path, ", ".join(sorted(unknown)), f"no key of [face]: {', '.join(sorted(FACE_KEYS))}")
    groups = [Group(row.get("says", ""), tuple(_row(path, f, n, v) for n, v in row.items() if n != "says")) for row in face["members"]]
    title = contract.title_of(path.read_text().splitlines())
    if ("prepare" in face) == ("prepared_by" in face):
        _fail(path, "prepare", "one of [face.prepare] and prepared_by says what loads the kernels")
    prepare = _reading(path, face, "prepare", "prepare", PREPARES)
    out = Face(
        f.op, f, title, face["struct"], face["call"], face["operand"], face["text"].strip("\n"), groups, face.get("queues", "Queues it on `stream`."),
        prepare, prepare.call if prepare else face["prepared_by"], _reading(path, face, "workspace", "workspace_size", WORKSPACE), face.get("python", True),
    )  # fmt: skip
    if ("workspace" in f.order) != (out.workspace is not None):
        _fail(path, "workspace", "an op with a workspace has [face.workspace], which says what its size depends on, and no other")
    for reading in filter(None, (out.prepare, out.workspace)):
        if unknown := set(reading.reads) - {m.name for m in out.members}:
            _fail(path, "reads", f"{', '.join(sorted(unknown))}: no member")
    if missing := set(_needed(f)) - {m.sets for m in out.members}:
        _fail(path, "members", f"{', '.join(sorted(missing))} missing: a caller must be able to give every size and argument")
    return out


def load(root: Path, families: Mapping[str, Family], ops: Mapping[str, Family] = {}) -> list[Face]:
    """The faces of all op.toml that have one, by name. Without a `family` its sizes, arguments and rules are its own."""
    out = []
    for path in sorted((root / "asm/ops").glob("*/op.toml")):
        table = tomllib.loads(path.read_text())
        if "face" in table:
            f = families.get(table["family"]) if "family" in table else ops[path.parent.name]
            if not f:
                _fail(path, "family", f"'{table.get('family')}' is no family: it says whose sizes, arguments and rules the op has")
            out.append(_read(path, table, f))
    return out


def load_all(root: Path) -> list[Face]:
    return load(root, families_of(root), contract.load_ops(root))
