# SPDX-License-Identifier: MIT
"""An op in C++: the functions of the C API (build/faces.inc) and the typed struct of host code (build/typed_ops.inc)."""

from __future__ import annotations

from collections.abc import Mapping

from catalogue import TARGET_FACTS
from emit_cpp import KEYWORDS, quoted
from expressions import Writer
from faces.face import Face, Member, Reading
from family import INSERTED, Family, scope_of


def _value(m: Member) -> str:
    """C++ of what the op gets of a member of the C struct."""
    if m.enumerators:
        rows = ", ".join(f'{{{name}, "{name}", word({quoted(text)})}}' for text, name in m.enumerators.items())
        return f'word_of("{m.name}", p->{m.name}, {{{rows}}})'
    if m.by:
        return f"{m.by}(p->{m.name}{f', p->{m.beside}' if m.beside else ''})"
    if m.flag:
        return f'flag_of("{m.name}", p->{m.name})'
    return f"address(p->{m.name})" if m.pointer else f"bits_of(p->{m.name})" if m.kind == "float" else f"p->{m.name}"


def _if(face: Face, when: str) -> str:
    code = Writer(scope_of(face.family, TARGET_FACTS)).cpp(when)
    return f"if {code}" if code.startswith("(") else f"if ({code})"


def _settings(face: Face, names: list[str]) -> list[str]:
    """Statements that copy members into the op, in order of dependency."""
    members = [m for m in face.members if m.name in names]
    writer = Writer(scope_of(face.family, TARGET_FACTS))
    out = [f"op.{m.sets} = {_value(m)};" for m in members if not m.when]
    out.append("[[maybe_unused]] const Op &o = op;")
    out += [f"{_if(face, m.when)} op.{m.sets} = {_value(m)};" for m in members if m.when]
    return out + [f"op.{m.sets} = {writer.cpp(m.value)};" for m in members if m.value]


def _rules(face: Face) -> list[str]:
    writer, out = Writer(scope_of(face.family, TARGET_FACTS)), []
    for rule in face.rules:
        text = INSERTED.sub(lambda found: "{:#x}" if found[2] == ":#x" else "{}", rule["says"])
        values = ", ".join(f"op.{name}" for name, _ in INSERTED.findall(rule["says"]))
        out.append(f"need({writer.cpp(rule['needs'])}, {quoted(text)}, {values});")
    return out


def _example(f: Family, name: str, value: int | str | None) -> str | None:
    """C++ of a size's value, by default that of the contract's example."""
    value = f.example.get(name) if value is None else value
    return None if value is None else f"word({quoted(value)})" if isinstance(value, str) and value not in f.named.get(name, {}) else str(f.named.get(name, {}).get(value, value))


def _read_only(face: Face, reading: Reading) -> list[str]:
    """Statements of a call that reads some members only: all else is as in the contract's example."""
    names = [*reading.reads, *reading.nulls]
    out = []
    for m in face.members:
        if m.name not in names and not m.pointer and (value := _example(face.family, m.sets, reading.others.get(m.name))):
            out.append(f"op.{m.sets} = {value};")
    return out + _settings(face, names)


def _op_of(face: Face, name: str, settings: list[str]) -> str:
    lines = "".join(f"    {line}\n" for line in settings)
    return (
        f"static Op {name}(const nw_context *context, const {face.struct} *p) {{\n"
        f'    need_product(context, p, "{face.struct}", sizeof *p);\n    Op op{{.kind = OpKind::{face.op}}};\n{lines}    return op;\n}}\n\n'
    )


def _function(face: Face, name: str, more: str, kind: str, body: list[str]) -> str:
    lines = "".join(f"        {line}\n" for line in body)
    begin = "nw::api::bytes_call(bytes, " if "uint64_t *bytes" in more else "nw::api::guarded("
    return (
        f"nw_status {name}(nw_context *context, const {face.struct} *{face.operand}{more}) {{\n    return {begin}[&] {{\n"
        f"        nw::Op op = nw::api::{kind}(context, {face.operand}); // context may be null before this\n{lines}    }});\n}}\n"
    )


