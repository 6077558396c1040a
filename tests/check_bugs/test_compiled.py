# SPDX-License-Identifier: MIT
"""Correct code of clang is clean: no finding of nw lint, no report under HIPSIM_CHECK=all. With BUG=1 a file's kernels have a bug,
which is found. Kernels of compiled/*.c, at all levels of optimization."""

from __future__ import annotations

import ctypes
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(os.environ["NW_SOURCE_DIR"])
BUILD = Path(os.environ["NW_BUILD_DIR"])
FOLDER = SOURCE / "tests/check_bugs/compiled"
sys.path[:0] = [str(SOURCE / "tests/nw")]

from command import nw, run  # noqa: E402

EVERYTHING = os.environ.get("NW_TIER") == "all"
TARGETS = ("gfx1010", "gfx1030", "gfx1100", "gfx1151", "gfx1201") if EVERYTHING else ("gfx1010", "gfx1030", "gfx1151", "gfx1201")
LEVELS = ("-O0", "-O1", "-O2", "-O3", "-Os") if EVERYTHING else ("-O0", "-O1", "-O2")
OLD_PAIRS = {"H-026", "H-030"}  # clang 22 forms pairs that these are against
FOUND_BY = {"lds_loops": "race", "barriers": "lint"}  # the files that have a bug
BYTES = 1 << 16  # of a buffer


@dataclass(frozen=True)
class Code:
    path: Path  # the .s, the .hsaco beside it
    source: str
    gfx: str
    level: str

    @property
    def hsaco(self) -> Path:
        return self.path.with_suffix(".hsaco")

    @property
    def kernels(self) -> list[tuple[str, list[str]]]:
        """Names, and the kinds of their arguments."""
        metadata = self.path.read_text().split(".amdgpu_metadata")[1]
        return [(re.search(r"\n    \.name: +(\w+)", text)[1], re.findall(r"\.value_kind: +(\w+)", text))
                for text in metadata.split("\n  - .")[1:] if "\n    .name:" in text]  # fmt: skip


def compiled(source: Path, gfx: str, level: str, bug: bool, folder: Path) -> Code:
    code = Code(folder / f"{source.stem}_{gfx}{level}_{int(bug)}.s", source.stem, gfx, level)
    clang = [os.environ["NW_CLANG"], "-target", "amdgcn-amd-amdhsa", f"-mcpu={gfx}"]
    for command in ([*clang, "-nogpulib", "-mcode-object-version=5", level, f"-DBUG={int(bug)}", "-S", source, "-o", code.path],
                    [*clang, code.path, "-o", code.hsaco]):  # fmt: skip
        done = run(command)
        if done.returncode:
            raise AssertionError(f"{source} {gfx} {level}: {done.stderr}")
    return code


def launch_all(hsaco: str, kernels: list[tuple[str, list[str]]]) -> None:
    """Runs in a separate process, whose environment selects the checkers: prints the kernels that fail."""
    hip = ctypes.CDLL(str(BUILD / "hipsim/libamdhip64.so"))
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    words = (ctypes.c_uint32 * (BYTES // 4))(*(7 * n * n % 101 for n in range(BYTES // 4)))
    if hip.hipModuleLoadData(ctypes.byref(module), Path(hsaco).read_bytes()):
        print("no module")
    for name, kinds in kernels:
        values = []
        for kind in kinds:
            values.append((ctypes.c_uint32 * 16)(*[5] * 16))
            if kind == "global_buffer":
                values[-1] = ctypes.c_void_p()
                hip.hipMalloc(ctypes.byref(values[-1]), ctypes.c_size_t(BYTES))
                hip.hipMemcpy(values[-1], words, ctypes.c_size_t(BYTES), 1)
        block = [int(size) for size in name.rsplit("__", 1)[1].split("_")]
        arguments = (ctypes.c_void_p * len(values))(*map(ctypes.addressof, values))
        hip.hipModuleGetFunction(ctypes.byref(function), module, name.encode())
        if hip.hipModuleLaunchKernel(function, 1, 1, 1, *block, 0, None, arguments, None) or hip.hipDeviceSynchronize():
            print(name, flush=True)


def reports(code: Code) -> dict[str, dict]:
    """Under HIPSIM_CHECK=all, by kernel."""
    report = code.path.with_suffix(".json")
    report.touch()
    done = run([sys.executable, "-B", __file__, "--launch", code.hsaco, json.dumps(code.kernels)], HIPSIM_CHECK="all",
               HIPSIM_ARCH=code.gfx, HIPSIM_REPORT=str(report), HIPSIM_CHOICES="vopd_interlock=kept")  # fmt: skip
    found = {line["kernel"]: line for line in map(json.loads, report.read_text().splitlines())}
    if done.returncode or set(done.stdout.split()) != set(found):
        raise AssertionError(f"{code.path.name}: failed: {done.stdout.split()}, reported: {list(found)}: {done.stderr}")
    return found


def lint(codes: list[Code]) -> list[list[dict]]:
    done = nw("lint", *(code.hsaco for code in codes), "--json")
    if done.returncode not in (0, 1):
        raise AssertionError(done.stderr)
    return [[row for row in file["findings"] if row["rule"] not in OLD_PAIRS] for file in json.loads(done.stdout)]


class Compiled(unittest.TestCase):
    def codes(self, bug: bool, pool: ThreadPoolExecutor, sources: list[Path]) -> list[Code]:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        jobs = [(source, gfx, level, bug, Path(folder.name)) for source in sources for gfx in TARGETS for level in LEVELS]
        return list(pool.map(lambda job: compiled(*job), jobs))

    def test_what_is_right_is_not_reported(self) -> None:
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            codes = self.codes(False, pool, sorted(FOLDER.glob("*.c")))
            wrong = [f"{code.source} {code.gfx} {code.level} {row['kernel']}: {row['rule']} {row['message']}"
                     for code, rows in zip(codes, lint(codes)) for row in rows]  # fmt: skip
            for code, found in zip(codes, pool.map(reports, codes)):
                wrong += [f"{code.source} {code.gfx} {code.level} {name}: {line['message']}" for name, line in found.items()]
        self.assertGreater(sum(len(code.kernels) for code in codes), 60 * len(TARGETS) * len(LEVELS))
        self.assertEqual(wrong, [], "\n".join(wrong))

    def test_what_is_wrong_is(self) -> None:
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            codes = self.codes(True, pool, [FOLDER / f"{name}.c" for name in FOUND_BY])
            by_lint = lint(codes)
            by_run = list(pool.map(lambda code: reports(code) if FOUND_BY[code.source] != "lint" else {}, codes))
        for code, rows, found in zip(codes, by_lint, by_run):
            names = {name for name, _ in code.kernels}
            if FOUND_BY[code.source] == "lint":
                reported = {row["kernel"] for row in rows if row["rule"] == "F-005"}
            else:
                reported = {name for name, line in found.items() if line["check"] == FOUND_BY[code.source]}
            self.assertEqual(reported, names, f"{code.source} {code.gfx} {code.level}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--launch"]:
        launch_all(sys.argv[2], json.loads(sys.argv[3]))
    else:
        unittest.main()
