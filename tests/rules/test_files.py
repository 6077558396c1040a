# SPDX-License-Identifier: MIT
"""Rules for every tracked file: licence line, format, nothing generated, nothing of one machine."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from repository import ROOT, tracked

CLANG_FORMAT = "clang-format-14"
FORMATTED = {".h", ".cpp", ".c", ".inc"}
SOURCES = FORMATTED | {".py", ".sh", ".cmake", ".toml", ".j2", ".s"}
SOURCE_NAMES = {"CMakeLists.txt", "run"}
LICENCE = "SPDX-License-Identifier: MIT"
LICENCE_LINES = 3  # a `#!` line, or a template's comment mark, may stand first

GENERATED = re.compile(
    r"(^|/)(build(-[^/]*)?|__pycache__)/"
    r"|\.(hsaco|o|so|a|pyc|gch)$"
    r"|(^|/)(kernels\.inc|manifest\.json|compile_commands\.json|CMakeCache\.txt)$"
)
TOP_LEVEL = {
    ".ci", ".clang-format", ".gitignore", "asm", "bench", "CHANGELOG.md", "CMakeLists.txt", "CMakePresets.json", "gen", "host", "isa_notes", "LICENSE",
    "README.md", "setup.sh", "tests",
}  # fmt: skip
# Spelled in parts, so that this file does not match itself.
MACHINE = re.compile(
    r"(?<![\w.$})-])/(?:" + "|".join(["work", "root", "home", "Users"]) + r")/"
    r"|\b(?:" + "|".join([r"deb\.debian", r"security\.debian", r"pypi", r"registry\.npmjs"]) + r")\.org\b"
)


def is_source(path: Path) -> bool:
    return path.suffix in SOURCES or path.name in SOURCE_NAMES


def out_of_place(paths: list[Path]) -> list[str]:
    return sorted({path.parts[0] for path in paths} - TOP_LEVEL)


def unlicensed(root: Path, paths: list[Path]) -> list[str]:
    def has_line(path: Path) -> bool:
        return any(LICENCE in line for line in (root / path).read_text().splitlines()[:LICENCE_LINES])

    return [str(path) for path in paths if is_source(path) and not has_line(path)]


def of_one_machine(root: Path, paths: list[Path]) -> list[str]:
    found = []
    for path in paths:
        for number, line in enumerate((root / path).read_text(errors="replace").splitlines(), 1):
            if match := MACHINE.search(line):
                found.append(f"{path}:{number}: {match[0]}")
    return found


def misformatted(root: Path, paths: list[Path]) -> list[str]:
    chosen = [str(path) for path in paths if path.suffix in FORMATTED]
    command = [CLANG_FORMAT, "--dry-run", "--style=file", *chosen]
    said = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stderr
    return sorted(set(re.findall(r"^(.+?):\d+:\d+: warning: .*clang-format", said, re.MULTILINE)))


class Files(unittest.TestCase):
    maxDiff = None

    def test_sources_name_the_licence(self) -> None:
        self.assertEqual(unlicensed(ROOT, tracked()), [])

    def test_the_top_level_is_fixed(self) -> None:
        self.assertEqual(out_of_place(tracked()), [])

    def test_nothing_generated_is_tracked(self) -> None:
        self.assertEqual([str(path) for path in tracked() if GENERATED.search(str(path))], [])

    def test_nothing_of_one_machine(self) -> None:
        self.assertEqual(of_one_machine(ROOT, tracked()), [])

    @unittest.skipUnless(shutil.which(CLANG_FORMAT), f"{CLANG_FORMAT} is not installed")
    def test_format(self) -> None:
        files = misformatted(ROOT, tracked())
        self.assertEqual(files, [], f"run: {CLANG_FORMAT} -i {' '.join(files)}")


class TheRulesThemselves(unittest.TestCase):
    """Each rule detects its violation."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def write(self, name: str, text: str) -> list[Path]:
        (self.root / name).write_text(text)
        return [Path(name)]

    def test_licence(self) -> None:
        for name in ("a.cpp", "a.s.j2", "a.py", "CMakeLists.txt", "run"):
            self.assertEqual(unlicensed(self.root, self.write(name, "int x;\n")), [name])
        self.assertEqual(unlicensed(self.root, self.write("run", f"#!/bin/sh\n# {LICENCE}\n")), [])

    def test_top_level(self) -> None:
        self.assertEqual(out_of_place([Path("notes.txt"), Path("asm/lib/abi.j2"), Path("scratch/a.cpp")]), ["notes.txt", "scratch"])

    def test_generated(self) -> None:
        for name in ("build/a.txt", "build-asan/x", "asm/x.hsaco", "kernels.inc", "gen/__pycache__/x"):
            self.assertTrue(GENERATED.search(name), name)
        for name in ("gen/build.sh", "asm/lib/abi.s.j2", "host/sim/isa/vop2.inc", "tests/sim/saxpy.s"):
            self.assertFalse(GENERATED.search(name), name)

    def test_machine(self) -> None:
        for folder in ("work", "root", "home"):
            self.assertTrue(of_one_machine(self.root, self.write("a.md", f"see /{folder}/x\n")), folder)
        self.assertEqual(of_one_machine(self.root, self.write("a.md", "root/ and $root/work/x, a/home/b\n")), [])

    @unittest.skipUnless(shutil.which(CLANG_FORMAT), f"{CLANG_FORMAT} is not installed")
    def test_format(self) -> None:
        shutil.copy(ROOT / ".clang-format", self.root)
        self.assertEqual(misformatted(self.root, self.write("a.cpp", "int  x ;\n")), ["a.cpp"])
        self.assertEqual(misformatted(self.root, self.write("a.cpp", "int x;\n")), [])


if __name__ == "__main__":
    unittest.main()
