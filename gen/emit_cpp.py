# SPDX-License-Identifier: MIT
"""Contracts as C++ (host/runtime/contracts.cpp includes it): fields of an op, kernels' parameters, kernarg structs,
checks, derived arguments, grids. It is plain code: nothing is interpreted at run time."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from expressions import Name, Writer, names_of, ordered
from family import INSERTED, Family, Rule, scope_of, texts_of

KEYWORDS = {"short", "long", "default", "register", "switch", "case", "new", "delete", "operator", "and", "or", "not"}
ARGUMENTS = "const Op &o, const Kernel &k, const Machine &m"


def member(name: str) -> str:
    return f"{name}_" if name in KEYWORDS else name


def quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


@dataclass
class Body:
    """Statements of one function; derived values are defined before their first use."""

    family: Family
    writer: Writer
    lines: list[str] = field(default_factory=list)
    known: set[str] = field(default_factory=set)

    def need(self, text: str | int, skip: str = "") -> None:
        """Locals for the derived names and extents of an expression."""
        f = self.family
        for name in sorted(names_of(text)):
            if name in f.derived and name != skip:
                self.local(name, f.derived[name])
        for name in re.findall(r"extent\((\w+)\)", str(text)):
            if f"extent_{name}" not in self.known:
                extent = f.pointers[name].extent
                self.need(extent)
                self.known.add(f"extent_{name}")
                self.lines.append(f"const u64 extent_{name} = {self.writer.cpp(extent)};")

    def local(self, name: str, text: str) -> None:
        if name not in self.known:
            self.known.add(name)
            self.need(text, skip=name)
            self.lines.append(f"const u64 {name}_ = {self.writer.cpp(text)};")

    def value(self, text: str | int) -> str:
        self.need(text)
        return self.writer.cpp(text)

    def rule(self, index: int, rule: Rule) -> None:
        self.need(rule.needs)
        condition = f"!({self.writer.cpp(rule.needs)})"
        if rule.when:
            self.need(rule.when)
            condition = f"({self.writer.cpp(rule.when)}) && {condition}"
        values, outer = [], len(self.lines)
        for inserted, _ in INSERTED.findall(rule.says):
            self.need(inserted)
            name = self.writer.scope.get(inserted)
            values.append(name.cpp if name and name.words is not None else self.writer.cpp(inserted))
        lazy, self.lines = self.lines[outer:], self.lines[:outer]
        for line in lazy:  # for the message alone
            self.known.discard(re.match(r"const u64 (extent_\w+|\w+)_? =", line)[1].removesuffix("_"))
            self.known.discard(re.match(r"const u64 (\w+) =", line)[1])
        text = INSERTED.sub(lambda found: self._placeholder(found), rule.says)
        refuse = f"refuse({quoted(self.family.name)}, {index}, {quoted(text)}, {{{', '.join(values)}}});"
        self.lines.append(f"if ({condition}) [[unlikely]] {{ {' '.join(lazy)} {refuse} }}")

    def _placeholder(self, found: re.Match) -> str:
        name = self.writer.scope.get(found[1])
        return "{w}" if name and name.words is not None else {":#x": "{x}", ":f32": "{f}", None: "{}"}[found[2]]


class FamilyWriter:
    def __init__(self, f: Family, families: Mapping[str, Family], target_facts: Mapping[str, str], words: Mapping[str, list[str]]) -> None:
        self.f, self.families = f, families
        scope = dict(scope_of(f, target_facts, words))
        for name, found in scope.items():
            if name.startswith("p."):
                scope[name] = Name(f"k.p.{member(name[2:])}", found.unit, found.words)
        self.writer = Writer(scope)

    def body(self) -> Body:
        return Body(self.f, self.writer)

    def function(self, head: str, body: Body) -> str:
        unused = "".join(f"static_cast<void>({name}); " for name in ("o", "k", "m") if f"&{name}" in head)
        return f"{head} {{ {unused}\n    " + "\n    ".join(body.lines) + "\n}\n"

    def returning(self, kind: str, name: str, text: str | int, head: str = ARGUMENTS) -> str:
        body = self.body()
        value = body.value(text)
        body.lines.append(f"return static_cast<{kind}>({value});")
        return self.function(f"{kind} {name}({head})", body)

    def rules(self, phase: str) -> Iterable[tuple[int, Rule]]:
        return ((i, r) for i, r in enumerate(self.f.rules) if r.phase == phase)

    def checks(self) -> str:
        shape, operands = self.body(), self.body()
        for index, rule in self.rules("shape"):
            shape.rule(index, rule)
        for index, rule in self.rules("operands"):
            operands.rule(index, rule)
        head = "const Op &o, const Kernel &k" if self.f.variants else "const Op &o"
        return self.function("void check_shape(const Op &o)", shape) + self.function(f"void check_operands({head})", operands)

    def chosen(self, name: str) -> list[str]:
        """Statements that set defaults of arguments which the caller left open."""
        inner = self.body()
        value = inner.value(self.f.values[name].default)
        lines = [f"    {line}" for line in inner.lines]
        return [f"if (o.{name} == automatic) {{", *lines, f"    o.{name} = {value};", "}"]

    def derive(self) -> str:
        """Arguments with defaults, then their rules and the derived arguments."""
        f, body, choices = self.f, self.body(), self.body()
        defaults = {v.name: v.default for v in f.values.values() if v.default}
        for name in ordered("[arguments]", f.let | {v.name: v.value for v in f.values.values() if v.value} | defaults):
            if name in defaults:
                choices.lines += self.chosen(name)
        body.lines.append("settle(o, k, m);")
        for index, rule in self.rules("choices"):
            body.rule(index, rule)
        for v in f.values.values():
            if v.value:
                body.local(v.name, v.value)
                body.lines.append(f"o.{v.name} = {v.name}_;")
        head = "(Op &o, const Kernel &k, const Machine &m)"
        return self.function(f"void settle{head}", choices) + self.function(f"void derive{head}", body)

    def least_strides(self, body: Body) -> Iterator[tuple[str, str]]:
        """Each stride that a caller gives, inner ones first, and its smallest allowed value."""
        f = self.f
        for p in f.pointers.values():
            for at, stride in reversed(list(enumerate(p.strides))):
                v = f.values[stride]
                if not v.value and v.stride_of[0] is p:
                    least, unit = body.value(p.extent_of(at + 1)), body.value(v.facts.get("multiple", p.size))
                    yield stride, f"round_up<u64>({least}, {unit})"

    def contiguous(self) -> str:
        """Sets strides of the op that are 0 to their smallest allowed values."""
        body = self.body()
        for stride, least in self.least_strides(body):
            body.lines.append(f"if (!o.{stride}) o.{stride} = {least};")
        return self.function("void contiguous(Op &o)", body)

    def arguments(self) -> str:
        f, offsets = self.f, self.f.offsets()
        members = "".join(f"    {'u64' if n in f.pointers else 'u32'} {n};\n" for n in f.order)
        checks = "".join(f"static_assert(offsetof(Arguments, {n}) == {offsets[n][0]});\n" for n in f.order)
        fills = ", ".join(f"o.{n}" if n in f.pointers else f"static_cast<u32>(o.{n})" for n in f.order)
        rows = "".join(
            f'    {{"{n}", "{"global_buffer" if n in f.pointers else "by_value"}", {offsets[n][0]}, {offsets[n][1]}}},\n' for n in f.order
        )
        return (
            f"struct Arguments {{\n{members}}};\n{checks}"
            f"void pack(const Op &o, std::byte *out) {{ const Arguments a{{{fills}}}; std::memcpy(out, &a, {f.kernarg_bytes}); }}\n"
            f"constexpr KernelArg arguments[] = {{\n{rows}}};\n"
        )

    def choice(self) -> str:
        f, c = self.f, self.f.choice
        body = self.body()
        costs = [body.value(text) for text in c.get("cost", [])]
        body.lines.append(f"return {{{', '.join(f'u64({cost})' for cost in costs)}}};")
        out = self.returning("bool", "region", c.get("region", 1), "const Op &o")
        out += self.returning("bool", "takes", c.get("takes", 1)) + self.returning("bool", "takes_rest", c.get("takes_rest", c.get("takes", 1)))
        out += self.returning("bool", "worth", c.get("worth", 1))
        out += self.function(f"Cost cost({ARGUMENTS})", body)
        rows = "".join(f'    {{"{n}", &Op::{n}, &Parameters::{member(p)}}},\n' for n, p in matches(f))
        out += f"constexpr Match match[] = {{\n{rows}}};\n" if rows else "constexpr std::span<const Match> match;\n"
        alike = ", ".join(f"&Parameters::{member(p)}" for p in c.get("alike", []))
        out += f"constexpr u32 Parameters::*const alike[] = {{{alike}}};\n" if alike else "constexpr std::span<u32 Parameters::*const> alike;\n"
        lent = "".join(f"    {{{{{', '.join(self.borrowed(row))}}}}},\n" for row in c.get("borrow", []))
        return out + (f"constexpr Borrow borrow[] = {{\n{lent}}};\n" if lent else "constexpr std::span<const Borrow> borrow;\n")

    def borrowed(self, row: Mapping[str, str | int]) -> list[str]:
        """Other values of a kind whose tuned shapes may be used, in the order of `match`."""
        values = [row.get(name, None) for name, _ in matches(self.f)]
        return ["automatic" if v is None else f'word("{v}")' if isinstance(v, str) else str(v) for v in [*values, *[None] * (4 - len(values))]]

    def slices(self) -> str:
        s = self.f.slices
        return self.returning("u64", "slice_rows", s.get("rows", "2**32")) + self.returning("u64", "slice_step", s.get("step", 1))

    def befores(self) -> str:
        """Launches before this one: a copy of the op with that family's arguments, and the destinations of its results."""
        out, rows = "", ""
        for number, before in enumerate(self.f.before):
            other = self.families[before.family]
            body = self.body()
            sets = [f"made.{name} = {body.value(text)};" for name, text in before.sets.items()]
            body.lines += ["Op made = o;", *sets, "return made;"]
            out += self.function(f"Op before_{number}({ARGUMENTS})", body)
            gives = "".join(
                f"    {{&Op::{theirs}, &Op::{ours}, {f'{other.name}::extent_of_{theirs}' if theirs in other.pointers else 'nullptr'}}},\n"
                for theirs, ours in before.gives.items()
            )
            out += f"constexpr Gives gives_{number}[] = {{\n{gives}}};\n"
            if before.when:
                out += self.returning("bool", f"before_{number}_when", before.when)
            row = f'{{"{before.family}", {f"before_{number}_when" if before.when else "nullptr"}, before_{number}, gives_{number}}}'
            if before.of:
                then = self.body()
                then.lines += [f"o.{name} = {then.value(text)};" for name, text in before.then.items()]
                out += self.function(f"void then_{number}(Op &o)", then)
                row = f"{{OpKind::{before.of}, {row}, then_{number}}}"
            rows += f"    {row},\n"
        kind = "Before" if self.f.variants else "OpBefore"
        return out + (f"constexpr {kind} before[] = {{\n{rows}}};\n" if rows else f"constexpr std::span<const {kind}> before;\n")

    def operands(self) -> str:
        """Every pointer argument with its size in bytes, 0 where the contract requires null."""
        out, rows = "", ""
        for p in self.f.pointers.values():
            extent = f"extent({p.name})"
            out += self.returning("u64", f"extent_of_{p.name}", f"{extent} if {p.when} else 0" if p.when else extent)
            rows += f"    {{&Op::{p.name}, extent_of_{p.name}, {int(p.optional)}}},\n"
        return out + (f"constexpr Operand operands[] = {{\n{rows}}};\n" if rows else "constexpr std::span<const Operand> operands;\n")

    def scratches(self) -> str:
        out, rows = "", ""
        for name, text in self.f.workspace.items():
            if name in self.f.pointers:
                counters = text == "counters"
                if not counters:
                    out += self.scratch(name, text)
                rows += f"    {{&Op::{name}, {'nullptr' if counters else f'scratch_{name}'}}},\n"
        return out + (f"constexpr Scratch scratch[] = {{\n{rows}}};\n" if rows else "constexpr std::span<const Scratch> scratch;\n")

    def scratch(self, name: str, text: str) -> str:
        """Size in bytes for an op whose defaults may not be set yet."""
        body = self.body()
        value = body.value(text)
        body.lines = ["Op o = given;", "settle(o, k, m);", *body.lines, f"return {value};"]
        return self.function(f"u64 scratch_{name}(const Op &given, const Kernel &k, const Machine &m)", body)

    def text(self) -> str:
        f = self.f
        return (
            f"namespace {f.name} {{\n\n{self.checks()}{self.derive()}{self.contiguous()}{self.arguments()}"
            f"{self.returning('u64', 'grid', f.grid['x'])}{self.returning('u32', 'dynamic_lds', f.lds)}"
            f"{self.operands()}{self.scratches()}{self.choice()}{self.slices()}{self.befores()}\n}} // namespace {f.name}\n\n"
        )

    def op_text(self) -> str:
        """C++ of an op that takes several launches."""
        f, rows, strides = self.f, "", ""
        for p in f.pointers.values():
            if p.shape[0] == "m":
                stride = p.strides[0] if p.strides else p.extent_of(1)
                strides += self.returning("u64", f"stride_of_{p.name}", stride, "const Op &o")
                rows += f"    {{&Op::{p.name}, stride_of_{p.name}}},\n"
        table = f"constexpr RowPointer rows[] = {{\n{rows}}};\n" if rows else "constexpr std::span<const RowPointer> rows;\n"
        return f"namespace op_{f.name} {{\n\n{self.checks()}{self.contiguous()}{self.operands()}{strides}{table}{self.copies()}{self.befores()}{self.served_by()}}} // namespace op_{f.name}\n\n"

    def served_by(self) -> str:
        kinds = ", ".join(f"OpKind::{op}" for op in self.f.served_by)
        return f"constexpr OpKind served_by[] = {{{kinds}}};\n" if kinds else "constexpr std::span<const OpKind> served_by;\n"

    def copies(self) -> str:
        out, rows = "", ""
        for number, copied in enumerate(self.f.copies):
            facts = {"when": copied.when, "rows": copied.rows, "row": copied.row, "stride": copied.stride}
            names = [f"copied_{number}_{key}" for key in facts]
            out += "".join(self.returning("bool" if key == "when" else "u64", name, text, "const Op &o") for (key, text), name in zip(facts.items(), names))
            rows += f"    {{&Op::{copied.argument}, {', '.join(names)}}},\n"
        return out + (f"constexpr Copied copied[] = {{\n{rows}}};\n" if rows else "constexpr std::span<const Copied> copied;\n")

    def op_row(self) -> str:
        f = self.f
        ns = f"op_{f.name}"
        counters, piece = (self.writer.cpp(f.workspace[key]) for key in ("counters", "piece"))
        return (
            f'{{.op = OpKind::{f.name}, .name = "{f.name}", .check_shape = {ns}::check_shape, .check_operands = {ns}::check_operands, .contiguous = {ns}::contiguous, '
            f".operands = {ns}::operands, .rows = {ns}::rows, .copied = {ns}::copied, .before = {ns}::before, .served_by = {ns}::served_by, .counters = {counters}, .piece = {piece}}},\n"
        )

    def row(self) -> tuple[str, str]:
        f, c = self.f, self.f.choice
        n = f.name
        parameters = ", ".join(f'{{"{p}", &Parameters::{member(p)}, {int(f.is_text(p))}}}' for p in f.parameters)
        return (
            f'{{.name = "{n}", .tuning = "{c.get("tuning", n)}", .op = OpKind::{f.op}, .arguments = {n}::arguments, .kernarg_bytes = {f.kernarg_bytes}, '
            f".check_shape = {n}::check_shape, .check_operands = {n}::check_operands, .settle = {n}::settle, .derive = {n}::derive, .contiguous = {n}::contiguous, .pack = {n}::pack, "
            f".grid = {n}::grid, .dynamic_lds = {n}::dynamic_lds, .region = {n}::region, .takes = {n}::takes, "
            f".takes_text = {quoted(str(c.get('takes', '')))}, .takes_rest = {n}::takes_rest, .worth = {n}::worth, .cost = {n}::cost, .slice_rows = {n}::slice_rows, .slice_step = {n}::slice_step, "
            f".match = {n}::match, .alike = {n}::alike, .borrow = {n}::borrow, .operands = {n}::operands, .before = {n}::before, .scratch = {n}::scratch, .parameters = {n}_parameters}},\n",
            f"constexpr ParameterName {n}_parameters[] = {{{parameters}}};\n",
        )


