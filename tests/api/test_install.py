# SPDX-License-Identifier: MIT
"""cmake --install, moved elsewhere: a program finds it by pkg-config and by CMake, and it finds its kernels."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from calling import BUILD, SANITIZED, SOURCE, run

CMAKE = os.environ["NW_CMAKE"]
# This build's own: there may be no make beside ninja.
GENERATOR = re.search(r"^CMAKE_GENERATOR:INTERNAL=(.*)$", (BUILD / "CMakeCache.txt").read_text(), re.MULTILINE)[1]
EXAMPLE = SOURCE / "tests/api/linear.c"
HIP = [f"-I{os.environ['NW_HIP_INCLUDE']}", os.environ["NW_REAL_HIP"]]
PROJECT = """
cmake_minimum_required(VERSION 3.21)
project(user C)
find_package(nibblewave {version} REQUIRED)
add_executable(linear {example})
target_include_directories(linear SYSTEM PRIVATE {include})
target_link_libraries(linear PRIVATE nibblewave::nibblewave {hip})
"""


def check(*command: str | Path) -> str:
    done = run(*command)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@unittest.skipIf(SANITIZED, "its users would have to be built with the sanitizer, too")
class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory())).resolve()
        check(CMAKE, "--install", BUILD, "--prefix", cls.folder / "first")
        cls.prefix = (cls.folder / "first").rename(cls.folder / "moved")
        cls.library = next(cls.prefix.rglob("libnibblewave.so")).parent

    def assert_runs(self, program: Path) -> None:
        for gfx in ("gfx1151", "gfx1200"):
            done = run(program, LD_LIBRARY_PATH=f"{BUILD}/hipsim:{self.library}", HIPSIM_ARCH=gfx)
            self.assertEqual((done.returncode, done.stdout), (0, f"{gfx}: 2 x 100 outputs, all as in double\n"))

    def test_what_is_there(self) -> None:
        files = {str(path.relative_to(self.prefix)) for path in self.prefix.rglob("*") if path.is_file()}
        self.assertIn("include/nibblewave.h", files)
        rows = json.loads((BUILD / "hsaco/manifest.json").read_text())["kernels"]
        library = {row["file"] for row in rows if row["purpose"] == "library"}
        self.assertGreater(len(library), 100)
        self.assertLess(len(library), len(rows))  # micro, baseline, ablation and validate stay at home
        self.assertEqual({f"share/nibblewave/hsaco/{name}" for name in library}, {name for name in files if name.endswith(".hsaco")})
        installed = json.loads((self.prefix / "share/nibblewave/hsaco/manifest.json").read_text())["kernels"]
        self.assertEqual({row["file"] for row in installed}, library)
        resources = {f"share/nibblewave/hsaco/{row['gfx']}/{row['family']}.resources" for row in installed}
        self.assertEqual(resources, {name for name in files if name.endswith(".resources")})
        rest = {Path(name).name for name in files if not name.endswith((".hsaco", ".resources"))}
        self.assertEqual({name for name in rest if name.startswith(("nibblewave", "libnibblewave"))}, rest - {"manifest.json"})

    @unittest.skipUnless(shutil.which("pkg-config"), "pkg-config is not installed")
    def test_pkg_config(self) -> None:
        os.environ["PKG_CONFIG_PATH"] = str(self.library / "pkgconfig")
        self.addCleanup(os.environ.pop, "PKG_CONFIG_PATH")
        self.assertEqual(check("pkg-config", "--modversion", "nibblewave"), "0.1.0\n")
        program = self.folder / "by_pkg_config"
        flags = check("pkg-config", "--cflags", "--libs", "nibblewave").split()
        folders = {Path(flag[2:]).resolve() for flag in flags if flag.startswith(("-I", "-L"))}
        self.assertEqual(folders, {self.prefix / "include", self.library})
        check(os.environ["NW_CC"], "-w", EXAMPLE, "-o", program, *flags, *HIP)
        self.assert_runs(program)

    def configure(self, name: str, version: str) -> subprocess.CompletedProcess[str]:
        source = self.folder / name
        source.mkdir()
        text = PROJECT.format(version=version, example=EXAMPLE, include=os.environ["NW_HIP_INCLUDE"], hip=os.environ["NW_REAL_HIP"])
        (source / "CMakeLists.txt").write_text(text)
        return run(CMAKE, "-G", GENERATOR, "-S", source, "-B", source / "build", f"-DCMAKE_PREFIX_PATH={self.prefix}",
                   f"-DCMAKE_C_COMPILER={os.environ['NW_CC']}")  # fmt: skip

    def test_cmake(self) -> None:
        done = self.configure("by_cmake", "0.1")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        check(CMAKE, "--build", self.folder / "by_cmake/build")
        self.assert_runs(self.folder / "by_cmake/build/linear")

    def test_cmake_wants_the_same_minor_version(self) -> None:
        done = self.configure("too_new", "0.2")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("compatible with requested version", done.stderr)

    def test_kernels_are_those_installed(self) -> None:
        hidden = (self.prefix / "share").rename(self.prefix / "hidden")
        self.addCleanup(hidden.rename, self.prefix / "share")
        done = run(BUILD / "bin/tests/api_linear", LD_LIBRARY_PATH=f"{BUILD}/hipsim:{self.library}", LD_PRELOAD=str(self.library / "libnibblewave.so"))
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"tried {self.prefix}/share/nibblewave/hsaco/gfx1151, {self.prefix}/hsaco/gfx1151;", done.stdout)
