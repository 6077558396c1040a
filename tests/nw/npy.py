# SPDX-License-Identifier: MIT
"""NumPy's files without NumPy: the header is written as NumPy does, and read by Python's own literals."""

from __future__ import annotations

import ast
import struct
from pathlib import Path

CODES = {"<f2": "e", "<f4": "f", "<f8": "d", "<i4": "i", "<u4": "I", "<u2": "H", "|u1": "B", "<i8": "q"}


def write(path: Path, descr: str, shape: tuple[int, ...], values: list) -> Path:
    data = struct.pack(f"<{len(values)}{CODES[descr]}", *values)
    path.write_bytes(header(f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}") + data)
    return path


def header(text: str, version: int = 1) -> bytes:
    text += " " * (-(len(text) + 11) % 64) + "\n"
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", len(text)) + text.encode()


def read(path: Path) -> tuple[str, tuple[int, ...], list]:
    """Type, shape, elements."""
    file = path.read_bytes()
    assert file[:8] == b"\x93NUMPY\1\0", file[:8]
    (length,) = struct.unpack("<H", file[8:10])
    assert (10 + length) % 64 == 0 and file[9 + length] == ord("\n")
    head = ast.literal_eval(file[10 : 10 + length].decode())
    assert head["fortran_order"] is False
    code = CODES[head["descr"]]
    body = file[10 + length :]
    return head["descr"], head["shape"], list(struct.unpack(f"<{len(body) // struct.calcsize(code)}{code}", body))