def matches(f: Family) -> list[tuple[str, str]]:
    """Pairs (op value, kernel parameter) that must be equal: `dtype`, or `block_size=bm`."""
    return [tuple(pair.split("=")) if "=" in pair else (pair, pair) for pair in f.match]


def in_order(families: Mapping[str, Family]) -> list[Family]:
    """Families in order of dependency: launches before a family come first."""
    done: list[Family] = []

    def visit(f: Family) -> None:
        if f not in done:
            for before in f.before:
                visit(families[before.family])
            done.append(f)

    for f in families.values():
        visit(f)
    return done


def words_of(families: Iterable[Family]) -> list[str]:
    """Every text value of a parameter or an op; a word's number is its index."""
    out = {""}
    for f in families:
        for name, values in f.parameters.items():
            out |= {v for v in values if isinstance(v, str) and v not in f.named.get(name, {})}
        for size in f.sizes:
            out |= set(texts_of(f, size))
    return sorted(out)


def parameter_names(families: Iterable[Family]) -> list[str]:
    """Every parameter, in the order of struct Parameters."""
    return sorted({p for f in families for p in f.parameters})


def op_fields(families: Iterable[Family]) -> dict[str, bool]:
    """Fields of an op, and whether the contract has a default for each (automatic)."""
    out: dict[str, bool] = {}
    for f in families:
        for name in [*f.sizes, *f.order]:
            chosen = name in f.values and bool(f.values[name].default)
            out[name] = out.get(name, False) or chosen
    return dict(sorted(out.items()))


