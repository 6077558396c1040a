# SPDX-License-Identifier: MIT
"""The faces of an op as data, from [face] of asm/ops/<op>/op.toml: what its C struct, its calls and Python's method are made from."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import contract
from catalogue import families_of
from expressions import names_of
from family import Family, texts_of

FACE_KEYS = {"struct", "size", "call", "operand", "text", "members", "defaults", "queues", "prepare", "prepared_by", "workspace", "python", "like", "arguments", "rules"}
MEMBER_KEYS = {"says", "enumerators", "by", "beside", "init", "c", "sets", "when", "value", "python"}
CALL_KEYS = {"call", "reads", "nulls", "says", "text", "also", "others", "any", "or_none"}
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
    beside: str  # another member, which that function takes too; "" for none
    init: str  # of _INIT
    sets: str  # the op's size or argument
    text: bool  # it is a word there
    flag: bool  # it is 0 or 1 there
    when: str  # the member is read only where this holds of the op, by an expression of the contract; "": always
    value: str  # what the op gets in its place, by such an expression; "": the member
    python: bool  # else Python's method leaves it null

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
    nulls: list[str]  # pointers of which only matters whether they are null
    says: str  # before "Reads a, b and c only."
    text: str  # in place of both; {reads} and {nulls} stand for the lists
    also: list[Mapping[str, str]]  # of _prepare: ops that this one's caller launches too, with values of their own
    others: Mapping[str, int | str]  # values of members that are not read, in place of the contract's example
    any: Mapping[str, int | list[int]]  # of a member that may be 0: what it stands for then
    or_none: bool  # of _prepare: an op without kernels needs none


@dataclass
class Face:
    op: str  # of enum OpKind
    family: Family  # whose sizes, arguments and rules they are
    title: list[str]
    struct: str
    size: str  # beside its first member
    call: str
    operand: str  # what the calls name their pointer to the struct
    text: str  # above the struct; {title} stands for the contract's formula
    defaults: str  # above _INIT
    groups: list[Group]
    queues: str  # above the call
    prepare: Reading | None
    prepared_by: str  # the function that loads its kernels: its own _prepare, or another op's
    workspace: Reading | None
    readings: list[Reading]  # both, in the order of the file
    python: bool  # else Context has a method by hand
    like: Face | None  # whose struct it takes
    arguments: list[Member]  # of the call, between the struct and the stream
    rules: list[Mapping[str, str]]  # beside the contract's: `needs` and `says`

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
    if name in f.sizes and (texts_of(f, name) or _is_flag(f, name)):
        return "int32_t"
    v = f.values.get(name)
    if v and (v.stride_of or v.facts.get("unit") == "bytes"):
        return "uint64_t"
    return "float" if v and _is_float(f, name) else "uint32_t"


def _is_flag(f: Family, name: str) -> bool:
    return name in f.sizes and f.sizes[name].get("one_of") == [0, 1]


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
    when, value = facts.get("when", ""), facts.get("value", "")
    for key, text in (("when", when), ("value", value)):
        if unknown := (names_of(text) if text else set()) - {*f.sizes, *f.order}:
            _fail(path, name, f"{key} = `{text}`: {', '.join(sorted(unknown))}: must be sizes or arguments of {f.name}")
    kind = facts.get("c") or ("int32_t" if facts.get("by") else _kind(f, sets))
    init = facts.get("init", "NULL" if kind.endswith("*") else "0")
    return Member(name, kind, facts.get("says", ""), enumerators, facts.get("by", ""), facts.get("beside", ""), init, sets, bool(words), _is_flag(f, sets), when, value, facts.get("python", True))


def _reading(path: Path, face: Mapping, key: str, end: str, says: str) -> Reading | None:
    if key not in face:
        return None
    row = face[key]
    if unknown := row.keys() - CALL_KEYS:
        _fail(path, key, f"{', '.join(sorted(unknown))}: no key of it: {', '.join(sorted(CALL_KEYS))}")
    call = row.get("call", f"{face['call'].removesuffix('_linear')}_{end}")
    return Reading(
        call, row["reads"], row.get("nulls", []), row.get("says", says), row.get("text", ""), row.get("also", []), row.get("others", {}), row.get("any", {}),
        row.get("or_none", False),
    )  # fmt: skip


def _row(path: Path, f: Family, names: str, row: str | Mapping) -> tuple[Member, ...]:
    """The members of a key: x_s, or "x_b, x_s, x_h" of one type, of which one may have facts of its own under its name."""
    each = names.split(", ")
    own = {name: row[name] for name in each if name in row} if len(each) > 1 and isinstance(row, Mapping) else {}
    common = {key: value for key, value in row.items() if key not in own} if own else row
    return tuple(_member(path, f, name, own.get(name, common)) for name in each)


def _needed(f: Family) -> list[str]:
    """What a caller brings: sizes and arguments that follow from nothing, and have no default."""
    return [n for n in dict.fromkeys([*f.sizes, *f.order]) if n in f.sizes or n in f.pointers or not (f.values[n].value or f.values[n].default)]


def _read(path: Path, table: Mapping, f: Family, like: Face | None) -> Face:
    """`like`: the face whose struct it takes. Then sizes and members are that one's, and `f` has the arguments."""
    face = table["face"]
    if unknown := face.keys() - FACE_KEYS:
        _fail(path, ", ".join(sorted(unknown)), f"no key of [face]: {', '.join(sorted(FACE_KEYS))}")
    struct, operand = (like.struct, like.operand) if like else (face["struct"], face["operand"])
    groups = like.groups if like else [Group(row.get("says", ""), tuple(_row(path, f, n, v) for n, v in row.items() if n != "says")) for row in face["members"]]
    arguments = [_member(path, f, name, row) for name, row in face.get("arguments", {}).items()]
    if ("prepare" in face) == ("prepared_by" in face):
        _fail(path, "prepare", "one of [face.prepare] and prepared_by says what loads the kernels")
    prepare = _reading(path, face, "prepare", "prepare", PREPARES)
    workspace = _reading(path, face, "workspace", "workspace_size", WORKSPACE)
    readings = [reading for key in face if (reading := {"prepare": prepare, "workspace": workspace}.get(key))]
    out = Face(
        path.parent.name, like.family if like else f, contract.title_of(path.read_text().splitlines()), struct,
        face.get("size", f"sizeof({struct}); {struct.upper()}_INIT sets it"), face["call"], operand, face.get("text", "").strip("\n"),
        face.get("defaults", ""), groups, face.get("queues", "Queues it on `stream`."), prepare, prepare.call if prepare else face["prepared_by"],
        workspace, readings, face.get("python", True), like, arguments,
        face.get("rules", []),
    )  # fmt: skip
    if "workspace" in f.order and not out.workspace:
        _fail(path, "workspace", "an op with a workspace has [face.workspace], which says what its size depends on")
    for reading in readings:
        if unknown := {*reading.reads, *reading.nulls, *reading.others, *reading.any} - {m.name for m in out.members}:
            _fail(path, "reads", f"{', '.join(sorted(unknown))}: no member")
    if missing := set(_needed(f)) - {m.sets for m in [*out.members, *arguments]}:
        _fail(path, "members", f"{', '.join(sorted(missing))} missing: a caller must be able to give every size and argument")
    return out


