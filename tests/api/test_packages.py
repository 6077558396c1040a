# SPDX-License-Identifier: MIT
"""The packages of host/packages.cmake: their contents, and that programs and nw run with the installed files."""

from __future__ import annotations

import gzip
import os
import re
import shutil
import subprocess
import tarfile
import tempfile
import unittest
from pathlib import Path

from calling import BUILD, SANITIZED, SOURCE, run

CPACK = Path(os.environ["NW_CMAKE"]).with_name("cpack")
EXAMPLE = SOURCE / "tests/api/linear.c"
NAMES = {"libnibblewave0", "libnibblewave-dev", "nibblewave-tools"} | {
    f"nibblewave-kernels-{path.name[:-2]}" for path in (BUILD / "hsaco").glob("gfx*") if path.is_dir()
}
GFX = "gfx1151"


def field(package: Path, name: str) -> str:
    return subprocess.run(["dpkg-deb", "-f", package, name], check=True, capture_output=True, text=True).stdout.strip()


@unittest.skipIf(SANITIZED, "packages are of a release")
@unittest.skipUnless(all(map(shutil.which, ("dpkg-deb", "dpkg-shlibdeps", "file"))), "dpkg-dev and file make packages and read them")
class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory())).resolve()
        done = subprocess.run([CPACK, "--config", BUILD / "CPackConfig.cmake", "-B", cls.folder], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        cls.packages = {field(path, "Package"): path for path in cls.folder.glob("*.deb")}
        cls.root = cls.folder / "root"
        for path in cls.packages.values():
            subprocess.run(["dpkg-deb", "-x", path, cls.root], check=True)

    def files(self, package: str) -> set[str]:
        listed = subprocess.run(["dpkg-deb", "--fsys-tarfile", self.packages[package]], check=True, capture_output=True).stdout
        (self.folder / "list.tar").write_bytes(listed)
        with tarfile.open(self.folder / "list.tar") as tar:
            return {member.name.removeprefix("./") for member in tar if not member.isdir()}

    def test_each_has_its_part(self) -> None:
        self.assertEqual(self.packages.keys(), NAMES)
        library, dev, tools = (self.files(name) for name in ("libnibblewave0", "libnibblewave-dev", "nibblewave-tools"))
        self.assertIn("usr/share/nibblewave/hsaco/manifest.json", library)
        self.assertTrue(any(name.endswith("/libnibblewave.so.0.1") for name in library))
        self.assertIn("usr/include/nibblewave.h", dev)
        self.assertTrue(any(name.endswith("/libnibblewave.so") for name in dev))
        self.assertIn("usr/bin/nw", tools)
        self.assertTrue(any(name.endswith("/hipsim/libamdhip64.so.6") for name in tools))
        self.assertTrue(any(name.endswith("/hipsim/libhipsim_audit.so") for name in tools))
        pages = {f"usr/share/doc/nibblewave-tools/nw/{page.relative_to(SOURCE / 'host/nw')}" for page in (SOURCE / "host/nw").rglob("README.md")}
        self.assertLessEqual(pages | {"usr/share/man/man1/nw.1.gz"}, tools)
        kernels = {name for package in NAMES for name in self.files(package) if name.endswith(".hsaco")}
        listed = (BUILD / "library/files.txt").read_text().split()
        self.assertEqual(kernels, {f"usr/share/nibblewave/hsaco/{name}" for name in listed if name.endswith(".hsaco")})
        for name in NAMES:
            self.assertLessEqual({f"usr/share/doc/{name}/copyright", f"usr/share/doc/{name}/changelog.gz"}, self.files(name))

    def test_what_they_depend_on(self) -> None:
        self.assertEqual(field(self.packages["libnibblewave-dev"], "Depends"), f"libnibblewave0 (= {field(self.packages['libnibblewave0'], 'Version')})")
        for name in ("libnibblewave0", "nibblewave-tools"):
            self.assertIn("libstdc++6", field(self.packages[name], "Depends"))
        for name in NAMES:
            self.assertEqual(field(self.packages[name], "Architecture") == "all", "kernels" in name)

    def test_a_program_runs_by_them(self) -> None:
        library = next(self.root.rglob("libnibblewave.so")).parent
        program = self.folder / "linear"
        flags = [f"-I{self.root}/usr/include", f"-I{os.environ['NW_HIP_INCLUDE']}", f"-L{library}", "-lnibblewave", os.environ["NW_REAL_HIP"]]
        done = run(os.environ["NW_CC"], "-w", EXAMPLE, "-o", program, *flags)
        self.assertEqual(done.returncode, 0, done.stderr)
        hipsim = next(self.root.rglob("hipsim"))
        done = run(program, LD_LIBRARY_PATH=f"{hipsim}:{library}", HIPSIM_ARCH=GFX)
        self.assertEqual((done.returncode, done.stdout), (0, f"{GFX}: 2 x 100 outputs, all as in double\n"))

    def test_nw_runs_by_them(self) -> None:
        tree = next(self.root.rglob("hipsim")).parent
        self.assertEqual((self.root / "usr/bin/nw").resolve(), tree / "bin/nw")
        self.assertTrue((tree / "hsaco").is_dir())
        done = run(self.root / "usr/bin/nw", "atlas", "--suite", "gguf", "--device", f"sim:{GFX}", "--model", "Llama-3.1-8B", "--type", "q4_K", "--m", "1",
                   "--only", " o ", "--shapes", SOURCE / "bench/shapes.csv", LD_LIBRARY_PATH="")  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("gguf_decode_q4_K_m1", done.stdout)

    def test_the_manual_has_every_command_and_option(self) -> None:
        manual = gzip.decompress((self.root / "usr/share/man/man1/nw.1.gz").read_bytes()).decode().replace("\\-", "-")
        said = run(self.root / "usr/bin/nw", "--help").stdout.partition("Subcommands:")[2]
        commands = re.findall(r"^  ([a-z-]+) ", said, re.MULTILINE)
        self.assertIn("annotate", commands)
        for command in commands:
            section = manual.partition(f".SH NW {command.upper()}\n")[2].partition("\n.SH ")[0]
            options = re.findall(r"--[a-z-]+", run(self.root / "usr/bin/nw", command, "--help").stdout)
            self.assertEqual([option for option in options if option not in section], [], command)

    @unittest.skipUnless(shutil.which("lintian"), "lintian is not installed")
    def test_lintian_has_no_complaint(self) -> None:
        few = [path for name, path in self.packages.items() if "kernels" not in name]  # thousands of code objects take it minutes
        done = subprocess.run(["lintian", "--allow-root", "--fail-on", "error", *few], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    unittest.main()
