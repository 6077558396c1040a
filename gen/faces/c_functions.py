# SPDX-License-Identifier: MIT
"""An op in C++: the functions of the C API (build/faces.inc) and the typed struct of host code (build/typed_ops.inc)."""

from __future__ import annotations

from emit_cpp import KEYWORDS, quoted
from faces.face import Face, Member, Reading
from family import Family


def _setting(m: Member) -> str:
    """Statement that brings a member of the C struct into the op."""
    if m.enumerators:
        rows = ", ".join(f'{{{name}, "{name}", word({quoted(text)})}}' for text, name in m.enumerators.items())
        return f'op.{m.sets} = word_of("{m.name}", p->{m.name}, {{{rows}}});'
    value = f"address(p->{m.name})" if m.pointer else f"std::bit_cast<u32>(p->{m.name})" if m.kind == "float" else f"p->{m.name}"
    return f"op.{m.sets} = {f'{m.by}({value})' if m.by else value};"


def _example(f: Family, name: str) -> str | None:
    """C++ of a size's value in the contract's example."""
    value = f.example.get(name)
    return None if value is None else f"word({quoted(value)})" if isinstance(value, str) and value not in f.named.get(name, {}) else str(f.named.get(name, {}).get(value, value))


def _read_only(face: Face, reading: Reading) -> list[str]:
    """Statements of a call that reads some members only: all else is as in the contract's example."""
    out = [_setting(m) for m in face.members if m.name in reading.reads]
    for m in face.members:
        if m.name not in reading.reads and not m.pointer and (value := _example(face.family, m.sets)):
            out.append(f"op.{m.sets} = {value};")
    return out


def _op_of(face: Face, name: str, settings: list[str]) -> str:
    lines = "".join(f"    {line}\n" for line in settings)
    return (
        f"static Op {name}(const nw_context *context, const {face.struct} *p) {{\n"
        f'    need_product(context, p, "{face.struct}", sizeof *p);\n    Op op{{.kind = OpKind::{face.op}}};\n{lines}    return op;\n}}\n\n'
    )


def _function(face: Face, name: str, more: str, kind: str, body: list[str]) -> str:
    lines = "".join(f"        {line}\n" for line in body)
    begin = "nw::api::bytes_call(bytes," if "bytes" in more else "nw::api::guarded("
    return (
        f"nw_status {name}(nw_context *context, const {face.struct} *{face.operand}{more}) {{\n    return {begin}[&] {{\n"
        f"        const nw::Op op = nw::api::{kind}(context, {face.operand}); // context may be null before this\n{lines}    }});\n}}\n"
    )


def _prepare(face: Face, reading: Reading) -> list[str]:
    """Where all sizes are read the kernels of that op, else every one that an op of these values can get."""
    sizes = {m.name for m in face.members if m.sets in face.family.sizes}
    also = [
        f"nw::api::prepare_also(*context, op, nw::OpKind::{row['op']}, [](nw::Op &made) {{ "
        + " ".join(f"made.{name} = nw::word({quoted(value)});" for name, value in row.items() if name != "op") + " });"
        for row in reading.also
    ]  # fmt: skip
    return [f"nw::api::{'prepare_this' if sizes <= set(reading.reads) else 'prepare_every'}(*context, op);", *[line.replace("(nw::Op &made) {  }", "(nw::Op &) {}") for line in also]]


def functions(faces: list[Face]) -> str:
    """faces.inc, which host/capi/faces.cpp includes: the C functions."""
    out = []
    for face in faces:
        ops = _op_of(face, "op_of", [_setting(m) for m in face.members])
        calls = [_function(face, face.call, ", void *stream", "op_of", [f'nw::api::launch(*context, op, stream, "{face.prepared_by}");'])]
        if face.prepare:
            ops += _op_of(face, "prepared_op", _read_only(face, face.prepare))
            calls.append(_function(face, face.prepared_by, "", "prepared_op", _prepare(face, face.prepare)))
        if face.workspace:
            ops += _op_of(face, "sized_op", _read_only(face, face.workspace))
            calls.append(_function(face, face.workspace.call, ", uint64_t *bytes", "sized_op", ["return nw::api::workspace_of(*context, op);"]))
        out.append(f'namespace nw::api {{\n\n{ops}}} // namespace nw::api\n\nextern "C" {{\n\n{chr(10).join(calls)}}}\n')
    return "\n".join(out)


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
        members, sets = zip(*map(_typed_member, face.members))
        out.append(
            "".join(f"// {line}\n" for line in face.title) + f"struct {_typed_name(face.op)} {{\n" + "\n".join(members)
            + f"\n\n    operator Op() const {{\n        Op op{{.kind = OpKind::{face.op}}};\n" + "\n".join(sets) + "\n        return op;\n    }\n};\n"
        )  # fmt: skip
    return "\n".join(out)
