# SPDX-License-Identifier: MIT
"""README.md: its C program is the tested one, its links lead somewhere, its targets exist."""

from __future__ import annotations

import os
import re
import subprocess
import unittest
from pathlib import Path

ROOT = Path(os.environ["NW_SOURCE_DIR"])
BUILD = Path(os.environ["NW_BUILD_DIR"])
README = (ROOT / "README.md").read_text()
SYMBOL = "decode_w4a16_f16_g128_m1_subnormal"


class Example(unittest.TestCase):
    def run_example(self, file: Path, arch: str = "gfx1151") -> subprocess.CompletedProcess[str]:
        environment = os.environ | {"LD_LIBRARY_PATH": str(BUILD / "hipsim"), "HIPSIM_ARCH": arch}
        return subprocess.run([BUILD / "bin/tests/readme_example", file], env=environment, capture_output=True, text=True)

    def test_readme_shows_the_program_that_is_tested(self) -> None:
        shown = re.search(r"```c\n(.*?)```", README, re.DOTALL)[1]
        licence, _, program = (ROOT / "tests/readme/example.c").read_text().partition("\n")
        self.assertIn("SPDX", licence)
        self.assertEqual(shown, program)

    def test_it_runs_on_every_target(self) -> None:
        for arch in sorted(p.name for p in (BUILD / "hsaco").iterdir() if p.is_dir()):
            done = self.run_example(BUILD / "hsaco" / arch / f"{SYMBOL}.hsaco", arch)
            self.assertEqual((done.returncode, done.stdout), (0, "4096 outputs, all 1280.0\n"), arch + done.stderr)

    def test_it_says_what_is_wrong_with_a_missing_file(self) -> None:
        done = self.run_example(BUILD / "no-such-file.hsaco")
        self.assertEqual(done.returncode, 1)
        self.assertIn("hipErrorFileNotFound", done.stdout)


class Links(unittest.TestCase):
    def test_files_that_readme_names_exist(self) -> None:
        for path in re.findall(r"\]\(([^)#:]+)\)", README):
            self.assertTrue((ROOT / path).exists(), path)
