# SPDX-License-Identifier: MIT
"""Copies from the host to a device go through host/hip/staging.h: HIP's own staging loses some on gfx11 (isa_notes/A-031)."""

from __future__ import annotations

import re
import tempfile
import unittest
from pathlib import Path

from repository import ROOT

# Calls and directions that make such a copy; hipMemcpyDefault may. Fills, and copies that stay on the device, may go anywhere.
TO_THE_DEVICE = re.compile(r"hipMemcpyHostToDevice|hipMemcpyDefault|hipMemcpyHtoD|hipMemcpyToSymbol|hipMemcpyParam|hipDrvMemcpy|\"hipMemcpy\w*\".*, [14]\)")
# doctor: shows the loss. The others' source is pinned memory: staging.h by its own, graph.cpp by its type, hip.py by upload().
MAY = {"host/nw/doctor/copies.cpp", "host/hip/staging.h", "host/hip/graph.cpp", "host/python/nibblewave/hip.py", "host/python/examples/hsaco.py"}
ROOMS = ("host", "bench")
ELSEWHERE = ("host/sim/",)  # HIP itself
SUFFIXES = {".h", ".cpp", ".c", ".py", ".inc"}


def complaints(root: Path) -> list[str]:
    found = []
    for path in sorted(path for room in ROOMS for path in (root / room).rglob("*") if path.suffix in SUFFIXES):
        name = str(path.relative_to(root))
        if name in MAY or name.startswith(ELSEWHERE):
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if TO_THE_DEVICE.search(line):
                found.append(f"{name}:{number}: a copy to the device: use host/hip/staging.h (Buffer::upload)")
    return found


class Copies(unittest.TestCase):
    def test_repository(self) -> None:
        self.assertEqual(complaints(ROOT), [])

    def test_others_are_seen(self) -> None:
        cases = [
            ("host/engines/ggml/buffer.cpp", "hip().hipMemcpy(to, from, bytes, hipMemcpyHostToDevice);", True),
            ("host/engines/ggml/buffer.cpp", "hip().hipMemcpy(to, from, bytes, hipMemcpyDefault);", True),
            ("bench/data.h", "hipMemcpyHtoDAsync(to, from, bytes, stream);", True),
            ("host/python/nibblewave/torch.py", 'call("hipMemcpy", to, source, ctypes.c_size_t(4), 1)', True),
            ("host/engines/ggml/buffer.cpp", "hip().hipMemcpy(to, from, bytes, hipMemcpyDeviceToHost);", False),
            ("host/engines/ggml/buffer.cpp", "hip().hipMemcpy(to, from, bytes, hipMemcpyDeviceToDevice);", False),
            ("host/python/nibblewave/torch.py", 'call("hipMemcpy", to, source, ctypes.c_size_t(4), 2)', False),
        ]
        for name, line, refused in cases:
            with self.subTest(line=line), tempfile.TemporaryDirectory() as folder:
                path = Path(folder, name)
                path.parent.mkdir(parents=True)
                path.write_text(f"    {line}\n")
                self.assertEqual(bool(complaints(Path(folder))), refused)


if __name__ == "__main__":
    unittest.main()
