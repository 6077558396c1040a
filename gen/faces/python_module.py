# SPDX-License-Identifier: MIT
"""nibblewave/ops.py of the wheel: a method of Python's Context for each op, and its operands as data."""

from __future__ import annotations

import re
import textwrap

from faces.face import Face, Member
from family import Pointer


def _operands(face: Face) -> list[Member]:
    """Pointers that a method has: optional results are the C API's alone."""
    pointers = face.family.pointers
    return [m for m in face.members if m.pointer and m.python and not (pointers[m.name].written and pointers[m.name].optional)]


def _operand(face: Face, m: Member) -> str:
    p: Pointer = face.family.pointers[m.name]
    if unknown := [d for d in p.shape if d not in face.family.sizes]:
        raise ValueError(f"{face.op}: {m.name}: {', '.join(unknown)}: Python has methods for operands whose dimensions are sizes")
    types = tuple(_types(p))
    return f'Operand("{m.name}", {p.written}, {p.optional}, {types!r}, {tuple(p.shape)!r}, {tuple(p.strides)!r}),'


def _decides(face: Face, m: Member) -> Pointer | None:
    """The operand whose type says which enumerator a member is; none where the caller does."""
    pointers = face.family.pointers.values()
    return next((p for p in pointers if p.element == m.name or (p.other and re.fullmatch(rf"{m.name} == '\w+'", p.other[0]))), None)


def _word(face: Face, m: Member) -> str:
    p = _decides(face, m)
    rows = ", ".join(f'"{text}": abi.{name}' for text, name in m.enumerators.items())
    return f'Word("{m.name}", "{p.name}", {{{rows}}}),' if p else f'Choice("{m.name}", {{{rows}}}),'


def _choices(face: Face) -> list[Member]:
    return [m for m in face.members if m.enumerators and not _decides(face, m)]


def _table(face: Face) -> list[str]:
    operands = [f"        {_operand(face, m)}" for m in _operands(face)]
    choices = _choices(face)
    words = [f"        {_word(face, m)}" for m in face.members if m.enumerators and m not in choices]
    more = ["    (", *(f"        {_word(face, m)}" for m in choices), "    ),"] if choices else []
    return [f"_{face.op.upper()} = Face(", f'    "{face.struct}", "{face.call}",', "    (", *operands, "    ),", "    (", *words, "    ),", *more, ")"]


def _method(face: Face) -> list[str]:
    pointers = face.family.pointers
    operands, floats = _operands(face), [m for m in face.members if m.kind == "float"]
    results = [m.name for m in operands if pointers[m.name].written]
    names = {m.name: "out" if results == [m.name] else m.name for m in operands}
    parameters = [f"{m.name}: Any{' = None' if pointers[m.name].optional else ''}" for m in operands if m.name not in results]
    parameters += ["*", *(f"{names[r]}: Any" for r in results), *(f"{m.name}: str" for m in _choices(face)), *(f"{m.name}: float = {m.init.rstrip('f')}" for m in floats), "stream: Any = None"]
    says = "; ".join(f"{names[m.name]} {' or '.join(_types(pointers[m.name]))} {m.says.replace('null', 'None')}" for m in operands)
    doc = "\n".join([*face.title, "", *textwrap.wrap(f"{says}. {face.text.replace('{title}', '').strip()}", 120)])
    given = ", ".join(f'"{m.name}": {names[m.name]}' for m in operands)
    values = "".join(f", {m.name}={m.name}" for m in [*_choices(face), *floats])
    return [
        f"    def {face.op}(self, {', '.join(parameters)}) -> None:",
        textwrap.indent(f'"""{doc}\n"""', " " * 8),
        f"        queue(self, _{face.op.upper()}, stream, {{{given}}}{values})  # type: ignore[arg-type]",
    ]


def _types(p: Pointer) -> list[str]:
    return [p.element, *([p.other[1]] if p.other else [])]


def python(every: list[Face]) -> str:
    """nibblewave/ops.py of the wheel: a method of Context for each op, and its operands as data."""
    faces = [face for face in every if face.python]
    out = ['"""Ops of one launch; generated from asm/ops by gen/faces."""', "", "from __future__ import annotations", "",
           "from typing import Any", "", "from . import abi", "from .faces import Choice, Face, Operand, Word, queue", ""]  # fmt: skip
    for face in faces:
        out += [*_table(face), ""]
    out += ["", "class Ops:", '    """Methods of Context."""']
    for face in faces:
        out += ["", *_method(face)]
    return "\n".join(out) + "\n"
