# SPDX-License-Identifier: MIT
"""An op's part of host/capi/nibblewave.h: struct, _INIT, calls.

As a script: writes these parts anew, each from the comment above its struct to its last prototype."""

from __future__ import annotations

import argparse
import re
import sys
import textwrap
from collections.abc import Iterable
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from faces.face import Face, Member, Reading, load_all
from files import exit_code, write_if_changed

WIDTH = 100  # columns


def _wrapped(text: str, width: int, indent: str = "") -> list[str]:
    """The text in lines of at most `width` columns, all but the first indented. `code` is not split, and no line begins with an operator."""
    kept = re.sub(r"`[^`]*`| [*=<>]=?(?= )", lambda found: found[0].replace(" ", "\0"), " ".join(text.split()))
    return [line.replace("\0", " ") for line in textwrap.wrap(kept, width, subsequent_indent=indent)]


def _comment(text: str, indent: str = "") -> str:
    """A block comment; one line where it fits."""
    one = f"{indent}/* {' '.join(text.split())} */"
    if len(one) <= WIDTH:
        return one
    lines = _wrapped(text, WIDTH - len(indent) - 3)
    body = [f"{indent}{' * ' if at else '/* '}{line}" for at, line in enumerate(lines)]
    if len(body[-1]) + 3 > WIDTH:
        return "\n".join([*body, f"{indent} */"])
    return "\n".join([*body[:-1], f"{body[-1]} */"])


def _beside(declaration: str, says: str, column: int) -> str:
    """A member and its comment, which begins in a column."""
    head = f"    {declaration}".ljust(column)
    lines = _wrapped(says, WIDTH - column - 3)
    if len(lines[-1]) > WIDTH - column - 6:
        lines = _wrapped(says, WIDTH - column - 6)
    if len(lines) == 1:
        return f"{head}/* {says} */"
    return "\n".join([f"{head}/* {lines[0]}", *(" " * (column + 3) + line for line in lines[1:-1]), " " * (column + 3) + f"{lines[-1]} */"])


def _members(group: Iterable[tuple[str, str]]) -> list[str]:
    column = 5 + max((len(declaration) for declaration, says in group if says), default=0)
    return [_beside(declaration, says, column) if says else f"    {declaration}" for declaration, says in group]


def _declaration(row: tuple[Member, ...]) -> str:
    """const void *w, *s;"""
    star = "*" if row[0].pointer else ""
    return f"{row[0].kind}{'' if star else ' '}{row[0].name}{''.join(f', {star}{m.name}' for m in row[1:])};"


def _struct(face: Face) -> str:
    size = ("size_t size;", face.size)
    parts = []
    for at, group in enumerate(face.groups):
        rows = [(_declaration(row), row[0].says) for row in group.rows]
        lines = _members([size, *rows] if at == 0 else rows)
        parts.append("\n".join([_comment(group.says, "    "), *lines] if group.says else lines))
    return f"typedef struct {face.struct} {{\n" + "\n\n".join(parts) + f"\n}} {face.struct};\n"


def _init(face: Face) -> str:
    values = ", ".join([f"sizeof({face.struct})", *(m.init for m in face.members)])
    head = (f"{_comment(face.defaults)}\n" if face.defaults else "") + f"#define {face.struct.upper()}_INIT".ljust(WIDTH - 1) + "\\\n"
    if len(values) + 8 <= WIDTH:
        return f"{head}    {{ {values} }}\n"
    lines = textwrap.wrap(values, WIDTH - 2, initial_indent=" " * 8, subsequent_indent=" " * 12)
    body = [line.ljust(WIDTH - 1) + "\\" for line in lines]
    return head + "\n".join(["    {".ljust(WIDTH - 1) + "\\", *body, "    }"]) + "\n"


