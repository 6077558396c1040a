# SPDX-License-Identifier: MIT
"""A clang -x hip program, host and device in one file, on the simulated GPU.

Compiled step by step, as clang's driver would: its clang-offload-bundler is not packaged everywhere.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "check")]
from fat_binary import bundle  # noqa: E402

BUILD = Path(os.environ["NW_BUILD_DIR"])
SOURCES = Path(os.environ["NW_SOURCE_DIR"]) / "tests/hip"
CLANG = os.environ["NW_CLANG"]
HIP_INCLUDE = os.environ["NW_HIP_INCLUDE"]
REAL = os.environ.get("NW_REAL_HIP", "")
HIPSIM = BUILD / "hipsim"
TARGETS = ("gfx1100", "gfx1151", "gfx1200")


@unittest.skipIf(os.environ["NW_SANITIZE"] == "ON", "the library needs ASan's runtime in the program")
@unittest.skipUnless(REAL, "no libamdhip64 of the distribution to link with")
class Compiled(unittest.TestCase):
    def clang(self, *arguments: Path | str) -> None:
        command = [CLANG, "-x", "hip", "-std=c++17", "-nogpulib", "-nogpuinc", "-O2", f"-I{HIP_INCLUDE}", *arguments]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            if "cannot find" in done.stderr and "device library" in done.stderr:
                self.skipTest("clang wants ROCm's device library")
            self.fail(done.stderr)

    def build(self, source: Path, folder: Path) -> Path:
        """The program, with code for each of TARGETS."""
        images = {}
        for gfx in TARGETS:
            image = folder / f"{gfx}.out"
            self.clang("--cuda-device-only", "--no-gpu-bundle-output", f"--offload-arch={gfx}", source, "-o", image)
            images[gfx] = image.read_bytes()
        (folder / "all.hipfb").write_bytes(bundle(images))
        self.clang("--cuda-host-only", "-Xclang", "-fcuda-include-gpubinary", "-Xclang", folder / "all.hipfb",
                   "-c", source, "-o", folder / "host.o")
        program = folder / source.stem
        subprocess.run([CLANG, folder / "host.o", REAL, "-lstdc++", "-o", program], check=True)
        return program

    def run_on(self, program: Path, gfx: str) -> subprocess.CompletedProcess[str]:
        environment = os.environ | {"LD_LIBRARY_PATH": str(HIPSIM), "HIPSIM_ARCH": gfx}
        return subprocess.run([program], env=environment, capture_output=True, text=True)

    def test_runs_on_each_target_of_its_fat_binary(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            program = self.build(SOURCES / "compiled.hip", Path(folder))
            for gfx in TARGETS:
                done = self.run_on(program, gfx)
                self.assertEqual((done.returncode, done.stdout), (0, "1 passed, 0 failed\n"), f"{gfx}: {done.stderr}")
                self.assertRegex(done.stderr, r"\Ahipsim: hipLaunchKernel: .* dynamic bytes of LDS, .*\n\Z")
            refused = self.run_on(program, "gfx1103")
            self.assertIn("hipErrorNoBinaryForGpu", refused.stdout)
            self.assertIn("[gfx1100, gfx1151, gfx1200], the device is gfx1103", refused.stderr)

    def test_calls_by_the_address_of_kernels_and_variables(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            program = self.build(SOURCES / "compiled_calls.hip", Path(folder))
            for gfx in TARGETS:
                done = self.run_on(program, gfx)
                self.assertEqual((done.returncode, done.stdout), (0, "1 passed, 0 failed\n"), f"{gfx}: {done.stderr}")


if __name__ == "__main__":
    unittest.main()
