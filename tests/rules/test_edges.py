# SPDX-License-Identifier: MIT
"""Who may include whom. A room's line gives its direct edges; what those may include, it may too."""

from __future__ import annotations

import re
import tempfile
import unittest
from pathlib import Path

from repository import ROOT

EDGES = {
    "host/base": [],
    "host/formats": ["host/base"],
    "host/ref": ["host/base", "host/formats"],  # never sim: it must not share the simulator's mistakes
    "host/hip": ["host/base"],
    "host/runtime": ["host/hip", "host/formats", "host/base"],  # never sim: only through HIP
    "host/capi": ["host/runtime"],
    "host/engines": ["host/capi"],  # a guest in someone's program: the C API alone
    "host/measure": ["host/runtime"],  # times whatever HIP gives it
    "host/sim/isa": ["host/base"],
    "host/sim/func": ["host/sim/isa"],  # never timing: meaning can't depend on time
    "host/sim/timing": ["host/sim/func"],
    "host/sim/check": ["host/sim/func"],
    "host/sim/hip": ["host/sim/timing", "host/sim/check", "host/sim/func", "host/sim/isa", "host/base"],
    "host/sim/hiprtc": ["host/sim/isa"],  # bundles; else programs meet it and libamdhip64 side by side
    "host/lint": ["host/sim/isa", "host/base"],
    # func: nw isa; timing: nw micro --fit writes the profiles that timing reads
    "host/nw": ["host/runtime", "host/measure", "host/lint", "host/formats", "host/sim/func", "host/sim/timing"],
    "tests/check": ["host/runtime", "host/ref", "host/sim/isa"],  # isa: whether kernels are the same instructions
    "tests/kernels": ["tests/check", "host/runtime", "host/measure", "host/ref"],
    "tests/sim": ["host/sim/timing", "host/sim/check"],
    # tests/sim: validate needs the issue of every instruction, which HIP has no call for
    "bench": ["tests/check", "tests/sim", "host/runtime", "host/measure"],
}
INCLUDE_ROOTS = ("host", "tests", ".")  # .: "bench/..."
GENERATED = {  # gen writes them into the build
    "contract_cases.inc", "contract_edges.inc", "contracts.inc", "faces.inc", "family_table.inc", "kernels.inc", "op_fields.inc", "op_kinds.inc",
    "op_names.inc", "op_words.inc", "parameters.inc", "typed_ops.inc",
    "old_names.inc", "targets.inc", "tuning.inc", "words.inc", "device_files.inc", "new_files.inc", "opencl_library.inc",
}  # fmt: skip
EVERY_TEST = {Path("tests/tier.h")}  # beside the rooms
SOURCES = {".h", ".cpp", ".c", ".inc"}
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.MULTILINE)


def reach(room: str) -> set[str]:
    direct = set(EDGES[room])
    return {room} | direct | {far for near in direct for far in reach(near)}


def room_of(path: Path) -> str | None:
    return next((str(folder) for folder in path.parents if str(folder) in EDGES), None)


def target_of(root: Path, source: Path, name: str) -> Path | None:
    """The file of the repository that an include means."""
    for folder in (source.parent, *INCLUDE_ROOTS):
        if (root / folder / name).is_file():
            return folder / Path(name)
    return None


def complaints(root: Path) -> list[str]:
    found = []
    for room in EDGES:
        for path in sorted((root / room).rglob("*")):
            if path.suffix in SOURCES:
                found += complaints_of(root, path.relative_to(root))
    return sorted(set(found))


def complaints_of(root: Path, source: Path) -> list[str]:
    found = []
    room = room_of(source)
    for bracket, name in INCLUDE.findall((root / source).read_text()):
        target = target_of(root, source, name)
        if target is None:
            if bracket == '"' and name not in GENERATED:
                found.append(f'{source}: "{name}" is no file of host/ or tests/; a library\'s header is <{name}>')
        elif room_of(target) not in reach(room) and not (target in EVERY_TEST and room.startswith("tests/")):
            found.append(f"{source}: {room} may not include {name} (of {room_of(target) or 'no room'})")
    return found


class Edges(unittest.TestCase):
    def test_repository(self) -> None:
        self.assertEqual(complaints(ROOT), [])

    def test_every_folder_of_host_is_a_room(self) -> None:
        for path in (ROOT / "host").rglob("*"):
            if path.suffix in SOURCES:
                self.assertIsNotNone(room_of(path.relative_to(ROOT)), f"{path}: of no room in EDGES")

    def test_forbidden_edges_are_seen(self) -> None:
        cases = [
            ("host/ref/gemv.cpp", '#include "sim/func/machine.h"', "host/ref may not include"),
            ("host/ref/gemv.cpp", "#include <sim/func/machine.h>", "host/ref may not include"),
            ("host/sim/func/run.cpp", '#include "sim/timing/constants/costs.h"', "host/sim/func may not include"),
            ("host/sim/func/run.cpp", '#include "sim/check/checks.h"', "host/sim/func may not include"),
            ("host/runtime/launch.cpp", '  # include "sim/func/machine.h"', "host/runtime may not include"),
            ("host/base/types.h", '#include "hip/hip.h"', "host/base may not include"),
            ("host/base/types.h", '#include "fmt/core.h"', "is no file of host/"),
            ("host/measure/rate.cpp", '#include "sim/func/machine.h"', "host/measure may not include"),
        ]
        for source, line, complaint in cases:
            with self.subTest(source=source, line=line):
                self.assertIn(complaint, "\n".join(self.judge(source, line)))

    def test_allowed_edges_are_not(self) -> None:
        cases = [
            ("host/sim/func/run.cpp", '#include "sim/isa/image/program.h"'),
            ("host/sim/func/run.cpp", '#include "base/types.h"'),
            ("host/runtime/launch.cpp", '#include "kernels.inc"'),
            ("host/hip/near.cpp", '#include "hip.h"'),
            ("bench/main.cpp", "#include <vector>"),
        ]
        for source, line in cases:
            with self.subTest(source=source, line=line):
                self.assertEqual(self.judge(source, line), [])

    def judge(self, source: str, line: str) -> list[str]:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            headers = ["base/types.h", "hip/hip.h", "sim/isa/image/program.h", "sim/func/machine.h", "sim/check/checks.h"]
            for name in [f"host/{header}" for header in [*headers, "sim/timing/constants/costs.h"]] + [source]:
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text("")
            (root / source).write_text(line + "\n")
            return complaints(root)


if __name__ == "__main__":
    unittest.main()
