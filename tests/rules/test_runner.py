# SPDX-License-Identifier: MIT
"""tests/check/run_tests.py: what counts as passed, and what can't hide."""

from __future__ import annotations

import stat
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from repository import ROOT

RUNNER = ROOT / "tests/check/run_tests.py"
UNITTEST_MAIN = ROOT / "tests/check/unittest_main.py"


class Runner(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.build = Path(folder.name)

    def run_scripts(self, scripts: dict[str, str], *options: str) -> tuple[int, list[str]]:
        """Registers one shell script per test and runs them; the exit code and the lines."""
        rows = []
        for name, script in scripts.items():
            path = self.build / f"{name}.sh"
            path.write_text("#!/bin/sh\n" + script)
            path.chmod(path.stat().st_mode | stat.S_IXUSR)
            rows.append(f'add_test({name} "{path}")\nset_tests_properties({name} PROPERTIES TIMEOUT 5)\n')
        (self.build / "CTestTestfile.cmake").write_text("".join(rows))
        command = [sys.executable, RUNNER, self.build, *options]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout.splitlines()

    def test_counts_are_added(self) -> None:
        code, lines = self.run_scripts({"a": "echo 3 passed, 0 failed", "b": "echo 4 passed, 0 failed, 2 skipped"})
        self.assertEqual((code, lines[-1]), (0, "7 passed, 0 failed, 2 skipped"))

    def test_a_failure_shows_all_output(self) -> None:
        code, lines = self.run_scripts({"a": "echo first words; echo 3 passed, 1 failed; exit 1"})
        self.assertEqual((code, lines[-1]), (1, "3 passed, 1 failed"))
        self.assertIn("first words", lines)

    def test_what_ends_badly_is_one_failure(self) -> None:
        endings = {
            "silent": "true",
            "early": "echo 3 passed, 0 failed; echo and then something else",
            "died": "echo working; kill -SEGV $$",
            "code": "echo 0 passed, 0 failed, 1 skipped; exit 7",
            "hung": "sleep 60",
            "empty": "echo 0 passed, 0 failed",
        }
        said = {
            "silent": "did not end with the line",
            "early": "did not end with the line",
            "died": "died of SIGSEGV",
            "code": "exit code 7, though nothing failed",
            "hung": "still running after 5 s",
            "empty": "ran no test",
        }
        code, lines = self.run_scripts(endings)
        self.assertEqual((code, lines[-1]), (1, "0 passed, 6 failed, 1 skipped"))
        for name, words in said.items():
            self.assertTrue(any(name in line and words in line for line in lines), (name, lines))

    def test_a_test_that_does_not_start(self) -> None:
        (self.build / "CTestTestfile.cmake").write_text('add_test(gone "/no/such/program")\n')
        done = subprocess.run([sys.executable, RUNNER, self.build], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout.splitlines()[-1]), (1, "0 passed, 1 failed"))

    def test_running_nothing_is_a_failure(self) -> None:
        code, lines = self.run_scripts({"a": "echo 1 passed, 0 failed"}, "-k", "nothing")
        self.assertEqual((code, lines[-1]), (1, "0 passed, 0 failed"))

    def test_selection_and_list(self) -> None:
        scripts = {"sim_a": "echo 1 passed, 0 failed", "gen_b": "exit 1"}
        self.assertEqual(self.run_scripts(scripts, "-k", "sim")[0], 0)
        self.assertEqual(self.run_scripts(scripts, "--list"), (0, ["sim_a", "gen_b"]))


class UnittestMain(unittest.TestCase):
    def run_cases(self, body: str) -> tuple[int, str]:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "test_it.py"
            path.write_text("import unittest\nclass It(unittest.TestCase):\n" + body)
            done = subprocess.run([sys.executable, UNITTEST_MAIN, path], stdout=subprocess.PIPE, text=True)
        return done.returncode, done.stdout.splitlines()[-1]

    def test_counts(self) -> None:
        body = (
            "  def test_good(self): pass\n"
            "  def test_bad(self):\n"
            "    for i in range(3):\n"
            "      with self.subTest(i): self.fail()\n"
            "  def test_error(self): raise OSError\n"
            "  def test_skip(self): self.skipTest('why')\n"
        )
        self.assertEqual(self.run_cases(body), (1, "1 passed, 2 failed, 1 skipped"))

    def test_all_good(self) -> None:
        self.assertEqual(self.run_cases("  def test_good(self): pass\n"), (0, "1 passed, 0 failed"))

    def test_broken_set_up(self) -> None:
        body = "  @classmethod\n  def setUpClass(cls): raise OSError\n  def test_good(self): pass\n"
        self.assertEqual(self.run_cases(body), (1, "0 passed, 1 failed"))

    def test_nothing(self) -> None:
        self.assertEqual(self.run_cases("  pass\n"), (1, "0 passed, 0 failed"))


if __name__ == "__main__":
    unittest.main()
