# SPDX-License-Identifier: MIT
"""gen/build.sh says what there is to do, how far it is, and in a sentence what went wrong."""

from __future__ import annotations

import os
import pty
import subprocess
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(os.environ["NW_SOURCE_DIR"]) / "gen/build.sh"


class Build(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.build = Path(folder.name)

    def sourced(self, commands: str, log: str = "", **settings: str) -> str:
        """stderr of commands that the script's functions are known to."""
        (self.build / "build.log").write_text(log)
        text = f"source {SCRIPT}; build={self.build} log={self.build}/build.log; {commands}"
        done = subprocess.run(["bash", "-c", text], capture_output=True, text=True, env=os.environ | settings, timeout=60)
        return done.stderr

    def test_a_full_disk(self) -> None:
        log = "[3/9] Building x.o\nfatal error: error writing to x.s: No space left on device\ncompilation terminated.\n"
        self.assertEqual(self.sourced('cause "the build" >&2', log), f"nibblewave: the build failed; the disk that holds {self.build} is full: free some GB and run this again\n")

    def test_what_cmake_says(self) -> None:
        log = (
            "-- Detecting CXX compile features\nCMake Error at gen/tools.cmake:41 (message):\n  nibblewave needs LLVM >= 20, found 14.0.6\n"
            "  (/usr/bin/llvm-config): run ./setup.sh.\nCall Stack (most recent call first):\n  CMakeLists.txt:40 (include)\n\n\n-- Configuring incomplete\n"
        )
        said = self.sourced("cause configuring >&2", log)
        self.assertEqual(said, "nibblewave: configuring failed: nibblewave needs LLVM >= 20, found 14.0.6 (/usr/bin/llvm-config): run ./setup.sh.\n")

    def test_what_a_compiler_says(self) -> None:
        said = self.sourced('cause "the build" >&2', "[1/2] Building a.o\na.cpp:1: error: no\n[2/2] Building b.o\n")
        self.assertEqual(said, f"a.cpp:1: error: no\nnibblewave: the build failed; all of it is in {self.build}/build.log\n")

    def test_a_log_gets_a_line_now_and_then(self) -> None:
        said = self.sourced("every=1; (echo '[1/3] one'; sleep 2.5; echo '[2/3] two') | progress")
        self.assertRegex(said, r"^nibblewave: \d+ s: \[1/3\] one\n")

    def test_a_terminal_gets_a_bar(self) -> None:
        try:
            ours, theirs = pty.openpty()
        except OSError:
            self.skipTest("this machine has no terminals")
        text = f"source {SCRIPT}; echo '[5/10] Building a/b/c.o' | progress"
        subprocess.run(["bash", "-c", text], stderr=theirs, check=True, timeout=60)
        os.close(theirs)
        self.assertIn("[##########..........] 5 of 10: c.o", os.read(ours, 1000).decode())

    def test_what_there_is_to_do(self) -> None:
        rows = "".join(f"build a{i}.o: cc\n description = Building CXX object a{i}.o\n" for i in range(20))
        rows += "".join(f"build k{i}.stamp: cc\n description = Kernels of k{i} for gfx1100\n" for i in range(12))
        names = " ".join([*(f"a{i}.o" for i in range(20)), *(f"k{i}.stamp" for i in range(12))])
        (self.build / "build.ninja").write_text(f"rule cc\n command = touch $out\n{rows}build all: phony {names}\n")
        both = "nibblewave: builds 20 C++ files and the kernels of 12 families and targets on 2 cores: about 26 s\n"
        self.assertEqual(self.sourced("cores=2; announce all"), both)
        subprocess.run(["ninja", "-C", self.build, *(f"a{i}.o" for i in range(20))], check=True, capture_output=True)
        self.assertEqual(self.sourced("cores=1; announce all"), "nibblewave: builds the kernels of 12 families and targets on 1 cores: about 12 s\n")
        self.assertEqual(self.sourced("cores=4; announce all"), "")


if __name__ == "__main__":
    unittest.main()
