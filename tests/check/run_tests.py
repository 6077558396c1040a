# SPDX-License-Identifier: MIT
"""Builds and runs tests, and adds up the counts they end with.

A test's last word is the line `N passed, N failed` (`, N skipped` may follow). One that dies, hangs
or ends without that line counts as one failure more.
"""

from __future__ import annotations

import argparse
import ctypes
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
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from select_tests import Command, Test, commands, known_tests, select, targets_of, with_files, words_of

ROOT = Path(__file__).resolve().parents[2]
COUNTS = re.compile(r"(\d+) passed, (\d+) failed(?:, (\d+) skipped)?")
TIMEOUT_SECONDS = 20 * 60
SILENT_SECONDS = 10  # a log gets a line at least so often
SLOW_SECONDS = 60.0  # what a test labelled slow is taken to last until it was measured
PR_SET_PDEATHSIG = 1  # linux/prctl.h


@dataclass(frozen=True)
class Outcome:
    test: Test
    passed: int
    failed: int
    skipped: int
    seconds: float
    problem: str  # why it failed though its counts don't say so, or ""
    output: str


def judge(test: Test, output: str, code: int, problem: str, seconds: float) -> Outcome:
    counts = COUNTS.fullmatch(output.rstrip().rpartition("\n")[2])
    passed, failed, skipped = (int(count or 0) for count in counts.groups()) if counts else (0, 0, 0)
    if not problem and code < 0:
        problem = f"died of {signal.Signals(-code).name}"
    if not problem and counts is None:
        problem = f"did not end with the line `N passed, N failed` (exit code {code})"
    if not problem and code != 0 and failed == 0:
        problem = f"exit code {code}, though nothing failed"
    if not problem and passed + failed + skipped == 0:
        problem = "ran no test"
    return Outcome(test, passed, failed + bool(problem), skipped, seconds, problem, output)