def _prototype(name: str, arguments: list[str]) -> str:
    one = f"NW_API nw_status {name}({', '.join(arguments)});"
    if len(one) <= WIDTH:
        return one + "\n"
    indent = " " * len(f"NW_API nw_status {name}(")
    words = ", ".join(a.replace(" ", "\0") for a in arguments)
    lines = textwrap.wrap(words, WIDTH - len(indent))
    if len(indent) + len(lines[-1]) + 2 > WIDTH:
        lines = textwrap.wrap(words, WIDTH - len(indent) - 2)
    return f"NW_API nw_status {name}(" + f"\n{indent}".join(lines).replace("\0", " ") + ");\n"


def listed(words: list[str]) -> str:
    """a, b and c"""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _calls(face: Face) -> str:
    arguments = ["nw_context *context", f"const {face.struct} *{face.operand}"]
    more = [f"{m.kind}{'' if m.pointer else ' '}{m.name}" for m in face.arguments]
    out = (f"{_comment(face.queues)}\n" if face.queues else "") + _prototype(face.call, [*arguments, *more, "void *stream"])
    for reading in face.readings:
        prepares = reading is face.prepare
        says = _comment(_read(reading, " only." if prepares else "."))
        out += f"\n{says}\n{_prototype(reading.call, [*arguments, *([] if prepares else ['uint64_t *bytes'])])}"
    return out


def _read(reading: Reading, end: str) -> str:
    """The comment of a call that reads some members only, with their names."""
    text = reading.text or f"{reading.says} Reads {{reads}}{end}"
    return text.replace("{reads}", listed(reading.reads)).replace("{nulls}", listed(reading.nulls) if reading.nulls else "")


def _above(face: Face) -> str:
    """The comment above the struct, or the call. Lines of the text that are indented stay as they are; `- ` begins an item of a list."""
    if not face.text:
        return ""
    text = face.text.replace("{title}", "\n".join(f"    {line}" for line in face.title))
    lines: list[str] = []
    for paragraph in re.split(r"\n\s*\n", text):
        lines += [""] * bool(lines)
        if paragraph.startswith("    "):
            lines += paragraph.splitlines()
        else:
            for item in re.split(r"\n(?=- )", paragraph):
                lines += _wrapped(item, WIDTH - 3, "  " if item.startswith("- ") else "")
    if len(lines) == 1 and len(lines[0]) + 6 <= WIDTH:
        return f"/* {lines[0]} */\n"
    return "/*\n" + "\n".join(f" * {line}".rstrip() for line in lines) + "\n */\n"


def header(face: Face) -> str:
    """Its part of nibblewave.h."""
    if face.like:
        return _above(face) + _calls(face)
    return f"{_above(face)}{_struct(face)}\n{_init(face)}\n{_calls(face)}"


def with_parts(text: str, faces: list[Face]) -> str:
    """nibblewave.h with the parts of all faces renewed. ValueError where it has no place for one."""
    for face in faces:
        last = face.readings[-1].call if face.readings else face.call
        begin, end = rf"NW_API nw_status {face.call}\(" if face.like else rf"typedef struct {face.struct} \{{", rf"NW_API nw_status {last}\([^;]*;\n"
        part = re.compile(rf"/\*(?:(?!\*/).)*\*/\n(?={begin}).*?{end}", re.DOTALL)
        place = re.compile(rf"/\* op: {face.op} \*/\n")
        found = part.search(text) or place.search(text)
        if not found:
            raise ValueError(f"host/capi/nibblewave.h has no place for {face.op}: write the line `/* op: {face.op} */` where it belongs")
        text = text[: found.start()] + header(face) + text[found.end() :]
    return text


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=Path, help="the source tree (holds asm/, gen/ and host/)")
    options = parser.parse_args()
    file = options.root / "host/capi/nibblewave.h"
    return exit_code("c_header", lambda: write_if_changed(file, with_parts(file.read_text(), load_all(options.root))))


if __name__ == "__main__":
    sys.exit(main())
