# SPDX-License-Identifier: MIT
"""tests/run: what counts as passed, what can't hide, what a name selects, and what an interruption leaves."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from repository import ROOT

sys.path.insert(0, str(ROOT / "tests/check"))
import select_tests  # noqa: E402

RUNNER = ROOT / "tests/check/run_tests.py"
RUN_TEST = ROOT / "tests/check/run_test.py"


class Scripts(unittest.TestCase):
    """A build directory whose tests are shell scripts."""

    reads = ""  # an option of run_test.py

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.build = Path(folder.name)
        self.executable("workload", "echo 0.01")

    def executable(self, name: str, script: str) -> Path:
        path = self.build / name
        path.write_text("#!/bin/sh\n" + script)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path

    def write(self, scripts: dict[str, str], listed: list[dict] | None = None) -> None:
        """A script that is listed twice is of both tiers."""
        rows = {name: {"name": name} for name in scripts} | {row["name"]: row for row in listed or []}
        self.rules = f"rule test\n command = {sys.executable} -B {RUN_TEST} $out --build . --timeout 3 --workload ./workload $reads -- $words\n"
        self.rules += " description = Testing stamps/$name\n depfile = $out.d\n restat = 1\n"
        empty = {"room": "", "family": "", "tiers": ["default"], "needs": [], "sources": [], "environment": []}
        for name, script in scripts.items():
            path = self.executable(f"{name}.sh", script)
            rows[name] = empty | rows[name] | {"words": [str(path)]}
            for tier in rows[name]["tiers"]:
                of_tier, more = ("all_", " --all") if tier == "all" else ("", "")
                self.rules += f"build {self.build}/stamps/{of_tier}{name}: test | {path}\n words = {path}{more}\n reads = {self.reads}\n name = {of_tier}{name}\n"
                self.rules += f"build run_{of_tier}{name}: phony {self.build}/stamps/{of_tier}{name}\n"
        (self.build / "build.ninja").write_text(self.rules)
        (self.build / "tests.json").write_text(json.dumps(list(rows.values())))

    def command(self, *options: str) -> list:
        return [sys.executable, "-B", RUNNER, self.build, *options]

    def run_tests(self, *options: str) -> tuple[int, list[str]]:
        done = subprocess.run(self.command(*options), capture_output=True, text=True, timeout=60)
        self.assertEqual(done.stderr if done.returncode != 2 else "", "")
        return done.returncode, done.stdout.splitlines()

    def run_scripts(self, scripts: dict[str, str], *options: str) -> tuple[int, list[str]]:
        """The exit code and the lines."""
        self.write(scripts)
        return self.run_tests(*options)


class Verdicts(Scripts):
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
            "hung": "still running after 3 s",
            "empty": "ran no test",
        }
        code, lines = self.run_scripts(endings)
        self.assertEqual((code, lines[-1]), (1, "0 passed, 6 failed, 1 skipped"))
        for name, words in said.items():
            self.assertTrue(any(name in line and words in line for line in lines), (name, lines))

    def test_a_test_that_does_not_start(self) -> None:
        self.write({"gone": "true"})
        (self.build / "gone.sh").chmod(0o600)
        code, lines = self.run_tests()
        self.assertEqual((code, lines[-1]), (1, "0 passed, 1 failed"))
        self.assertTrue(any("does not start" in line for line in lines), lines)

    def test_what_does_not_build_is_a_failure(self) -> None:
        """Though it passed before."""
        self.write({"a": "echo 3 passed, 0 failed", "b": "echo 2 passed, 0 failed"})
        self.assertEqual(self.run_tests()[1][-1], "5 passed, 0 failed")
        broken = "rule cc\n command = echo syntax error && false\nbuild program: cc\n"
        # As by CMake, which checks its globs in each build.
        broken += "rule look\n command = test -e globs || touch globs\n restat = 1\nrule again\n command = true\n generator = 1\n restat = 1\n"
        broken += "build build.ninja: again globs\nbuild globs: look always\nbuild always: phony\n"
        (self.build / "build.ninja").write_text(broken + self.rules.replace("a.sh\n words", "a.sh program\n words"))
        code, lines = self.run_tests()
        self.assertEqual((code, lines[-1]), (1, "2 passed, 1 failed"))
        self.assertIn("syntax error", lines)
        self.assertRegex("\n".join(lines), r"FAILED  a +1? *0 passed, 1 failed  not run: what it needs was not built")

    def test_running_nothing_is_a_failure(self) -> None:
        code, lines = self.run_scripts({"a": "echo 1 passed, 0 failed"}, "-k", "nothing")
        self.assertEqual((code, lines[-1]), (1, "0 passed, 0 failed"))
        self.assertIn("no test was run: no room, test, case or kernel matches -k 'nothing'", lines)

    def test_bad_options_are_misuse(self) -> None:
        for options in (["-k"], ["--nothing"], ["-j", "0"], ["-j", "x"], ["surplus"]):
            self.assertEqual(self.run_scripts({"a": "true"}, *options)[0], 2, options)


    def test_a_build_that_does_not_begin(self) -> None:
        self.write({"a": "echo 3 passed, 0 failed"})
        self.run_tests()
        (self.build / "build.ninja").write_text("build run_a: no_such_rule\n")
        code, lines = self.run_tests()
        self.assertEqual((code, lines[-1]), (1, "3 passed, 1 failed"))
        self.assertTrue(any("unknown build rule" in line for line in lines), lines)


class Memory(Scripts):
    """Tests that passed are not run again until a file that they read has changed."""

    def setUp(self) -> None:
        super().setUp()
        if not (library := Path(os.environ.get("NW_BUILD_DIR", "/"), "lib/libnw_test_reads.so")).exists():
            self.skipTest("a build that remembers no test")
        self.reads = f"--reads {library}"
        self.input = self.build / "input.hsaco"
        self.input.write_text("1")

    def runs(self) -> int:
        return len((self.build / "runs").read_text().split())

    def test_one_that_reads_nothing_has_a_dependency(self) -> None:
        """CMake drops a depfile without any, and its test would never be remembered."""
        self.write({"a": "echo 1 passed, 0 failed"})
        self.assertEqual(self.run_tests()[0], 0)
        self.assertRegex((self.build / "stamps/a.d").read_text(), r": \S*a\.sh\n")

    def test_what_passed_runs_once(self) -> None:
        self.write({"a": f"echo run >>{self.build}/runs; cat {self.input} >/dev/null; echo 3 passed, 0 failed, 1 skipped"})
        for count, change in ((1, None), (1, None), (2, self.input), (2, None), (3, self.build / "a.sh")):
            if change:
                change.write_text(change.read_text() + "\n")
            code, lines = self.run_tests()
            self.assertEqual((code, lines[-1]), (0, "3 passed, 0 failed, 1 skipped"))
            self.assertEqual(self.runs(), count, change)
        for count, options, setting in ((4, ["--again"], {}), (4, [], {}), (5, [], {"NIBBLEWAVE_CLIENTS": "x"}), (5, [], {"NIBBLEWAVE_CLIENTS": "x"}), (6, [], {}), (7, ["--no-build"], {})):
            done = subprocess.run(self.command(*options), capture_output=True, text=True, env=os.environ | setting)
            self.assertEqual(done.stdout.splitlines()[-1], "3 passed, 0 failed, 1 skipped")
            self.assertEqual(self.runs(), count, (options, setting))

    def test_what_failed_or_was_skipped_runs_again(self) -> None:
        for said in ("echo 1 passed, 1 failed", "echo 0 passed, 0 failed, 1 skipped", "sleep 60"):
            (self.build / "runs").unlink(missing_ok=True)
            self.write({"a": f"echo run >>{self.build}/runs; {said}", "b": "echo 1 passed, 0 failed"})
            first, second = self.run_tests(), self.run_tests()
            self.assertEqual((first[0], first[1][-1]), (second[0], second[1][-1]))
            self.assertEqual(self.runs(), 2)
            self.assertIn("1 of 2 tests have not changed since they passed, and were not run again", second[1])

    def test_an_interrupted_test_has_no_stamp(self) -> None:
        self.write({"a": f"echo run >>{self.build}/runs; sleep 2; echo 1 passed, 0 failed"})
        runner = subprocess.Popen(self.command(), stdout=subprocess.DEVNULL)
        end = time.monotonic() + 20
        while not (self.build / "runs").exists() and time.monotonic() < end:
            time.sleep(0.02)
        runner.send_signal(signal.SIGTERM)
        runner.wait(20)
        self.assertEqual(self.run_tests()[1][-1], "1 passed, 0 failed")
        self.assertEqual(self.runs(), 2)


class Selection(Scripts):
    def setUp(self) -> None:
        super().setUp()
        echo = 'echo "words: $*"; echo 1 passed, 1 failed; exit 1'  # so that its output is shown
        cases = self.build / "cases.cpp"
        cases.write_text('TEST_CASE("a grid, and \\"more\\"") {}\n    TEST_CASE_TEMPLATE("Another thing", T, int) {}\n')
        python = self.build / "cases.py"
        python.write_text("class It(unittest.TestCase):\n    def test_one(self): pass\n    def helper(self): pass\n")
        self.write(
            {"sim_a": echo, "gen_b": echo, "in_python": echo, "kernels_moe": echo, "kernels_moe_align": echo, "ablation": echo},
            [
                {"name": "sim_a", "room": "sim", "sources": [str(cases)]},
                {"name": "gen_b", "room": "gen"},
                {"name": "in_python", "room": "gen", "sources": [str(python)]},
                {"name": "kernels_moe", "room": "kernels", "family": "moe", "tiers": ["default", "all"]},
                {"name": "kernels_moe_align", "room": "kernels", "family": "moe_align", "tiers": ["default", "all"]},
                {"name": "ablation", "tiers": ["all"]},
            ],
        )

    def selected(self, name: str) -> list[str]:
        return self.run_tests("--list", "-k", name)[1]

    def test_what_a_name_means(self) -> None:
        for name, tests in {
            "gen": ["gen_b", "in_python"],  # a room
            "SIM": ["sim_a"],
            "_b": ["gen_b"],  # a part of a name
            "moe": ["kernels_moe", "kernels_moe_align"],
            "another": ["sim_a: Another thing"],
            "test_one": ["in_python: It::test_one"],
            "it::test": ["in_python: It::test_one"],
            "moe_align_x": ["kernels_moe_align: moe_align_x"],
            "moe_f16_g128": ["kernels_moe: moe_f16_g128"],
            "helper": [""],
        }.items():
            self.assertEqual(self.selected(name), tests, name)

    def words(self, *options: str) -> list[str]:
        return sorted(line.removeprefix("words: ") for line in self.run_tests(*options)[1] if line.startswith("words: "))

    def test_only_the_part_is_run(self) -> None:
        self.assertEqual(self.words("-k", "a grid"), [r'--test-case=a grid\, and "more"'])
        self.assertEqual(self.words("-k", "moe_f16"), ["--only moe_f16"])
        self.assertEqual(self.words("-k", "moe", "--all"), ["--all", "--all"])

    def test_tiers(self) -> None:
        self.assertEqual(self.words(), ["", "", "", "", ""])
        self.assertEqual(self.words("--all"), ["", "", "", "--all", "--all", "--all"])
        self.assertEqual(self.words("-k", "ablation"), ["--all"])

    def test_one_kernel_is_built_alone(self) -> None:
        test = select_tests.Test("kernels_moe", ("check_kernels",), family="moe", needs=("check_kernels", "kernels_moe"), only="moe_f16")
        self.assertEqual(select_tests.targets_of(select_tests.with_files(test, self.build, False)), ["check_kernels", "kernels_moe"])
        outputs = ("gfx1100/moe_f16", "gfx1151/moe_f16_g32", "gfx1151/moe_bf16")
        (self.build / "build.ninja").write_text("rule r\n command = x\n" + "".join(f"build hsaco/{name}.hsaco: r\n" for name in outputs))
        (self.build / "thorough.txt").write_text("gfx1151,gfx1201\n")
        for every, gfx, files in (
            (False, "gfx1151", ["hsaco/gfx1151/moe_f16_g32.hsaco"]),
            (True, "gfx1100,gfx1151", ["hsaco/gfx1100/moe_f16.hsaco", "hsaco/gfx1151/moe_f16_g32.hsaco"]),
        ):
            chosen = select_tests.with_files(test, self.build, every)
            self.assertEqual(select_tests.targets_of(chosen), ["check_kernels", *files])
            words = select_tests.words_of(chosen, every)
            self.assertEqual(words, ["check_kernels", *["--all"] * every, "--only", "moe_f16", "--gfx", gfx])

    @unittest.skipUnless("NW_BUILD_DIR" in os.environ, "no build directory")
    def test_what_is_built(self) -> None:
        """Each test of this build: its targets are some of the build's, and it is one."""
        rows = json.loads((Path(os.environ["NW_BUILD_DIR"]) / "tests.json").read_text())
        needed = {target for row in rows for target in row["needs"]} | {f"run_{row['name']}" for row in rows if "default" in row["tiers"]}
        command = ["ninja", "-C", os.environ["NW_BUILD_DIR"], "-t", "targets", "all"]
        known = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        targets = {line.split(":")[0] for line in known.splitlines()}
        self.assertGreater(len(needed), 50)
        self.assertEqual(needed - targets, set())


