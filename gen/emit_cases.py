# SPDX-License-Identifier: MIT
"""contract_cases.inc: launches for tests/kernels/contracts.cpp: each contract's [example], which breaks no rule, and for each
rule the same with the values of its `breaks`, which that rule must refuse. contract_edges.inc: the sizes that each family
test runs (tests/check/edges.h)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping

from emit_cpp import FamilyWriter, in_order, matches, member, op_words, quoted
from expressions import names_of
from family import VARIANT_KEYS, Family, Rule, texts_of

FIRST, APART = 2**40, 2**44  # bytes: where pointers point to
WORKSPACE = 2**20  # bytes
SIMD_WAVES = 16  # the meaning of simd_waves = 0


def _variants(f: Family) -> Iterator[dict[str, int | str]]:
    for row in f.variants:
        axes = [[(k, v) for v in (x if isinstance(x, list) else [x])] for k, x in row.items() if k not in VARIANT_KEYS]
        for point in itertools.product(*axes):
            yield {k: f.named.get(k, {}).get(v, v) for k, v in point}


def _kernel_for(f: Family, values: Mapping[str, int | str]) -> dict[str, int | str] | None:
    """Parameters of the first variant that matches these values of an op; [example] and `breaks` may name other values."""
    want = {parameter: values.get(name) for name, parameter in matches(f)}
    want |= {k: v for k, v in values.items() if k in f.parameters and not _of_op(f, k)}
    return next((p for p in _variants(f) if all(p.get(k) == v for k, v in want.items())), None)


def _of_op(f: Family, name: str) -> bool:
    return name in f.sizes or name in f.order


class CaseWriter(FamilyWriter):
    """One contract's cases."""

    def field(self, name: str) -> str:
        return f"&Op::{name}"

    def constant(self, name: str, value: int | str) -> str | None:
        """A value as C++; none where it is an expression."""
        if not isinstance(value, str):
            return f"{value}ull"
        if name in self.f.sizes and texts_of(self.f, name):
            return f"find_word({quoted(value)})"
        return None if names_of(value) else self.writer.cpp(value)

    def example(self) -> dict[str, int | str]:
        return {k: self.f.named.get(k, {}).get(v, v) for k, v in self.f.example.items()}

    def operands(self) -> str:
        """Distant pointers and the smallest strides; values of the case take precedence."""
        f, body = self.f, self.body()
        for number, p in enumerate(f.pointers.values()):
            where = f"{FIRST + number * APART}ull"
            there = f"{body.value(p.when)} ? {where} : 0" if p.when else where
            body.lines.append(f"if (!given({self.field(p.name)})) o.{p.name} = {there};")
        for stride, least in self.least_strides(body):
            body.lines.append(f"if (!given({self.field(stride)})) o.{stride} = {least};")
        if "workspace_bytes" in f.order:
            body.lines.append(f"if (!given(&Op::workspace_bytes)) o.workspace_bytes = {WORKSPACE};")
        return self.function("void operands(Op &o, const Kernel &k, const Machine &m, const Given &given)", body)

    def parameters(self, values: Mapping[str, int | str]) -> str:
        f = self.f
        if not f.variants:
            return "{}"
        params = dict(values)
        if params.get("simd_waves") == 0:
            params["simd_waves"] = SIMD_WAVES
        parts = []
        for name in sorted(f.parameters):
            value = f"static_cast<u32>(find_word({quoted(str(params[name]))}))" if f.is_text(name) else f"{params[name]}u"
            parts.append(f".{member(name)} = {value}")
        return f"{{{', '.join(parts)}}}"

    def breaks(self, index: int, rule: Rule) -> tuple[str, str]:
        """C++ functions for the values that are expressions, and the row."""
        functions, gives = "", []
        for name, value in rule.breaks.items():
            if not _of_op(self.f, name):
                continue
            constant = self.constant(name, value)
            if constant is None:
                function = f"rule_{index}_{name}"
                functions += self.returning("u64", function, value)
                gives.append(f"{{{self.field(name)}, 0, {function}}}")
            else:
                gives.append(f"{{{self.field(name)}, {constant}}}")
        base = self.example()
        plain = {k: v for k, v in rule.breaks.items() if not _of_op(self.f, k) or self.constant(k, v) is not None}
        kernel = _kernel_for(self.f, base | plain) or _kernel_for(self.f, base) or {}
        same = self.f.rules.index(rule)  # an included contract may have it too
        return functions, f"    {{{index}, {same}, {quoted(rule.needs)}, {{{', '.join(gives)}}}, {self.parameters(kernel)}}},\n"

    def base(self) -> str:
        """The sizes of [example]."""
        values = self.example().items()
        rows = "".join(f"    {{{self.field(n)}, {self.constant(n, v)}}},\n" for n, v in values if _of_op(self.f, n))
        return f"const std::vector<Value> sizes = {{\n{rows}}};\n"

    def text(self) -> str:
        base = self.example()
        functions, rows = "", ""
        for index, rule in enumerate(self.f.rules):
            more, row = self.breaks(index, rule)
            functions += more
            rows += row
        return (
            f"namespace {self.f.name} {{\n\n{self.operands()}{functions}{self.base()}"
            f"const std::vector<Breaks> rules = {{\n{rows}}};\nconst Parameters parameters = {self.parameters(_kernel_for(self.f, base) or {})};\n\n"
            f"}} // namespace {self.f.name}\n\n"
        )

    def row(self) -> str:
        f, ns = self.f, self.f.name
        return f'    {{"{ns}", {int(bool(f.variants))}, OpKind::{f.op}, {ns}::sizes, {ns}::parameters, {ns}::operands, {ns}::rules}},\n'


class EdgeWriter(CaseWriter):
    """The sizes of one contract that its family test varies."""

    def text(self) -> str:
        functions, rows = "", ""
        for size, lengths in self.f.edges.items():
            names = [f"edge_{size}_{number}" for number in range(len(lengths))]
            for name, text in zip(names, lengths):
                functions += self.returning("u64", name, text)
            rows += f"    {{{self.field(size)}, {self.f.sizes[size].get('min', 1)}, {{{', '.join(names)}}}}},\n"
        return f"namespace {self.f.name} {{\n\n{functions}{self.base()}const std::vector<Edges> edges = {{\n{rows}}};\n\n}} // namespace {self.f.name}\n\n"

    def row(self) -> str:
        return f'    {{"{self.f.name}", OpKind::{self.f.op}, {self.f.name}::sizes, {self.f.name}::edges}},\n'


def emit_edges(families: Mapping[str, Family], target_facts: Mapping[str, str]) -> str:
    """contract_edges.inc, of families with [edges]."""
    words = op_words(families)
    writers = [EdgeWriter(f, families, target_facts, words) for f in families.values() if f.edges]
    rows = "".join(w.row() for w in writers)
    return "".join(w.text() for w in writers) + f"const std::vector<Shapes> shapes = {{\n{rows}}};\n"


def emit(families: Mapping[str, Family], ops: Mapping[str, Family], target_facts: Mapping[str, str]) -> str:
    """contract_cases.inc"""
    words = op_words(families, ops)
    writers = [CaseWriter(f, families, target_facts, words) for f in [*in_order(families), *ops.values()]]
    rows = "".join(w.row() for w in writers)
    return "".join(w.text() for w in writers) + f"const std::vector<Contract> contracts = {{\n{rows}}};\n"
