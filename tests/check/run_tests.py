# SPDX-License-Identifier: MIT
"""Builds the stamps of tests, each an edge of the build (run_test.py), and adds up the counts that they hold.

Tests that passed, and whose inputs have not changed since, are not run again. A test that dies, hangs, ends without the line `N passed, N failed`, or
can't be run because its needs do not build, counts as one more failure.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from run_test import TIMEOUT_SECONDS, Outcome, end_with_parent, judge, report, run, settings
from select_tests import Test, known_tests, select, targets_of, with_files, words_of

ROOT = Path(__file__).resolve().parents[2]
SILENT_SECONDS = 10  # longest time between lines of a log


@dataclass(frozen=True)
class Result:
    name: str
    outcome: Outcome
    remembered: bool = False  # from an earlier run


def not_run(problem: str) -> Outcome:
    return Outcome(0, 1, 0, problem, 0.0, 0.0, 0.0)


class Output:
    """Ninja's output without its progress, which is an overwritten line on a terminal, and an occasional line in a log. Also
    without the commands of failed tests: their output follows."""

    def __init__(self) -> None:
        self._terminal = sys.stdout.isatty()
        self._said = time.monotonic()
        self._skip = False

    def line(self, line: str) -> None:
        if self._skip:
            self._skip = False
        elif line.startswith("FAILED: stamps/"):
            self._skip = True
        elif not re.match(r"\[\d+/\d+\] ", line):
            self._say(line)
        elif self._terminal:
            print(f"\r\x1b[K{line[: shutil.get_terminal_size().columns - 1]}", end="", flush=True)
        elif time.monotonic() - self._said >= SILENT_SECONDS:
            self._say(f"        {line}")

    def end(self) -> None:
        print("\r\x1b[K" * self._terminal, end="", flush=True)

    def _say(self, line: str) -> None:
        print("\r\x1b[K" * self._terminal + line, flush=True)
        self._said = time.monotonic()


@contextmanager
def build_lock(build: Path) -> Iterator[None]:
    """That of gen/build.sh: two builds in one folder spoil each other's log."""
    with (build / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("another build is under way here; this one waits for it", flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def ninja(build: Path, *words: str) -> subprocess.Popen:
    environment = os.environ | {"NINJA_STATUS": "[%f/%t] ", "NW_RUNNER": str(os.getpid())}
    return subprocess.Popen(
        ["ninja", "-C", build, *words], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
        preexec_fn=end_with_parent,
    )  # fmt: skip


def build_targets(build: Path, targets: list[str], jobs: int) -> bool:
    """Everything that can be built, whatever fails; true if nothing did."""
    output = Output()
    process = ninja(build, "-k", "0", "-j", str(jobs), *targets)
    try:
        for line in process.stdout:
            if not line.startswith(("ninja: Entering directory", "ninja: no work to do", "ninja: build stopped")):
                output.line(line.rstrip("\n"))
    except KeyboardInterrupt:
        process.send_signal(signal.SIGINT)  # it ends its commands, tests among them
        raise
    finally:
        process.wait()
        output.end()
    return process.returncode == 0


def stale(build: Path, targets: list[str]) -> set[str]:
    """Stamps that a build has not made though it was to. By another name of build.ninja: by its own, ninja would see no further
    than that CMake checks its globs in each build."""
    manifest = build / "as_it_is.ninja"
    manifest.unlink(missing_ok=True)
    manifest.symlink_to("build.ninja")
    shown = subprocess.run(["ninja", "-C", build, "-f", manifest, "-n", "-k", "0", *targets], capture_output=True, text=True)
    return set(re.findall(r"Testing stamps/(\S+)$", shown.stdout, re.MULTILINE))


def result_of(build: Path, name: str, start: float, old: set[str]) -> Result:
    stamp = build / "stamps" / name
    failure = Path(f"{stamp}.failed")
    if failure.exists():
        return Result(name, Outcome(**json.loads(failure.read_text())))
    remembered = stamp.exists() and stamp.stat().st_ctime < start
    if not stamp.exists() or (remembered and name in old):
        return Result(name, not_run("not run: what it needs was not built"))
    return Result(name, Outcome(**json.loads(stamp.read_text())), remembered)


def run_whole(tests: list[Test], options: argparse.Namespace) -> list[Result]:
    """Tests as edges of the build."""
    build, start = options.build, time.time()
    names = [test.stamp("all" if options.all else "default") for test in tests]
    targets = [f"run_{name}" for name in names]
    for name in names:
        stamp = build / "stamps" / name
        Path(f"{stamp}.failed").unlink(missing_ok=True)
        if options.again or (stamp.exists() and json.loads(stamp.read_text())["settings"] != settings()):
            stamp.unlink(missing_ok=True)
    with build_lock(build):
        complete = build_targets(build, targets, options.jobs)
    old = set() if complete else stale(build, targets)
    done = [result_of(build, name, start, old) for name in names]
    if not complete and not any(result.outcome.failed for result in done):
        done.append(Result("build", not_run("the build failed")))
    for result in done:
        if result.outcome.problem.startswith("not run"):
            print(f"FAILED  {result.name:36}            {result.outcome.line}")
    return done


def run_parts(tests: list[Test], options: argparse.Namespace) -> list[Result]:
    """Cases and kernels of tests, and tests whose needs are not to be built, one after the other: no stamp."""
    needs = dict.fromkeys(target for test in tests for target in targets_of(test))
    if needs and not options.no_build and (code := subprocess.run([ROOT / "gen/build.sh", *needs]).returncode) != 0:
        raise SystemExit(code)
    done = []
    for test in tests:
        start = time.monotonic()
        with tempfile.TemporaryDirectory(prefix=f"nibblewave-tests-{os.getpid()}-") as scratch:
            environment = os.environ | test.environment | {"NW_TIER": "all" if options.all else "default", "TMPDIR": scratch}
            output, code, problem = run(words_of(test, options.all), TIMEOUT_SECONDS, environment, cwd=options.build)
        outcome = Outcome(*judge(output, code, problem), time.monotonic() - start, 0.0, 0.0)
        report(test.name, output, outcome)
        done.append(Result(test.name, outcome))
    return done


def summary(done: list[Result], name: str) -> int:
    passed, failed, skipped = (sum(getattr(result.outcome, kind) for result in done) for kind in ("passed", "failed", "skipped"))
    if broken := [result.name for result in done if result.outcome.failed]:
        print("failed:", ", ".join(broken))
    if not done:
        print(f"no test was run: no room, test, case or kernel matches -k '{name}'")
    if old := sum(result.remembered for result in done):
        print(f"{old} of {len(done)} tests have not changed since they passed, and were not run again")
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed or not passed else 0


def remove_scratch() -> None:
    """Temporary folders of tests that were killed."""
    for old in Path(tempfile.gettempdir()).glob("nibblewave-tests-*-*"):
        pid = old.name.split("-")[2]
        if pid.isdigit() and not Path("/proc", pid).exists():
            shutil.rmtree(old, ignore_errors=True)


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="tests/run",
        description="Sets up, builds, and runs the tests of the default tier, or the tests selected by a name. Tests that passed, and "
        "whose inputs have not changed since, are not run again. tests/README.md says what to run after which change.",
        epilog="With ninja: `ninja -C build run_NAME` runs a test, `run_all_NAME` its cases for --all.",
    )
    parser.add_argument("build", type=Path, help=argparse.SUPPRESS)
    parser.add_argument(
        "-k",
        metavar="NAME",
        default="",
        help="build and run only the tests selected by NAME: a folder of tests/; else part of a test's name (see --list); "
        "else part of a test case's name; else the beginning of kernels' symbols",
    )
    parser.add_argument("--all", action="store_true", help="everything: all kernels in full on all targets, baselines and ablations")
    parser.add_argument("--list", action="store_true", help="list the tests, and with -k the cases; run none")
    parser.add_argument("--no-build", action="store_true", help="run what is built already, also unchanged tests; results are not stored")
    parser.add_argument("--again", action="store_true", help="also run tests that are unchanged since they passed")
    parser.add_argument(
        "-j", dest="jobs", type=int, metavar="N", default=len(os.sched_getaffinity(0)), help="number of parallel tests (default: %(default)s)"
    )
    options = parser.parse_args(arguments)
    if options.jobs < 1:
        parser.error(f"-j {options.jobs}: at least 1")
    return options


def main(arguments: list[str]) -> int:
    options = parse(arguments)
    options.build = options.build.resolve()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    tests = known_tests(options.build)
    if options.k:
        tests = [with_files(test, options.build, options.all) for test in select(tests, options.k)]
    of_default = [test for test in tests if "default" in test.tiers]
    if not options.all and of_default:  # a test of --all alone is run where nothing else is meant
        tests = of_default
    if options.list:
        print("\n".join(f"{test.name}: {part}" if part else test.name for test in tests for part in test.cases or [test.only]))
        return 0
    remove_scratch()
    whole = [test for test in tests if not test.cases and not test.only and not options.no_build]
    done = run_whole(whole, options) if whole else []
    done += run_parts([test for test in tests if test not in whole], options)
    return summary(done, options.k)


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
    except OSError as error:
        sys.exit(f"tests/run: {error}")
