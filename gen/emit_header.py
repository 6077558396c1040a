# SPDX-License-Identifier: MIT
"""The contract at the top of a rendered kernel: the family's rules with this kernel's parameters substituted."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator, Mapping
from typing import Protocol

from catalogue import Kernel
from expressions import names_of
from family import INSERTED, Pointer, Rule, Value
from fold import FALSE, TRUE, folded, holds, known_of, shown, value_of
from rules import listed

WIDTH = 100
RULER = "//" + "=" * 78
ACCESS_WORDS = {"read": "read", "write": "written", "update": "updated"}
FACTS = ("lds_bytes", "waves_per_simd", "vgprs")
COMPARISONS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "=", ast.NotEq: "not"}


class Rendered(Protocol):
    """The attributes of a rendered kernel (gen/render.py) that emitters read."""

    kernel: Kernel
    vgprs: int
    sgprs: int
    lds_bytes: int
    waves_per_simd: int


class Contract:
    """A family's contract for one kernel."""

    def __init__(self, r: Rendered, arch: Mapping[str, object]) -> None:
        self.r, self.k, self.f = r, r.kernel, r.kernel.contract
        f, k = self.f, self.k
        params = {name: f.named.get(name, {}).get(value, value) for name, value in k.params.items()}
        known = {f"p.{name}": ast.Constant(value) for name, value in params.items()}
        for pair in f.match:  # the op's value is the kernel's
            name, _, parameter = pair.partition("=")
            known[name] = known[f"p.{parameter or name}"]
        facts = {name: getattr(k, name) for name in ("block", "rows_per_workgroup")} | {name: getattr(r, name) for name in FACTS}
        known |= {f"kernel.{name}": ast.Constant(value) for name, value in facts.items()}
        known |= {f"target.{name}": ast.Constant(value) for name, value in arch.items()}
        self.matched = {pair.partition("=")[0] for pair in f.match}
        self.known = known_of(f, known)
        for name, text in f.derived.items():
            if value_of(value := folded(text, self.known)) is not None:
                self.known[name] = value
        self.used: set[str] = set()
        self.left = [part for rule in f.rules for part in self.left_of(rule)]

    def node(self, text: str | int) -> ast.expr:
        node = folded(text, self.known)
        self.used |= names_of(node)
        return node

    def text(self, text: str | int) -> str:
        return shown(self.node(text))

    def left_of(self, rule: Rule) -> Iterator[tuple[Rule, str, ast.expr, str]]:
        """The part of a rule that is open for this kernel: its subject, the condition, and when it applies."""
        if rule.about in self.f.pointers and f"extent({rule.about})" in rule.needs:
            return  # all are alike: no overlap

        when = folded(rule.when, self.known) if rule.when else TRUE
        needs = folded(rule.needs, self.known)
        if holds(when) is False or holds(needs) is True:
            return
        if needs is FALSE and holds(when):
            raise ValueError(f"{self.f.name}: {self.k.symbol}: `{rule.needs}` never holds: no launch could keep to it")
        self.used |= names_of(needs) | names_of(when)
        shown_when = "" if holds(when) else shown(when)
        for node in needs.values if isinstance(needs, ast.BoolOp) and isinstance(needs.op, ast.And) else [needs]:
            yield rule, self.subject(rule, node) if not shown_when else rule.about, node, shown_when

    def subject(self, rule: Rule, node: ast.expr) -> str:
        """One of the family's own rules may be about one argument: `k % 32 == 0`."""
        if rule.about == "rules":
            for name in sorted(names_of(node) & (self.f.values.keys() | self.f.sizes.keys() - self.matched)):
                if self.predicate(name, node) != shown(node):
                    return name
        return rule.about

    def rules(self, about: str) -> list[str]:
        """Conditions on one argument, without its name."""
        texts = [(self.predicate(about, node), when) for _, subject, node, when in self.left if subject == about]
        return list(dict.fromkeys(f"{text} where {when}" if when else text for text, when in texts if text))

    def predicate(self, about: str, node: ast.expr) -> str:
        """`n % 4 == 0`, about n: a multiple of 4."""
        match node:
            case ast.Compare(left=ast.Name(id=name), ops=[op], comparators=[right]) if name == about:
                value = value_of(right)
                if isinstance(op, ast.In):
                    return listed([shown(one) for one in right.elts])
                if isinstance(op, ast.Lt) and isinstance(value, int) and value >= 2**32:
                    return ""  # any 32-bit number is
                return "" if name in self.f.pointers else f"{COMPARISONS[type(op)]} {shown(right)}".strip()
            case ast.Compare(left=low, ops=[ast.LtE(), ast.LtE()], comparators=[ast.Name(id=name), high]) if name == about:
                return f"{shown(low)}..{shown(high)}"
            case ast.Compare(left=ast.BinOp(left=ast.Name(id=name), op=ast.Mod(), right=by), ops=[ast.Eq()]) if name == about:
                return f"{shown(by)}-byte aligned" if name in self.f.pointers else f"a multiple of {shown(by)}"
        return shown(node)

    def given(self, p: Pointer) -> bool:
        """Whether this kernel reads it, at least in some launches."""
        return not p.when or holds(folded(p.when, self.known)) is not False

    def element(self, p: Pointer) -> str:
        first, other = (self.k.params.get(e, e) for e in (p.element, p.other[1] if p.other else ""))  # dtype is a parameter
        when = folded(p.other[0], self.known) if p.other else FALSE
        return first if holds(when) is False else other if holds(when) else f"{first} ({other} where {shown(when)})"

    def pointer(self, p: Pointer) -> str:
        if not self.given(p):
            return "not read: null"
        null, element = self.node(p.when) if p.when else TRUE, self.element(p)
        shape = ", ".join(self.text(d) for d in p.shape)
        parts = [f"{element}[{shape}]" + (f", stride {', '.join(p.strides)}" if p.strides else "")]
        parts += [text for text in self.rules(p.name) if "==" not in text]
        if p.optional or holds(null) is None:
            parts.append("may be null" if holds(null) else f"null unless {shown(null)}")
        if p.written:
            others = [o.name for o in self.f.pointers.values() if o.name in p.overlaps or p.name in o.overlaps]
            parts.append(f"may overlap {listed(others)}" if others else "no overlap")
        return ", ".join(parts)

    def value(self, v: Value) -> str:
        parts = [f"= {self.text(v.value)}"] if v.value else []
        stride = v.stride_of
        if stride and not self.given(stride[0]):
            return "not read"
        if v.name in self.matched:
            return f"{shown(self.known[v.name])}"
        parts += self.rules(v.name)
        parts += [f"default {self.text(v.default)}"] if v.default else []
        text = ", ".join(parts)
        return f"bytes{', ' * bool(parts)}{text}" if stride or v.facts.get("unit") == "bytes" else text

    def arguments(self) -> Iterator[str]:
        f, rows = self.f, []
        for name, (offset, _) in f.offsets().items():
            if p := f.pointers.get(name):
                rows.append((str(offset), name, ACCESS_WORDS[p.access], self.pointer(p)))
            else:
                rows.append((str(offset), name, "u32", self.value(f.values[name])))
        yield from columns(rows)

    def sizes(self) -> Iterator[str]:
        """Values of the op that are no arguments."""
        rows = []
        for name in self.f.sizes:
            if name not in self.f.order and name not in self.matched and (text := ", ".join(self.rules(name))):
                rows.append((name, text))
        yield from columns(rows)

    def own_rules(self) -> Iterator[str]:
        null = [f"{p.name} == 0" for p in self.f.pointers.values() if not self.given(p)]
        for rule, about, node, when in self.left:
            if about in ("rules", "grid") and rule.needs not in null:
                yield shown(node) + (f"   where {when}" if when else "")

    def lets(self) -> Iterator[str]:
        """Names used above and their definitions."""
        rows, todo = {}, sorted(self.used)
        while todo:
            name = todo.pop(0)
            if name in self.f.let and name not in rows:
                node = folded(self.f.let[name], self.known)
                rows[name] = shown(node)
                todo += sorted(names_of(node))
        yield from columns([(name, f"= {rows[name]}") for name in self.f.let if name in rows])

    def grid(self) -> Iterator[str]:
        workgroups = f"x = {self.text(self.f.grid['x'])}" if "x" in self.f.grid else "any"
        yield f"{workgroups}; {self.k.block} work-items each, wave32"

    def resources(self) -> Iterator[str]:
        dynamic, static = self.text(self.f.lds), self.r.lds_bytes
        parts = [f"{static} bytes"] * bool(static) + [f"{dynamic} bytes of dynamic LDS"] * (dynamic != "0")
        size = " and ".join(parts) or "none"
        what = self.promise(self.f.promises.get("lds", ""))
        yield from [f"{size}: {what[0]}", *what[1:]] if what else [size]

    def promise(self, text: str) -> list[str]:
        """Its {expressions} may be text: {'packed' if p.zeros == 'zp' else ''}."""

        def value(text: str) -> str:
            node = self.node(text)
            return node.value if isinstance(value_of(node), str) else shown(node)

        return INSERTED.sub(lambda found: value(found[1]), str(text)).splitlines()

    def sections(self) -> Iterator[tuple[str, list[str]]]:
        f, r, k = self.f, self.r, self.k
        yield "kernel", [
            ", ".join(f"{name} {value}" for name, value in k.params.items() if value != ""),
            f"{k.gfx}: {r.vgprs} VGPRs, {r.sgprs} SGPRs, {r.waves_per_simd} waves per SIMD",
        ]
        yield "args", list(self.arguments())
        yield "sizes", list(self.sizes())
        yield "rules", list(self.own_rules())
        grid, lds = list(self.grid()), list(self.resources())
        yield "where", list(self.lets())
        yield "grid", grid
        yield "lds", lds
        yield "workspace", [f"{name}: {'zero before and after' if b == 'counters' else self.text(b) + ' bytes'}" for name, b in f.workspace.items()]
        yield "before", [f"{b.family} makes {', '.join(b.gives.values())}{f' where {self.text(b.when)}' if b.when else ''}" for b in f.before]
        yield from ((key, self.promise(text)) for key, text in f.promises.items() if key != "lds")


