# SPDX-License-Identifier: MIT
"""The tarball of sources: every file of the repository, nothing of a build, and it builds without a network."""

from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
import tempfile
import unittest
from pathlib import Path

from calling import BUILD, SOURCE

CMAKE = Path(os.environ["NW_CMAKE"])
KERNELS = "kernels_gfx1151_carrier_w4a16"


def git(*arguments: str) -> set[str]:
    done = subprocess.run(["git", "-c", f"safe.directory={SOURCE}", "-C", SOURCE, *arguments], capture_output=True, text=True)
    return set(done.stdout.split("\n")) - {""} if done.returncode == 0 else set()


class Tarball(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory())).resolve()
        done = subprocess.run([CMAKE.with_name("cpack"), "--config", BUILD / "CPackSourceConfig.cmake", "-B", cls.folder], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        (cls.tarball,) = cls.folder.glob("*.tar.gz")
        cls.top = cls.tarball.name.removesuffix(".tar.gz")

    def test_contents(self) -> None:
        with tarfile.open(self.tarball) as tar:
            names = {member.name.removeprefix(f"{self.top}/") for member in tar if not member.isdir()}
        self.assertLessEqual({"CMakeLists.txt", "setup.sh", "gen/build.sh", "LICENSE"}, names)
        self.assertEqual({name for name in names if name.startswith(("build", ".git/")) or "__pycache__" in name}, set())
        tracked = {name for name in git("ls-files") if not name.startswith(".ci/")}
        if not tracked or git("ls-files", "--deleted"):
            self.skipTest("these sources are no checkout of git, or files of it are deleted: nothing to compare with")
        self.assertEqual(tracked - names, set())
        self.assertEqual(names - tracked, git("ls-files", "--others", "--exclude-standard"))

    def test_builds_without_a_network(self) -> None:
        alone = ["unshare", "--map-root-user", "--net"]
        if not shutil.which("unshare") or subprocess.run([*alone, "true"], capture_output=True).returncode:
            self.skipTest("a process can't be parted from the network here")
        with tarfile.open(self.tarball) as tar:
            tar.extractall(self.folder)
        source, build = self.folder / self.top, self.folder / "b"
        for words in ([CMAKE, "-G", "Ninja", "-S", source, "-B", build], [CMAKE, "--build", build, "--target", KERNELS]):
            done = subprocess.run([*alone, *words], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, (done.stdout + done.stderr)[-3000:])
        made = {path.name: path.read_bytes() for path in build.rglob("carrier_w4a16*.hsaco")}
        self.assertTrue(made)
        for name, code in made.items():
            self.assertEqual(code, (BUILD / "hsaco/gfx1151" / name).read_bytes(), name)


if __name__ == "__main__":
    unittest.main()