def _of_all(f: Family, families: Iterable[Family]) -> Family:
    """The family with the sizes of all that serve its op, and their words."""
    sizes = dict(f.sizes)
    for other in families:
        for name, row in other.sizes.items() if other.op == f.op else ():
            sizes[name] = row | sizes.get(name, {})
    return replace(f, sizes=sizes)


def _family(path: Path, table: Mapping, families: Mapping[str, Family], ops: Mapping[str, Family]) -> Family:
    """Whose sizes, arguments and rules the op has: its own, or with a `family` those of all that serve it."""
    if "family" not in table:
        return ops[path.parent.name]
    if table["family"] not in families:
        _fail(path, "family", f"'{table['family']}' is no family: it says whose sizes, arguments and rules the op has")
    return _of_all(families[table["family"]], families.values())


def load(root: Path, families: Mapping[str, Family], ops: Mapping[str, Family] = {}) -> list[Face]:
    """The faces of all op.toml that have one, by name."""
    paths = sorted((root / "asm/ops").glob("*/op.toml"))
    tables = {path: table for path in paths if "face" in (table := tomllib.loads(path.read_text()))}
    out: dict[str, Face] = {}
    for path in sorted(tables, key=lambda path: "like" in tables[path]["face"]):
        like = tables[path]["face"].get("like")
        if like is not None and like not in out:
            _fail(path, "like", f"'{like}' has no face with a struct of its own")
        out[path.parent.name] = _read(path, tables[path], _family(path, tables[path], families, ops), out.get(like))
    return [out[path.parent.name] for path in tables]


def load_all(root: Path) -> list[Face]:
    return load(root, families_of(root), contract.load_ops(root))
