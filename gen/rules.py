# SPDX-License-Identifier: MIT
"""All rules of a contract: listed in its file, or derived from its sizes and arguments. Header, C++ checks, manifest and
tests are generated from this list."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from expressions import names_of
from family import ELEMENT_BYTES, Family, Pointer, Rule, Value

U32 = 2**32  # HIP and the kernels count in 32 bits


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
    if p.when and not any(rule.needs == f"{p.name} == 0" for rule in own):  # the listed rule's text is more specific
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
    facts = v.facts
    row = facts.get("least", p.extent_of(at + 1))  # `least`: dimensions may be in any order
    unit, below = facts.get("multiple", p.size if p.other else ELEMENT_BYTES[p.element]), facts.get("below", U32)
    is_row = at == len(p.shape) - 2 or "least" in facts
    what = facts.get("row", f"a row of {p.name}, {p.element}[{p.row}]," if is_row else f"what it spans of {p.name},")
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
    """A result overlaps no other argument: workgroups may read it after others have written. For two results, the
    second one's message names the first."""
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
        sizes = [n for n in f.sizes if n in f.names_behind(f.grid["x"]) and n not in f.match]
        shown = ", ".join(f"{n} = {{{n}}}" for n in sizes)
        text = f"{shown}: {{{f.grid['x']}}} workgroups of {{kernel.block}} are more than 2^32 - 1 work-items; {f.grid.get('remedy', 'split the launch')}"
        yield Rule("choices", f"({f.grid['x']}) * kernel.block < {U32}", text, "", f.grid.get("breaks", {}), "grid")


def _phase(f: Family, names: set[str]) -> str:
    """The phase in which all of these names are known."""
    used = set(names)
    for name in names:
        used |= f.names_behind(name)
    if used & {v.name for v in f.values.values() if v.default} or any(n.startswith(("kernel.", "part.", "target.")) for n in used):
        return "choices"
    operands = f.pointers.keys() | {v.name for v in f.values.values() if v.stride_of}
    return "operands" if used & operands or any(n.startswith("p.") for n in used) else "shape"


def own_rule(f: Family, row: Mapping) -> Rule:
    """A rule that the file lists, in the phase in which all its names are known."""
    when = row.get("when", "")
    return Rule(_phase(f, names_of(row["needs"]) | names_of(when or "1")), row["needs"], row["says"], when, row["breaks"], "rules")


def _bounded(f: Family) -> Iterator[tuple[str, Mapping]]:
    """Names with bounds of their own: sizes, and arguments that are no size, choice or stride."""
    yield from f.sizes.items()
    for v in f.values.values():
        if v.name not in f.sizes and not (v.value or v.default or v.stride_of):
            yield v.name, v.facts


def all_rules(f: Family, own: list[Rule]) -> list[Rule]:
    """In the order in which a launch is checked."""
    out = [rule for name, row in _bounded(f) for rule in _size_rules(f, name, row)]
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
    # Last: by then extents are known, and products of sizes are below 2^64.
    return [*out, *_grid_rule(f), *_overlap_rules(f)]
