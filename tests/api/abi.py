# SPDX-License-Identifier: MIT
"""The ABI of nibblewave.h and libnibblewave.so as text; tests/api/abi.txt is the expected one.

    NW_CC=cc NW_READELF=readelf python3 tests/api/abi.py HEADER LIBRARY

A change of a line, or one that goes, is another ABI: raise the minor version (CMakeLists.txt, nibblewave.h,
library.map, CHANGELOG.md), which is another soname, then renew the file. New lines need neither.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

STRUCT = re.compile(r"typedef struct (\w+) \{(.*?)\} \1;", re.DOTALL)
MEMBER = re.compile(r"(\w+)(?:\[[^\]]*\])?\s*(?=[,;])")
ENUM = re.compile(r"\benum(?: \w+)? \{(.*?)\}", re.DOTALL)
FUNCTION = re.compile(r"^NW_API ([^;]+);", re.MULTILINE)


def without_comments(header: str) -> str:
    return re.sub(r"/\*.*?\*/", " ", header, flags=re.DOTALL)


def structs(header: str) -> dict[str, list[str]]:
    """Members of each struct, in order."""
    return {name: MEMBER.findall(body) for name, body in STRUCT.findall(without_comments(header))}


def enumerators(header: str) -> list[str]:
    return [name for body in ENUM.findall(without_comments(header)) for name in re.findall(r"\bNW_\w+", body)]


def functions(header: str) -> list[str]:
    return sorted(" ".join(text.split()) for text in FUNCTION.findall(without_comments(header)))


def program(header: str) -> str:
    """Prints sizes, offsets and values."""
    lines = ["#include <nibblewave.h>", "#include <stdio.h>", "int main(void) {"]
    for name in enumerators(header):
        lines.append(f'printf("enumerator {name} %ld\\n", (long){name});')
    lines.append('printf("constant NW_PER_ROW %lu\\n", (unsigned long)NW_PER_ROW);')
    for name, members in structs(header).items():
        lines.append(f'printf("struct {name} %zu bytes\\n", sizeof({name}));')
        for member in members:
            size = f"sizeof((({name} *)0)->{member})"
            lines.append(f'printf("  {member} at %zu, %zu bytes\\n", offsetof({name}, {member}), {size});')
    return "\n".join([*lines, "return 0; }", ""])


def layout(header: Path) -> list[str]:
    """Output of the program."""
    with tempfile.TemporaryDirectory() as folder:
        source, binary = Path(folder) / "abi.c", Path(folder) / "abi"
        source.write_text(program(header.read_text()))
        subprocess.run([os.environ["NW_CC"], "-std=c99", f"-I{header.parent}", source, "-o", binary], check=True)
        return subprocess.run([binary], check=True, capture_output=True, text=True).stdout.splitlines()


def symbols(library: Path) -> list[str]:
    """Exported symbols with their versions."""
    command = [os.environ["NW_READELF"], "--dyn-syms", "-W", library]
    rows = [line.split() for line in subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()]
    return sorted(row[7] for row in rows if len(row) > 7 and row[4] in ("GLOBAL", "WEAK") and row[6] != "UND" and row[3] != "OBJECT")


def soname(library: Path) -> str:
    command = [os.environ["NW_READELF"], "-d", "-W", library]
    return re.search(r"\(SONAME\).*\[(.+)\]", subprocess.run(command, check=True, capture_output=True, text=True).stdout)[1]


def abi(header: Path, library: Path) -> list[str]:
    """Every line of abi.txt."""
    return [
        f"soname {soname(library)}",
        *[f"symbol {name}" for name in symbols(library)],
        *[f"function {text}" for text in functions(header.read_text())],
        *layout(header),
    ]


if __name__ == "__main__":
    print("\n".join(abi(Path(sys.argv[1]), Path(sys.argv[2]))))