def op_words(families: Mapping[str, Family], ops: Mapping[str, Family] = {}) -> dict[str, list[str]]:
    """An op's values that are text: the words of every family and op."""
    words: dict[str, set[str]] = {}
    for f in families.values():
        for name, parameter in matches(f):
            if f.is_text(parameter):
                words.setdefault(name, set()).update(f.parameters[parameter])
    for f in [*families.values(), *ops.values()]:
        for size in f.sizes:
            if size in words:
                words[size].update(texts_of(f, size))
    return {name: sorted(found) for name, found in words.items()}


def _op_word_lists(op: Family) -> str:
    """Values of an op's text fields, in the contract's order: linear_gguf_type."""
    lists = {size: texts_of(op, size) for size in op.sizes}
    return "".join(
        f"inline constexpr std::array<std::string_view, {len(texts)}> {op.name}_{size} = {{{', '.join(map(quoted, texts))}}};\n"
        for size, texts in lists.items()
        if texts
    )


def _op_names(kinds: list[str], every: list[Family]) -> str:
    """Kinds of op, and an op's possible fields by name, with whether the value is text."""
    rows = "".join(f'    {{"{kind}", OpKind::{kind}}},\n' for kind in kinds)
    fields = "".join(f'    {{"{name}", &Op::{name}, {int(any(texts_of(f, name) for f in every if name in f.sizes))}}},\n' for name in op_fields(every))
    return f"constexpr KindName kind_names_table[] = {{\n{rows}}};\nconstexpr FieldName field_names[] = {{\n{fields}}};\n"


