# SPDX-License-Identifier: MIT
"""The cases of test_services.cpp again, with the device side of ROCm's own library (ockl.bc), where it is installed."""

from __future__ import annotations

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

BUILD = Path(os.environ["NW_BUILD_DIR"])
KERNELS = Path(os.environ["NW_SOURCE_DIR"]) / "tests/hip/kernels/services.hip"
CLANG = os.environ["NW_CLANG"]
FOLDERS = (
    os.environ.get("HIP_DEVICE_LIB_PATH", ""),
    os.environ.get("ROCM_PATH", "/opt/rocm") + "/amdgcn/bitcode",
    "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode",
)
TARGETS = {"gfx1100": 11000, "gfx1151": 11501, "gfx1201": 12001}
OUR_OWN = "a kernel calls a function*"  # whose result ockl returns in another way


def bitcode() -> Path | None:
    return next((Path(folder) for folder in FOLDERS if folder and (Path(folder) / "ockl.bc").is_file()), None)


def synchronizes_by_gws() -> bool:
    """ROCm 5.2 synchronizes a grid by ds_gws_barrier on all targets, which is out of scope here."""
    return b"__ockl_steadyctr_u64" not in (bitcode() / "ockl.bc").read_bytes()


def constants(version: int) -> str:
    """Constants that ockl reads: the target, as in ROCm's oclc_*.bc."""
    values = [("ISA_version", "i32", version), ("ABI_version", "i32", 500), ("wavefrontsize64", "i8", 0)]
    lines = [f"@__oclc_{name} = linkonce_odr protected local_unnamed_addr addrspace(4) constant {kind} {value}" for name, kind, value in values]
    return "\n".join(['target triple = "amdgcn-amd-amdhsa"', *lines, ""])


@unittest.skipIf(os.environ["NW_SANITIZE"] == "ON", "the library needs ASan's runtime in the program")
@unittest.skipUnless(bitcode(), "ROCm's device libraries are not installed (Debian: rocm-device-libs)")
class RocmServices(unittest.TestCase):
    def clang(self, *arguments: Path | str) -> None:
        done = subprocess.run([CLANG, *arguments], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def build(self, folder: Path) -> None:
        for gfx, version in TARGETS.items():
            if gfx.startswith("gfx12") and synchronizes_by_gws():
                continue  # it has no such instruction
            (folder / "oclc.ll").write_text(constants(version))
            self.clang("-x", "ir", "--target=amdgcn-amd-amdhsa", "-nogpulib", "-emit-llvm", "-c", folder / "oclc.ll", "-o", folder / "oclc.bc")
            libraries = [part for library in (bitcode() / "ockl.bc", folder / "oclc.bc") for part in ("-Xclang", "-mlink-builtin-bitcode", "-Xclang", library)]
            self.clang("-x", "hip", f"--offload-arch={gfx}", "--cuda-device-only", "--no-gpu-bundle-output", "-nogpulib", "-nogpuinc", "-std=c++17", "-O2",
                       "-Wno-linker-warnings", "-DOUR_LIBRARY=0", *libraries, KERNELS, "-o", folder / f"services_{gfx}.hsaco")

    def test_cases(self) -> None:
        excluded = ",".join([OUR_OWN, "buffered*", *(["*grid sync*"] if synchronizes_by_gws() else [])])
        with tempfile.TemporaryDirectory() as folder:
            self.build(Path(folder))
            done = subprocess.run([BUILD / "bin/tests/test_hip_services", f"--test-case-exclude={excluded}"],
                                  env=os.environ | {"NW_SERVICE_CODE": folder}, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
