# SPDX-License-Identifier: MIT
"""The package's structs, made from nibblewave.h, have the compiler's sizes and offsets, and the _INIT macros' values."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(os.environ["NW_SOURCE_DIR"])
sys.path[:0] = [str(SOURCE / "host/python")]
import header  # noqa: E402

CAPI = SOURCE / "host/capi/nibblewave.h"


class Header(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.abi: dict[str, object] = {}
        exec(header.module(CAPI.read_text()), cls.abi)
        cls.structs = {name: kind for name, kind in cls.abi.items() if isinstance(kind, type) and name.startswith("nw_")}

    def compiled(self, body: str) -> list[str]:
        with tempfile.TemporaryDirectory() as scratch:
            source = Path(scratch) / "a.c"
            source.write_text(f'#include <stdio.h>\n#include "{CAPI}"\nint main(void) {{\n{body}\nreturn 0; }}\n')
            subprocess.run([os.environ["NW_CC"], source, "-o", Path(scratch) / "a"], check=True)
            return subprocess.run([Path(scratch) / "a"], check=True, capture_output=True, text=True).stdout.split("\n")[:-1]

    def test_sizes_and_offsets(self) -> None:
        self.assertGreater(len(self.structs), 6)
        body, want = [], []
        for name, kind in self.structs.items():
            body.append(f'printf("{name} %zu\\n", sizeof({name}));')
            want.append(f"{name} {ctypes.sizeof(kind)}")
            for field, _ in kind._fields_:
                body.append(f'printf("{name}.{field} %zu\\n", offsetof({name}, {field}));')
                want.append(f"{name}.{field} {getattr(kind, field).offset}")
        self.assertEqual(self.compiled("\n".join(body)), want)

    def test_values_of_init(self) -> None:
        body, want = [], []  # static: padding is 0, too
        for name, kind in self.structs.items():
            made = kind(**({"size": ctypes.sizeof(kind)} | kind.DEFAULTS))
            body.append(f"{{ static {name} p = {name.upper()}_INIT; for (size_t i = 0; i < sizeof p; i++) printf(\"%02x\", ((unsigned char *)&p)[i]); puts(\"\"); }}")
            want.append(bytes(made).hex())
        self.assertEqual(self.compiled("\n".join(body)), want)

    def test_enumerators(self) -> None:
        names = [name for name in self.abi if name.startswith("NW_")]
        self.assertIn("NW_GGUF_Q6_K", names)
        self.assertEqual(self.compiled("\n".join(f'printf("%d\\n", (int){name});' for name in names)), [str(self.abi[name]) for name in names])


if __name__ == "__main__":
    unittest.main()