def columns(rows: list[tuple[str, ...]]) -> list[str]:
    """Rows with their cells below each other; the last cell is as long as it is."""
    widths = [max(map(len, cells)) for cells in zip(*rows)]
    return ["  ".join([*(c.rjust(w) if c.isdigit() else c.ljust(w) for c, w in zip(row[:-1], widths)), row[-1]]).rstrip() for row in rows]


def wrapped(line: str, width: int) -> list[str]:
    """Wraps lines; continuation lines are aligned with the last column."""
    gaps = [m.end() for m in re.finditer(r"\s{2,}", line)]
    indent = " " * min(gaps[-1] if gaps else 0, WIDTH // 2)
    return textwrap.wrap(line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False) or [""]


def header(r: Rendered, arch: Mapping[str, object] = {}) -> str:
    """The header of the kernel's file. arch: facts of its target."""
    contract = Contract(r, arch)
    title = [part for line in contract.f.title for part in textwrap.wrap(line, WIDTH - 3) or [""]]
    lines = [RULER, f"// {contract.k.symbol}", *(f"// {line}".rstrip() for line in title), "//"]
    sections = list(contract.sections())
    column = max(len(key) for key, section in sections if section) + 2
    for key, section in sections:
        for line in [part for text in section for part in wrapped(text, WIDTH - 3 - column)]:
            lines.append(f"// {key:<{column}}{line}".rstrip())
            key = ""
    return "\n".join([*lines, RULER, ""])