class Interruption(Scripts):
    def begin(self) -> tuple[subprocess.Popen, int]:
        """The runner with a test under way, and that test's process."""
        self.write({"long": f'echo $$ >"{self.build}/pid"; exec sleep 50'})
        runner = subprocess.Popen(
            self.command(), stdout=subprocess.PIPE, text=True, env=os.environ | {"TMPDIR": str(self.build)},
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # ignored where a shell runs the tests in the background
        )  # fmt: skip
        self.addCleanup(runner.stdout.close)
        self.addCleanup(runner.kill)
        file = self.build / "pid"
        self.wait_for(lambda: file.exists() and file.read_text().strip())
        return runner, int(file.read_text())

    def wait_for(self, what) -> None:
        end = time.monotonic() + 20
        while not what():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)

    def folders(self) -> list[Path]:
        return list(self.build.glob("nibblewave-tests-*"))

    def test_its_tests_end_with_it(self) -> None:
        for how in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            runner, test = self.begin()
            runner.send_signal(how)
            self.assertEqual(runner.wait(20), -how if how == signal.SIGKILL else 130)
            self.wait_for(lambda: not self.alive(test))
            self.wait_for(lambda: not self.folders())
            (self.build / "pid").unlink()

    def test_the_next_run_clears_what_a_killed_one_left(self) -> None:
        self.write({"a": "echo 1 passed, 0 failed"})
        (self.build / "nibblewave-tests-99999999-x").mkdir()
        done = subprocess.run(self.command(), stdout=subprocess.PIPE, env=os.environ | {"TMPDIR": str(self.build)})
        self.assertEqual((done.returncode, self.folders()), (0, []))

    def alive(self, pid: int) -> bool:
        try:
            return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"  # nobody may be there to reap it
        except OSError:
            return False


