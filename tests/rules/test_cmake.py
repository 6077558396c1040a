# SPDX-License-Identifier: MIT
"""Choices of CMake by the machine: an LLVM that is new enough, a Python that can render; and which targets it builds for."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from repository import ROOT

CMAKE = os.environ.get("NW_CMAKE", "cmake")


def write_program(path: Path, script: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n" + script)
    path.chmod(0o755)


class Configure(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def configure(self, *options: str, path_first: Path | None = None) -> tuple[int, str]:
        """CMake's exit code, and its words with the line breaks it puts into messages undone."""
        environment = dict(os.environ)
        if path_first:
            environment["PATH"] = f"{path_first}:{environment['PATH']}"
        command = [CMAKE, "-S", ROOT, "-B", self.folder / "build", "-G", "Ninja", *options]
        done = subprocess.run(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        return done.returncode, re.sub(r"\s+", " ", done.stdout)

    def test_old_llvm_stops_with_one_sentence(self) -> None:
        prefix = self.folder / "llvm"
        write_program(prefix / "bin/llvm-config", "echo 14.0.6\n")
        code, said = self.configure(f"-DNIBBLEWAVE_LLVM={prefix}")
        self.assertNotEqual(code, 0)
        self.assertIn(
            f"nibblewave needs LLVM >= 20 for RDNA3/4 assembly, found 14.0.6 ({prefix}/bin/llvm-config): "
            "run ./setup.sh, or pass -DNIBBLEWAVE_LLVM=<prefix>.",
            said,
        )
        self.assertEqual(said.count("CMake Error"), 1, said)

    def test_no_llvm_at_the_prefix_says_so(self) -> None:
        code, said = self.configure(f"-DNIBBLEWAVE_LLVM={self.folder}/nothing")
        self.assertNotEqual(code, 0)
        self.assertIn("nibblewave needs LLVM >= 20 for RDNA3/4 assembly, found none: run ./setup.sh", said)

    def test_python_is_searched_past_unfit_ones(self) -> None:
        unfit = {
            "old": "echo 'Python 3.8.0'; exit 1\n",
            "without jinja2": f'exec "{sys.executable}" -I -S "$@"\n',
        }
        for name, script in unfit.items():
            with self.subTest(name):
                write_program(self.folder / "bin/python3", script)
                code, said = self.configure(path_first=self.folder / "bin")
                self.assertEqual(code, 0, said)
                found = re.search(r"-- Python: (\S+)", said)[1]
                self.assertNotEqual(Path(found), self.folder / "bin/python3")
                check = "import sys, jinja2; assert sys.version_info >= (3, 11)"
                subprocess.run([found, "-c", check], check=True)

    def test_a_build_directory_follows_the_table_of_targets(self) -> None:
        code, said = self.configure()
        self.assertEqual(code, 0, said)
        cached = re.search(r"^NIBBLEWAVE_GFX:STRING=(.*)$", (self.folder / "build/CMakeCache.txt").read_text(), re.MULTILINE)[1]
        self.assertEqual(cached, "", "a cached list would hide the targets that gen/targets.toml gains")
        self.assertIn("--gfx gfx1100,", (self.folder / "build/build.ninja").read_text())

    def test_no_fit_python_stops_with_one_sentence(self) -> None:
        write_program(self.folder / "bin/python", "exit 1\n")
        code, said = self.configure(f"-DNIBBLEWAVE_PYTHON={self.folder}/bin/python")
        self.assertNotEqual(code, 0)
        self.assertIn("nibblewave needs a Python >= 3.11 with jinja2 and found none: run ./setup.sh", said)


if __name__ == "__main__":
    unittest.main()
