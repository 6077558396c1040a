# SPDX-License-Identifier: MIT
"""Structs and enumerators of nibblewave.h as Python, so that they stand in one place."""

from __future__ import annotations

import re

STRUCT = re.compile(r"typedef struct (\w+) \{(.*?)\} \1;", re.DOTALL)
ENUM = re.compile(r"\benum(?: \w+)? \{(.*?)\}", re.DOTALL)
CTYPES = {
    "size_t": "c_size_t", "int32_t": "c_int32", "uint32_t": "c_uint32", "uint64_t": "c_uint64", "float": "c_float",
}  # fmt: skip


def without_comments(header: str) -> str:
    return re.sub(r"/\*.*?\*/", " ", header, flags=re.DOTALL)


def members(body: str) -> list[tuple[str, str]]:
    out = []
    for declaration in filter(None, (" ".join(part.split()) for part in body.split(";"))):
        first, *others = declaration.split(",")
        kind, _, name = first.rpartition("*") if "*" in first else first.rpartition(" ")
        ctype = "c_void_p" if "*" in first else CTYPES[kind.strip()]
        out += [(word.strip(" *"), ctype) for word in (name, *others)]
    return out


def defaults(header: str, struct: str, names: list[str]) -> dict[str, str]:
    """Members that the _INIT macro sets to a value other than 0."""
    macro = re.search(rf"#define {struct.upper()}_INIT\s*\\?\s*(.*?)\n\n", header, re.DOTALL)
    if not macro:
        return {}
    values = [value.strip() for value in macro[1].replace("\\", " ").strip().strip("{}").split(",")]
    return {
        name: value.rstrip("f") for name, value in zip(names, (v.strip("{} ") for v in values))
        if name != "size" and value not in ("0", "NULL")
    }  # fmt: skip


def module(header: str) -> str:
    """Source of nibblewave/abi.py."""
    text = without_comments(header)
    lines = ['"""Structs and enumerators of nibblewave.h; generated from it."""', "", "from ctypes import *", ""]
    for body in ENUM.findall(text):
        lines += [f"{name} = {value}" for name, value in re.findall(r"(NW_\w+) = (\d+)", body)]
    for name, body in STRUCT.findall(text):
        fields = members(body)
        init = defaults(text, name, [field for field, _ in fields])
        lines += ["", "", f"class {name}(Structure):", "    _fields_ = ["]
        lines += [f'        ("{field}", {ctype}),' for field, ctype in fields] + ["    ]"]
        lines += [f"    DEFAULTS: dict[str, float] = {{{', '.join(f'{key!r}: {value}' for key, value in init.items())}}}"]
    return "\n".join(lines) + "\n"