def end_with_parent() -> None:
    """In a new process: it is killed when this runner ends, however that ends."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Running:
    """A test under way."""

    def __init__(self, test: Test, words: list[str], command: Command, scratch: Path) -> None:
        self.test = test
        self._timeout = command.timeout or TIMEOUT_SECONDS
        self._start = time.monotonic()
        self._output: IO[bytes] = tempfile.TemporaryFile(dir=scratch)
        self._process = subprocess.Popen(
            words,
            cwd=command.directory,
            env=os.environ | command.environment | {"TMPDIR": str(scratch)},
            stdin=subprocess.DEVNULL,
            stdout=self._output,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # so that its children end with it
            preexec_fn=end_with_parent,
        )

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._start

    def outcome(self) -> Outcome | None:
        """None while it runs."""
        problem = ""
        if self._process.poll() is None:
            if self.seconds < self._timeout:
                return None
            problem = f"still running after {self._timeout:g} s"
        self.kill()
        self._output.seek(0)
        output = self._output.read().decode(errors="replace")
        self._output.close()
        return judge(self.test, output, self._process.returncode, problem, self.seconds)

    def kill(self) -> None:
        """Ends it and what it left running."""
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self._process.wait()


class Report:
    """A line for each test; between them, what runs: on a terminal all the time, in a log now and then."""

    def __init__(self, tests: int) -> None:
        self._tests, self._done = tests, 0
        self._terminal = sys.stdout.isatty()
        self._said = time.monotonic()

    def outcome(self, outcome: Outcome) -> None:
        self._done += 1
        verdict = "FAILED" if outcome.failed else "ok" if outcome.passed else "skipped"
        counts = f"{outcome.passed:5} passed" + (f", {outcome.failed} failed" if outcome.failed else "")
        counts += f", {outcome.skipped} skipped" if outcome.skipped else ""
        text = f"----- {outcome.test.name}\n{outcome.output.rstrip()}\n-----\n" if outcome.failed else ""
        text += f"{verdict:8}{outcome.test.name:36}{outcome.seconds:7.1f} s {counts}"
        self._say(text + (f"  {outcome.problem}" if outcome.problem else "") + "\n")

    def progress(self, running: list[Running]) -> None:
        names = ", ".join(f"{one.test.name} {one.seconds:.0f} s" for one in running)
        text = f"{self._done} of {self._tests} done, running: {names}"
        if self._terminal:
            print(f"\r\x1b[K{text[: shutil.get_terminal_size().columns - 1]}", end="", flush=True)
        elif time.monotonic() - self._said >= SILENT_SECONDS:
            self._say(f"        {text}\n")

    def end(self) -> None:
        if self._terminal:
            print("\r\x1b[K", end="", flush=True)

    def _say(self, text: str) -> None:
        print("\r\x1b[K" * self._terminal + text, end="", flush=True)
        self._said = time.monotonic()


class Durations:
    """How long tests took, so that the longest are begun first; kept in the build directory."""

    def __init__(self, build: Path) -> None:
        self._file = build / "test_seconds.json"
        try:
            self._seconds: dict[str, float] = json.loads(self._file.read_text())
        except (OSError, ValueError):  # the first run, or one that was interrupted
            self._seconds = {}

    def of(self, test: Test, command: Command | None) -> float:
        return self._seconds.get(test.name, SLOW_SECONDS if command and command.slow else 0.0)

    def keep(self, outcomes: list[Outcome]) -> None:
        for outcome in outcomes:
            if not outcome.failed and not outcome.test.cases and not outcome.test.only:
                self._seconds[outcome.test.name] = round(outcome.seconds, 1)
        temporary = self._file.with_suffix(f".{os.getpid()}")
        try:
            temporary.write_text(json.dumps(self._seconds, indent=1, sort_keys=True))
            temporary.replace(self._file)
        except OSError:  # a full disk: the order is a little worse next time
            temporary.unlink(missing_ok=True)


def scratch_folder() -> Path:
    """A folder for temporary files of this run; removes those of runs that were killed."""
    for old in Path(tempfile.gettempdir()).glob("nibblewave-tests-*-*"):
        pid = old.name.split("-")[2]
        if pid.isdigit() and not Path("/proc", pid).exists():
            shutil.rmtree(old, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=f"nibblewave-tests-{os.getpid()}-"))


def outcomes(queue: list[tuple[Test, list[str], Command]], at_once: int, report: Report, scratch: Path) -> Iterator[Outcome]:
    """Runs tests in the order given; each outcome when it is there."""
    waiting, running = queue[::-1], list[Running]()
    try:
        while waiting or running:
            while waiting and len(running) < at_once:
                test, words, command = waiting.pop()
                try:
                    running.append(Running(test, words, command, scratch))
                except OSError as error:
                    yield Outcome(test, 0, 1, 0, 0.0, f"does not start: {error}", "")
            time.sleep(0.02)
            for one in list(running):
                if (outcome := one.outcome()) is not None:
                    running.remove(one)
                    yield outcome
            report.progress(running)
    finally:
        for one in running:
            one.kill()


def build_targets(tests: list[Test], everything: bool) -> int:
    needs = dict.fromkeys(target for test in tests for target in targets_of(test))
    return subprocess.run([ROOT / "gen/build.sh", *(["all"] if everything else []), *needs]).returncode


def run(tests: list[Test], options: argparse.Namespace) -> list[Outcome]:
    known = commands(options.build)
    durations = Durations(options.build)
    tests = sorted(tests, key=lambda test: -durations.of(test, known.get(test.name)))
    not_known = Command(("(ctest does not know it)",), options.build)
    queue = [
        (test, words_of(test, command, options.all), command)
        for test in tests
        for command in [known.get(test.name, not_known)]
    ]
    report, done, scratch = Report(len(tests)), [], scratch_folder()
    try:
        for outcome in outcomes(queue, options.jobs, report, scratch):
            report.outcome(outcome)
            done.append(outcome)
    finally:
        report.end()
        durations.keep(done)
        shutil.rmtree(scratch, ignore_errors=True)
    return done


def summary(done: list[Outcome], name: str) -> int:
    passed = sum(outcome.passed for outcome in done)
    failed = sum(outcome.failed for outcome in done)
    skipped = sum(outcome.skipped for outcome in done)
    broken = [outcome.test.name for outcome in done if outcome.failed]
    if broken:
        print("failed:", ", ".join(broken))
    if not done:
        print(f"no test was run: no room, test, case or kernel matches -k '{name}'")
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed or not passed else 0


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="tests/run",
        description="Sets up, builds, and runs all tests, or those of a name.",
        epilog="With ctest: cd build && ctest -L sim -j2; labels are the folders of tests/, python and slow.",
    )
    parser.add_argument("build", type=Path, help=argparse.SUPPRESS)
    parser.add_argument(
        "-k",
        metavar="NAME",
        default="",
        help="build and run only what NAME means: a folder of tests/; else a part of a test's name (see --list); "
        "else a part of a test case's name; else the beginning of kernels' symbols",
    )
    parser.add_argument(
        "--all",
        action="store_true",
        help="check kernels in full on every target (otherwise on one of those where the machine code is the same)",
    )
    parser.add_argument("--list", action="store_true", help="name the tests, and with -k the cases; run none")
    parser.add_argument("--no-build", action="store_true", help="run what is built already")
    parser.add_argument(
        "-j", dest="jobs", type=int, metavar="N", default=len(os.sched_getaffinity(0)), help="tests at once (default: %(default)s)"
    )
    options = parser.parse_args(arguments)
    if options.jobs < 1:
        parser.error(f"-j {options.jobs}: at least 1")
    return options


def main(arguments: list[str]) -> int:
    options = parse(arguments)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    tests = known_tests(options.build)
    if options.k:
        tests = [with_files(test, options.build, options.all) for test in select(tests, options.k)]
    if options.list:
        print("\n".join(f"{test.name}: {part}" if part else test.name for test in tests for part in test.cases or [test.only]))
        return 0
    if tests and not options.no_build and (code := build_targets(tests, everything=not options.k)) != 0:
        return code
    return summary(run(tests, options), options.k)


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
    except OSError as error:
        sys.exit(f"tests/run: {error}")
