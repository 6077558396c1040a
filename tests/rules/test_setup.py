# SPDX-License-Identifier: MIT
"""setup.sh on machines that lack this or that, with apt played by shell functions."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from repository import ROOT

LLVM_PACKAGES = "clang-{0} lld-{0} llvm-{0}"
# A machine that has everything. `apt` prints its arguments, to descriptor 3 because setup.sh keeps apt's
# output in a log; `updated` is whether it was called to update. A test's own lines come after these.
MACHINE = """
exec 3>&1
source "$0"
have_command() { true; }
have_header() { true; }
have_python() { true; }
have_llvm() { true; }
have_llvm_headers() { true; }
is_root() { true; }
updated=false
apt() { echo "apt: $*" >&3; [[ $1 != update ]] || updated=true; }
known_llvms() { printf '%s\\n' 14 19 22; }
offered() { true; }
configure_again() { echo "configure again" >&3; }
"""
AFTER_INSTALL = 'apt() { echo "apt: $*" >&3; [[ $1 != install ]] || have_llvm() { true; }; }\n'


class Setup(unittest.TestCase):
    def on(self, changes: str, arguments: str = "") -> tuple[int, str]:
        """setup.sh's exit code and words on a machine with these changes."""
        command = ["bash", "-c", f"{MACHINE}{changes}\nmain {arguments}", ROOT / "setup.sh"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return done.returncode, done.stdout

    def test_here_it_is_silent_and_quick(self) -> None:
        start = time.monotonic()
        done = subprocess.run([ROOT / "setup.sh"], cwd="/", stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual((done.returncode, done.stdout), (0, b""))
        self.assertLess(time.monotonic() - start, 5)

    def test_nothing_missing(self) -> None:
        self.assertEqual(self.on(""), (0, ""))

    def test_a_configured_build_looks_again(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "setup.sh").write_bytes((ROOT / "setup.sh").read_bytes())
            cache = Path(folder) / "build" / "CMakeCache.txt"
            command = ["bash", "-c", 'source "$0"; configure_again', f"{folder}/setup.sh"]
            subprocess.run(command, check=True)
            self.assertFalse(cache.exists())
            cache.parent.mkdir()
            cache.touch()
            os.utime(cache, (0, 0))
            subprocess.run(command, check=True)
            self.assertGreater(cache.stat().st_mtime, 0)

    def test_optional_ones_are_no_reason_to_call_apt(self) -> None:
        self.assertEqual(self.on("have_command() { [[ $1 != ccache && $1 != clang-format-14 ]]; }"), (0, ""))

    def test_what_is_missing_is_installed(self) -> None:
        changes = """
            there=false
            have_header() { [[ $1 != tbb/tbb.h ]] || $there; }
            have_command() { [[ $1 != ccache ]]; }
            apt() { echo "apt: $*" >&3; there=true; }
        """
        code, said = self.on(changes)
        self.assertEqual(code, 0, said)
        self.assertIn("apt: install --no-install-recommends libtbb-dev ccache\nconfigure again\n", said)
        self.assertNotIn("update", said)

    def test_the_bench_alone_needs_less(self) -> None:
        changes = """
            have_llvm() { $there; }
            have_llvm_headers() { $there; }
            have_command() { [[ $1 != ccache && $1 != clang-format-14 ]]; }
            apt() { echo "apt: $*" >&3; there=true; }
            there=false
        """
        self.assertEqual(self.on(changes, "bench")[1].splitlines()[-2], "apt: install --no-install-recommends clang-22 lld-22 llvm-22 ccache")
        self.assertEqual(self.on(changes)[1].splitlines()[-2], "apt: install --no-install-recommends clang-22 lld-22 llvm-22 llvm-22-dev ccache clang-format-14")
        code, said = self.on("", "all")
        self.assertEqual((code, said), (1, "setup.sh: all: unknown; `./setup.sh` is for all, `./setup.sh bench` for the bench alone.\n"))

    def test_python_gets_all_modules_at_once(self) -> None:
        changes = """
            there=false
            have_python() { [[ $1 == "jinja2, pytest" ]] && $there; }
            apt() { echo "apt: $*" >&3; there=true; }
        """
        code, said = self.on(changes)
        self.assertEqual(code, 0, said)
        self.assertIn("apt: install --no-install-recommends python3-jinja2 python3-pytest\n", said)

    def test_the_tested_llvm_is_taken_before_a_newer_one(self) -> None:
        for offer, taken in [("14 20 22 23", 22), ("14 20 21", 21), ("9 14 23 24", 24)]:
            with self.subTest(offer):
                changes = f"have_llvm() {{ false; }}\nknown_llvms() {{ printf '%s\\n' {offer}; }}\n{AFTER_INSTALL}"
                code, said = self.on(changes)
                self.assertEqual(code, 0, said)
                self.assertIn(f"apt: install --no-install-recommends {LLVM_PACKAGES.format(taken)}\n", said)

    def test_lists_are_updated_when_they_lack_a_package(self) -> None:
        changes = """
            have_llvm() { $updated; }
            known_llvms() { if $updated; then echo 22; fi; }
        """
        code, said = self.on(changes)
        self.assertEqual(code, 0, said)
        self.assertLess(said.index("apt: update"), said.index("apt: install"))

    def test_lists_older_than_the_mirror_are_updated(self) -> None:
        changes = """
            have_llvm() { $updated; }
            apt() { echo "apt: $*" >&3; if [[ $1 == update ]]; then updated=true; else $updated; fi; }
        """
        code, said = self.on(changes)
        self.assertEqual(code, 0, said)
        self.assertEqual(said.count("apt: update"), 1)

    def test_no_llvm_to_be_had(self) -> None:
        remedies = {
            "http://mirror.example/debian": "the line `deb http://mirror.example/debian-security bookworm-security main`",
            "": "a source that has clang-22, lld-22 and llvm-22",  # not Debian 12
        }
        for mirror, remedy in remedies.items():
            with self.subTest(mirror):
                changes = f"have_llvm() {{ false; }}\nknown_llvms() {{ echo 19; }}\napt-get() {{ echo {mirror}; }}\n"
                code, said = self.on(changes)
                self.assertEqual(code, 1)
                sentence = f"apt offers no LLVM >= 20: add {remedy} to /etc/apt/sources.list, then run ./setup.sh again."
                self.assertEqual(said, f"apt: update\nsetup.sh: {sentence}\n")

    def test_a_package_not_to_be_had(self) -> None:
        code, said = self.on("have_header() { [[ $1 != fmt/core.h ]]; }\noffered() { [[ $1 != libfmt-dev ]]; }\n")
        self.assertEqual(code, 1)
        self.assertIn("setup.sh: apt offers no libfmt-dev: add ", said)
        self.assertNotIn("apt: install", said)

    def test_without_apt_the_missing_are_named(self) -> None:
        changes = "have_command() { [[ $1 != apt-get && $1 != ninja ]]; }\nhave_llvm() { false; }\n"
        code, said = self.on(changes)
        self.assertEqual(code, 1)
        self.assertRegex(said, r"^setup.sh: no apt here; .*: ninja-build llvm *\n$")

    def test_without_root(self) -> None:
        changes = "is_root() { false; }\nhave_command() { [[ $1 != sudo ]]; }\nhave_llvm() { false; }\n"
        code, said = self.on(changes)
        self.assertEqual(code, 1)
        self.assertRegex(said, r"^setup.sh: only root can install llvm - run it as root, or install sudo\.\n$")

    def test_a_failed_installation_is_told(self) -> None:
        changes = "have_llvm() { false; }\napt() { echo 'E: unable to fetch'; false; }\n"
        code, said = self.on(changes)
        self.assertEqual(code, 1)
        self.assertIn("E: unable to fetch\nsetup.sh: `apt update` failed.", said)


if __name__ == "__main__":
    unittest.main()
