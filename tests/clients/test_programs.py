# SPDX-License-Identifier: MIT
"""Programs as HIP's examples are, host and device in one file, built from HIP's own headers by clang, on the simulated GPU."""

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
PROGRAMS = Path(__file__).resolve().parent / "programs"
CLANG = os.environ["NW_CLANG"]
TARGET = "gfx1151"


def include_options() -> list[str]:
    """HIP 5's headers look for clang's below its resource directory; one in /usr/include is found without an option."""
    resources = subprocess.run([CLANG, "-print-resource-dir"], capture_output=True, text=True, check=True).stdout.strip()
    options = ["-isystem", resources]
    if (include := os.environ["NW_HIP_INCLUDE"]) != "/usr/include":
        options += ["-isystem", include]
    return options


@unittest.skipIf(os.environ["NW_SANITIZE"] == "ON", "the library needs ASan's runtime in the program")
class Programs(unittest.TestCase):
    def clang(self, *arguments: Path | str) -> None:
        command = [CLANG, "-x", "hip", "-std=c++17", "-O1", "-nogpulib", "-nogpuinc", "-w", "-D__HIP_PLATFORM_AMD__=1",
                   "-D__AMDGCN_WAVEFRONT_SIZE=32", "-D__AMDGCN_WAVEFRONT_SIZE__=32", *include_options(), *arguments]
        done = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def run_program(self, name: str) -> None:
        source = PROGRAMS / f"{name}.hip"
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            self.clang("--cuda-device-only", "--no-gpu-bundle-output", f"--offload-arch={TARGET}", source, "-o", folder / "code")
            (folder / "all.hipfb").write_bytes(bundle({TARGET: (folder / "code").read_bytes()}))
            self.clang("--cuda-host-only", "-Xclang", "-fcuda-include-gpubinary", "-Xclang", folder / "all.hipfb",
                       "-c", source, "-o", folder / "host.o")
            subprocess.run([CLANG, folder / "host.o", BUILD / "hipsim/libamdhip64.so", "-lstdc++", "-lm", "-o", folder / name], check=True)
            environment = os.environ | {"LD_LIBRARY_PATH": str(BUILD / "hipsim"), "HIPSIM_ARCH": TARGET, "HIPSIM_CHECK": "all"}
            done = subprocess.run([folder / name], env=environment, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (0, "0 wrong\n"), done.stderr)

    def test_matrix_product(self) -> None:
        self.run_program("matrix_product")

    def test_reduction(self) -> None:
        self.run_program("reduction")

    def test_streams(self) -> None:
        self.run_program("streams")

    def test_histogram(self) -> None:
        self.run_program("histogram")


if __name__ == "__main__":
    unittest.main()
