# SPDX-License-Identifier: MIT
"""Runs the instruction-level cases of ../shared/conformance (expected values from hardware), one gfx a test.
They are not part of this project: where the folder is absent, these tests skip."""

import os
import pathlib
import subprocess
import sys
import unittest

SOURCE = pathlib.Path(os.environ["NW_SOURCE_DIR"])
CASES = SOURCE.parent / "shared" / "conformance"
LIBRARY = pathlib.Path(os.environ["NW_BUILD_DIR"]) / "hipsim" / "libamdhip64.so"


@unittest.skipUnless(os.path.exists(os.environ["NW_LLVM_MC"]), "no llvm-mc beside clang")
@unittest.skipUnless((CASES / "run.py").exists(), "../shared/conformance is not there")
@unittest.skipIf(os.environ["NW_SANITIZE"] not in ("", "OFF"), "a sanitized library can't be loaded into python")
class Conformance(unittest.TestCase):
    def run_cases(self, gfx: str) -> None:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("HIPSIM_")}
        environment |= {"HIPSIM_ARCH": gfx, "LLVM_MC": os.environ["NW_LLVM_MC"], "LLD": os.environ["NW_LLD"]}
        result = subprocess.run(
            [sys.executable, str(CASES / "run.py"), "--lib", str(LIBRARY), "--arch", gfx],
            env=environment, capture_output=True, text=True)
        self.assertEqual(result.returncode, 0, result.stdout[-4000:] + result.stderr[-4000:])
        self.assertRegex(result.stdout.splitlines()[-1], r"^[1-9]\d* passed, 0 failed$")

    def test_gfx1100(self) -> None:
        self.run_cases("gfx1100")

    def test_gfx1151(self) -> None:
        self.run_cases("gfx1151")

    def test_gfx1201(self) -> None:
        self.run_cases("gfx1201")


if __name__ == "__main__":
    unittest.main()