class Progress(Scripts):
    def test_a_log_is_not_silent(self) -> None:
        self.write({"long": "sleep 1; echo 1 passed, 0 failed", "longer": "sleep 1.5; echo 1 passed, 0 failed"})
        hasty = "import run_tests, sys; run_tests.SILENT_SECONDS = 0.4; sys.exit(run_tests.main(sys.argv[1:]))"
        done = subprocess.run([sys.executable, "-B", "-c", hasty, self.build, "-j", "1"], cwd=RUNNER.parent, capture_output=True, text=True)
        lines = done.stdout.splitlines()
        self.assertRegex(lines[0], r"^ +\[\d/2\] Testing stamps/\w+$")
        self.assertRegex(lines[-2], r"^ok      \w+ +1\.\d s     1 passed$")


class Pytest(unittest.TestCase):
    def run_cases(self, body: str) -> tuple[int, str]:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "test_it.py"
            path.write_text("import unittest\nclass It(unittest.TestCase):\n" + body)
            command = [sys.executable, "-B", "-m", "pytest", "-c", ROOT / "tests/pytest.ini", "-p", "conftest", path]
            environment = os.environ | {"PYTHONPATH": str(ROOT / "tests")}
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=environment)
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

    def test_a_file_that_does_not_load(self) -> None:
        self.assertEqual(self.run_cases("  raise OSError\n"), (2, "0 passed, 1 failed"))

    def test_nothing(self) -> None:
        self.assertEqual(self.run_cases("  pass\n"), (5, "0 passed, 0 failed"))


if __name__ == "__main__":
    unittest.main()
