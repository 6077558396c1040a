# SPDX-License-Identifier: MIT
"""Builds the wheel, installs it into a fresh virtual environment, and runs its cases and its example there."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import unittest
import venv
import zipfile
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "check")]
from packages import build_wheel  # noqa: E402
from reported_faults import FAULTS  # noqa: E402

SOURCE, BUILD = Path(os.environ["NW_SOURCE_DIR"]), Path(os.environ["NW_BUILD_DIR"])
MOST_BYTES = 40 << 20  # of one gfx
MYPY = "mypy==2.4.1"
PIP = ["-m", "pip", "--quiet", "--disable-pip-version-check", "--no-input", "--timeout=5", "--retries=0"]


@unittest.skipIf(os.environ["NW_SANITIZE"] == "ON", "the library needs ASan's runtime in the program")
@unittest.skipUnless(importlib.util.find_spec("ensurepip"), "ensurepip is missing: apt install python3-venv")
class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        venv.create(cls.folder / "venv", with_pip=True)
        cls.python = cls.folder / "venv/bin/python"
        cls.build_wheel(cls.folder)
        (cls.wheel,) = cls.folder.glob("*.whl")
        installed = cls.run_there(*PIP, "install", "--only-binary=:all:", cls.wheel)
        if installed.returncode and "numpy" in installed.stderr:
            raise unittest.SkipTest(f"NumPy is not to be had: {installed.stderr.strip().splitlines()[-1]}")
        assert installed.returncode == 0, installed.stderr

    @classmethod
    def run_there(cls, *arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("HIPSIM_", "NIBBLEWAVE_", "LD_LIBRARY", "PYTHONPATH"))}
        return subprocess.run([str(word) for word in (cls.python, *arguments)], env=kept | environment, capture_output=True, text=True, cwd=cls.folder)

    @classmethod
    def build_wheel(cls, to: Path, **environment: str) -> subprocess.CompletedProcess[str]:
        done = build_wheel(cls.python, to, **({"NIBBLEWAVE_BUILD": str(BUILD), "NIBBLEWAVE_WHEEL_GFX": "gfx1151"} | environment))
        if not environment:
            assert done.returncode == 0, done.stderr
        return done

    def test_size_and_tag(self) -> None:
        print(f"{self.wheel.name}: {self.wheel.stat().st_size / 1e6:.1f} MB")
        self.assertLess(self.wheel.stat().st_size, MOST_BYTES)
        self.assertRegex(self.wheel.name, r"^nibblewave-\d+\.\d+\.\d+-py3-none-manylinux_2_\d+_x86_64\.whl$")

    def test_contents(self) -> None:
        names = {name.removeprefix("nibblewave/") for name in zipfile.ZipFile(self.wheel).namelist()}
        wanted = {"lib/libnibblewave.so", "hipsim/libamdhip64.so", "hipsim/libhipsim_audit.so", "hipsim/libhiprtc.so", "bin/nw", "docs/new/README.md", "abi.py", "py.typed", "torch.py", "vllm/__init__.py", "hsaco/gfx1151/quantize_q8_f32.hsaco"}
        self.assertEqual(wanted - names, set())
        self.assertEqual([name for name in names if "micro_" in name or "dequant_w4" in name], [])

    def test_same_build_same_bytes(self) -> None:
        again = self.folder / "again"
        again.mkdir()
        self.build_wheel(again)
        self.assertEqual((again / self.wheel.name).read_bytes(), self.wheel.read_bytes())

    def run_cases(self, file: str, **environment: str) -> None:
        """Every test that the file has runs there, and none is skipped."""
        cases = SOURCE / "tests/python" / file
        done = self.run_there("-B", cases, HIPSIM_CHECK="all", **environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        tests = len(re.findall(r"^    def test_", cases.read_text(encoding="utf-8"), re.MULTILINE))
        self.assertRegex(done.stderr, rf"Ran {tests} tests? in [\d.]+s\n\nOK\n\Z")

    def test_cases(self) -> None:
        self.run_cases("installed_cases.py")

    def test_arguments(self) -> None:
        self.run_cases("argument_cases.py")

    def test_act_order(self) -> None:
        self.run_cases("act_order_cases.py")

    def test_fp8(self) -> None:
        """With the kernels of the build, as the wheel has gfx1151's alone."""
        self.run_cases("fp8_cases.py", NIBBLEWAVE_HSACO=str(BUILD / "hsaco"))

    def test_what_cards_do_wrong(self) -> None:
        """Lists of a few dozen bytes among what is copied to the device."""
        self.run_cases("act_order_cases.py", HIPSIM_CHOICES=FAULTS)

    def test_example(self) -> None:
        done = self.run_there("-B", SOURCE / "host/python/examples/linear.py")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"^gfx1151: largest error 0\.00\d\d of \d+\.\d+\n$")

    def test_types(self) -> None:
        """mypy of all modules, but for those of programs that are not here, and of a user's program."""
        checker = self.folder / "checker"
        venv.create(checker, system_site_packages=False, with_pip=True)
        got = subprocess.run([checker / "bin/python", *PIP, "install", "--only-binary=:all:", MYPY], capture_output=True, text=True)
        if got.returncode:
            self.skipTest(f"mypy is not to be had: {got.stderr.strip().splitlines()[-1]}")
        package = next((self.folder / "venv/lib").glob("python*/site-packages/nibblewave"))
        modules = sorted(f"nibblewave.{file.stem}".removesuffix(".__init__") for file in package.glob("*.py") if file.stem != "torch")
        self.assertIn("nibblewave.context", modules)
        strict = [checker / "bin/mypy", "--strict", "--python-executable", self.python, "--cache-dir", self.folder / "mypy"]
        named = [word for module in modules for word in ("-m", module)]
        # NumPy's arrays of any type make any result
        for words in (["--no-warn-return-any", *named], [SOURCE / "host/python/examples/linear.py"]):
            done = subprocess.run([*strict, *words], capture_output=True, text=True, cwd=self.folder)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertIn("no issues found", done.stdout)

    def test_command(self) -> None:
        done = subprocess.run([self.folder / "venv/bin/nw", "choose", "--n", "4096", "--k", "4096", "--m", "1"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("decode_w4a16", done.stdout)

    def test_command_compiles_sources(self) -> None:
        command = self.folder / "venv/bin/nw"
        for name in ("axpy.s", "axpy.hip"):
            for words in (["new", name], ["run", name, "--gfx", "gfx1151", "--grid", "1", "--args", "x=buf:400:f32", "y=buf:400", "a=f32:2", "b=f32:1", "n=u32:100"]):
                done = subprocess.run([command, *words], capture_output=True, text=True, cwd=self.folder)
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_kernels_that_are_missing(self) -> None:
        done = self.build_wheel(self.folder, NIBBLEWAVE_BUILD=str(self.folder), NIBBLEWAVE_WHEEL_GFX="gfx1151")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("is missing: build the target", done.stderr)

    def test_no_hip(self) -> None:
        done = self.run_there("-B", "-c", "import nibblewave as nw; nw.Context()")
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, "nibblewave.library.Error: .*(libamdhip64|hip)")


if __name__ == "__main__":
    unittest.main()