def _call(face: Face) -> str:
    arguments = "".join(f", {m.kind}{'' if m.pointer else ' '}{m.name}" for m in face.arguments)
    body = [f"op.{m.sets} = {f'nw::address({m.name})' if m.pointer else m.name};" for m in face.arguments]
    if face.like:
        body.insert(0, f"op.kind = nw::OpKind::{face.op};")
    body.append(f'nw::api::launch(*context, op, stream, "{face.prepared_by}");')
    return _function(face, face.call, f"{arguments}, void *stream", f"{(face.like or face).op}_op", body)


def _prepare(face: Face, reading: Reading) -> list[str]:
    """Where all sizes are read the kernels of that op, else every one that an op of these values can get."""
    sizes = {m.name for m in face.members if m.sets in face.family.sizes}
    whole = "prepare_if_served" if reading.or_none else "prepare_this" if sizes <= set(reading.reads) else "prepare_every"
    first = f"nw::api::{whole}(*context, op);"
    for name, values in reading.any.items():
        sets = next(m.sets for m in face.members if m.name == name)
        if isinstance(values, list):
            listed = ", ".join(map(str, values))
            first = f"nw::api::for_each_of(op, &nw::Op::{sets}, {{{listed}}}, [&](const nw::Op &of) {{ nw::api::{whole}(*context, of); }});"
        else:
            first = f"nw::api::prepare_any(*context, op, &nw::Op::{sets}, {values}u);"
    return [first, *(_also(face, row) for row in reading.also)]


def _also(face: Face, row: Mapping[str, str]) -> str:
    """Statement that loads the kernel of another op."""
    sets = "".join(f" made.{name} = nw::word({quoted(value)});" for name, value in row.items() if name not in ("op", "when"))
    made = "nw::Op &made" if sets else "nw::Op &"
    call = f"nw::api::prepare_also(*context, op, nw::OpKind::{row['op']}, []({made}) {{{sets} }});"
    return f"{{ using nw::word; const nw::Op &o = op; {_if(face, row['when'])} {call} }}" if "when" in row else call


def functions(faces: list[Face]) -> str:
    """faces.inc, which host/capi/faces.cpp includes: the C functions."""
    ops, calls = "", []
    for face in faces:
        if not face.like:
            ops += _op_of(face, f"{face.op}_op", [*_settings(face, [m.name for m in face.members]), *_rules(face)])
        calls.append(_call(face))
        if face.prepare:
            ops += _op_of(face, f"{face.op}_prepared", _read_only(face, face.prepare))
            calls.append(_function(face, face.prepared_by, "", f"{face.op}_prepared", _prepare(face, face.prepare)))
        if face.workspace:
            ops += _op_of(face, f"{face.op}_sized", _read_only(face, face.workspace))
            calls.append(_function(face, face.workspace.call, ", uint64_t *bytes", f"{face.op}_sized", ["return nw::api::workspace_of(*context, op);"]))
    return f'namespace nw::api {{\n\n{ops}}} // namespace nw::api\n\nextern "C" {{\n\n{chr(10).join(calls)}}}\n'


def _typed_name(op: str) -> str:
    return "".join(word.capitalize() for word in op.split("_"))


def _typed_member(m: Member) -> tuple[str, str]:
    """A member of the typed struct, and the statement that brings it into the op."""
    kinds = {"float": "f32 ", "int32_t": "std::string_view " if m.text else "bool ", "uint32_t": "u64 ", "uint64_t": "u64 "}
    name = f"{m.sets}_" if m.sets in KEYWORDS else m.sets
    kind = m.kind if m.pointer else kinds[m.kind]
    value = f"address({name})" if m.pointer else f"find_word({name})" if m.text else f"std::bit_cast<u32>({name})" if m.kind == "float" else name
    return f"    {kind}{name}{{}};", f"        op.{m.sets} = {value};"


def typed(faces: list[Face]) -> str:
    """typed_ops.inc, which host/runtime/typed_ops.h includes: an op as host code writes it down."""
    out = []
    for face in faces:
        members, sets = zip(*map(_typed_member, [*face.members, *face.arguments]))
        out.append(
            "".join(f"// {line}\n" for line in face.title) + f"struct {_typed_name(face.op)} {{\n" + "\n".join(members)
            + f"\n\n    operator Op() const {{\n        Op op{{.kind = OpKind::{face.op}}};\n" + "\n".join(sets) + "\n        return op;\n    }\n};\n"
        )  # fmt: skip
    return "\n".join(out)
