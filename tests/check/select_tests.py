# SPDX-License-Identifier: MIT
"""The tests of a build directory, their build targets, and the tests that a name selects.

CMake writes build/tests.json: for each test its command, its targets, its sources, its tiers and, of a kernel family's test,
the family.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
from dataclasses import dataclass, field, replace
from pathlib import Path

from thorough import thorough

DOCTEST_CASE = re.compile(r'^\s*TEST_CASE\w*\(\s*"((?:[^"\\]|\\.)*)"', re.MULTILINE)


@dataclass(frozen=True)
class Test:
    name: str
    words: tuple[str, ...] = ()
    room: str = ""
    family: str = ""  # that check_kernels is given
    tiers: tuple[str, ...] = ("default",)  # default, all
    needs: tuple[str, ...] = ()  # build targets
    sources: tuple[Path, ...] = ()
    environment: dict[str, str] = field(default_factory=dict, hash=False)
    cases: tuple[str, ...] = ()  # to run; none: all
    only: str = ""  # kernels whose symbol contains it; "": all of the family
    files: tuple[str, ...] = ()  # targets of these kernels' code objects, where they can be built alone

    def stamp(self, tier: str) -> str:
        """Its name below build/stamps, by the cases that it runs in the tier."""
        return f"all_{self.name}" if self.tiers == ("all",) or tier in self.tiers[1:] else self.name


def known_tests(build: Path) -> list[Test]:
    return [
        Test(
            row["name"], tuple(row["words"]), row["room"], row["family"], tuple(row["tiers"]), tuple(row["needs"]), tuple(map(Path, row["sources"])),
            dict(entry.split("=", 1) for entry in row["environment"]),
        )
        for row in json.loads((build / "tests.json").read_text())
    ]  # fmt: skip


def words_of(test: Test, every_target: bool) -> list[str]:
    """The command line that runs the test's chosen part."""
    words = list(test.words)
    if test.family and every_target:
        words.append("--all")
    if test.only:
        words += ["--only", test.only]
    if test.files:
        words += ["--gfx", ",".join(dict.fromkeys(map(gfx_of, test.files)))]
    if test.cases and test.sources[0].suffix == ".py":
        words[-1:] = [f"{words[-1]}::{case}" for case in test.cases]
    elif test.cases:
        escaped = (case.replace("\\", "\\\\").replace(",", "\\,") for case in test.cases)
        words.append("--test-case=" + ",".join(escaped))
    return words


def with_files(test: Test, build: Path, every_target: bool) -> Test:
    """Adds the files of the chosen kernels: on one target of each series (build/thorough.txt), or on all with `every_target`."""
    found = kernel_files(build, test.only) if test.only else []
    full = thorough(build) if found else []
    return replace(test, files=tuple([f for f in found if not every_target and gfx_of(f) in full] or found))


def gfx_of(file: str) -> str:
    return Path(file).parent.name


def targets_of(test: Test) -> list[str]:
    return [*(need for need in test.needs if not test.files or not need.startswith("kernels")), *test.files]


def kernel_files(build: Path, symbol: str) -> list[str]:
    """Targets `hsaco/<gfx>/<symbol>*.hsaco`, none if make builds."""
    try:
        known = subprocess.run(["ninja", "-C", build, "-t", "targets", "all"], capture_output=True, text=True).stdout
    except FileNotFoundError:
        return []
    return re.findall(rf"^(hsaco/[^/]+/{re.escape(symbol)}[^/]*\.hsaco): ", known, re.MULTILINE)


def cases_of(source: Path) -> list[str]:
    """The names of a source's test cases: of doctest's, or `Class::method` of unittest's."""
    text = source.read_text()
    if source.suffix != ".py":
        return [re.sub(r"\\(.)", r"\1", name) for name in DOCTEST_CASE.findall(text)]
    return [
        f"{scope.name}::{method.name}"
        for scope in ast.parse(text).body
        if isinstance(scope, ast.ClassDef)
        for method in scope.body
        if isinstance(method, ast.FunctionDef) and method.name.startswith("test")
    ]


def select(tests: list[Test], name: str) -> list[Test]:
    """The tests that `name` means, of the first of these that has any: a room; a part of a test's name; a part of a
    case's name; a part of a kernel's symbol from its beginning on. Upper and lower case are the same."""
    wanted = name.lower()
    if named := [test for test in tests if wanted == test.room]:
        return named
    if named := [test for test in tests if wanted in test.name.lower()]:
        return named
    parts = []
    for test in tests:
        cases = [case for source in test.sources for case in cases_of(source) if wanted in case.lower()]
        if cases:
            parts.append(replace(test, cases=tuple(dict.fromkeys(cases))))
    if parts:
        return parts
    families = [test.family for test in tests if test.family and wanted.startswith(test.family + "_")]
    family = max(families, key=len, default=None)
    return [replace(test, only=name) for test in tests if family and test.family == family]