def emit(families: Mapping[str, Family], ops: Mapping[str, Family], target_facts: Mapping[str, str]) -> dict[str, str]:
    """File -> text: op_fields.inc, parameters.inc, op_kinds.inc, words.inc, op_words.inc, contracts.inc."""
    every, words = [*families.values(), *ops.values()], op_words(families, ops)
    kinds = sorted({f.op for f in families.values()} | ops.keys())
    writers = [FamilyWriter(f, families, target_facts, words) for f in in_order(families)]
    rows = [w.row() for w in writers]
    op_writers = [FamilyWriter(f, families, target_facts, words) for f in ops.values()]
    op_text = "".join(w.op_text() for w in op_writers)
    op_rows = "".join(w.op_row() for w in op_writers)
    contracts = "".join(w.text() for w in writers) + op_text
    contracts += "".join(names for _, names in rows)
    contracts += f"constexpr OpContract ops_[] = {{\n{op_rows}}};\n" if op_rows else "constexpr std::span<const OpContract> ops_;\n"
    return {
        "op_fields.inc": "".join(f"u64 {n} = {'automatic' if chosen else 0};\n" for n, chosen in op_fields(every).items()),
        "parameters.inc": "".join(f"u32 {member(p)} = 0;\n" for p in parameter_names(families.values())),
        "op_kinds.inc": "".join(f"{kind},\n" for kind in kinds),
        "op_names.inc": _op_names(sorted({f.op for f in every if f.purpose == "library" and not f.served_by}), every),
        "words.inc": "".join(f"{quoted(w)},\n" for w in words_of(every)),
        "op_words.inc": "".join(map(_op_word_lists, ops.values())),
        "contracts.inc": contracts,
        "family_table.inc": "".join(row for row, _ in rows),
    }
