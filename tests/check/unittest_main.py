# SPDX-License-Identifier: MIT
"""Runs one file's unittest cases and ends with the counts line that tests/run adds up."""

from __future__ import annotations

import importlib.util
import sys
import unittest
from pathlib import Path


def load(path: Path) -> unittest.TestSuite:
    """The test cases of a file, whose neighbours it may import."""
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return unittest.defaultTestLoader.loadTestsFromModule(module)


class Counted(unittest.TextTestResult):
    """Knows its passes too, and counts a test once however many of its subtests failed."""

    passes = 0

    def addSuccess(self, test: unittest.TestCase) -> None:
        super().addSuccess(test)
        self.passes += 1

    @property
    def fails(self) -> int:
        broken = {getattr(test, "test_case", test).id() for test, _ in self.failures + self.errors}
        return len(broken) + len(self.unexpectedSuccesses)


def main(path: Path) -> int:
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2, resultclass=Counted).run(load(path))
    skips = f", {len(result.skipped)} skipped" if result.skipped else ""
    print(f"{result.passes} passed, {result.fails} failed{skips}")
    return 1 if result.fails or not result.passes + len(result.skipped) else 0


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.exit(main(Path(sys.argv[1]).resolve()))
