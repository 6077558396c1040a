# SPDX-License-Identifier: MIT
"""Runs the tests that ctest knows and adds up the counts they end with.

A test's last word is the line `N passed, N failed` (`, N skipped` may follow). One that dies, hangs
or ends without that line counts as one failure more.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

COUNTS = re.compile(r"(\d+) passed, (\d+) failed(?:, (\d+) skipped)?")
AT_ONCE = 2
TIMEOUT_SECONDS = 20 * 60


@dataclass(frozen=True)
class Test:
    name: str
    command: tuple[str, ...]
    directory: str
    environment: tuple[str, ...]
    timeout: float


@dataclass(frozen=True)
class Outcome:
    passed: int
    failed: int
    skipped: int
    seconds: float
    problem: str  # why it failed though its counts don't say so, or ""
    output: str


def known_tests(build: Path) -> list[Test]:
    shown = subprocess.run(["ctest", "--show-only=json-v1"], cwd=build, stdout=subprocess.PIPE, check=True)
    return [read_test(row, build) for row in json.loads(shown.stdout)["tests"]]


def read_test(row: dict, build: Path) -> Test:
    properties = {entry["name"]: entry["value"] for entry in row.get("properties", [])}
    return Test(
        name=row["name"],
        command=tuple(row.get("command", [row["name"]])),  # ctest leaves it out if nothing was built
        directory=properties.get("WORKING_DIRECTORY", str(build)),
        environment=tuple(properties.get("ENVIRONMENT", [])),
        timeout=properties.get("TIMEOUT", TIMEOUT_SECONDS),
    )


class Runner:
    """Runs tests, and can stop running ones."""

    def __init__(self) -> None:
        self._live: set[subprocess.Popen] = set()

    def run(self, test: Test) -> Outcome:
        start = time.monotonic()
        try:
            process = subprocess.Popen(
                test.command,
                cwd=test.directory,
                env=os.environ | dict(entry.split("=", 1) for entry in test.environment),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # so that its children end with it
            )
        except OSError as error:
            return Outcome(0, 1, 0, 0.0, f"does not start: {error}", "")
        self._live.add(process)
        try:
            output, _ = process.communicate(timeout=test.timeout)
            problem = ""
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
            problem = f"still running after {test.timeout:g} s"
        self._live.discard(process)
        return judge(output.decode(errors="replace"), process.returncode, problem, time.monotonic() - start)

    def end(self) -> None:
        for process in list(self._live):
            os.killpg(process.pid, signal.SIGKILL)


def judge(output: str, code: int, problem: str, seconds: float) -> Outcome:
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
    return Outcome(passed, failed + bool(problem), skipped, seconds, problem, output)


def report(test: Test, outcome: Outcome) -> None:
    verdict = "FAILED" if outcome.failed else "ok" if outcome.passed else "skipped"
    counts = f"{outcome.passed:5} passed" + (f", {outcome.failed} failed" if outcome.failed else "")
    counts += f", {outcome.skipped} skipped" if outcome.skipped else ""
    if outcome.failed:
        print(f"----- {test.name}: {' '.join(test.command)}\n{outcome.output.rstrip()}\n-----")
    print(f"{verdict:8}{test.name:28}{outcome.seconds:7.1f} s {counts}{'  ' * bool(outcome.problem)}{outcome.problem}")
    sys.stdout.flush()


def run_all(tests: list[Test]) -> list[Outcome]:
    runner = Runner()
    outcomes = []
    with ThreadPoolExecutor(AT_ONCE) as pool:
        try:
            for test, outcome in zip(tests, pool.map(runner.run, tests)):
                report(test, outcome)
                outcomes.append(outcome)
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            runner.end()
            raise
    return outcomes


def main() -> int:
    parser = argparse.ArgumentParser(prog="tests/run", description="Sets up, builds, and runs all tests.")
    parser.add_argument("build", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("-k", metavar="SUBSTRING", default="", help="only tests whose name contains it")
    parser.add_argument("--list", action="store_true", help="name the tests, run none")
    options = parser.parse_args()

    tests = [test for test in known_tests(options.build) if options.k in test.name]
    if options.list:
        print("\n".join(test.name for test in tests))
        return 0
    try:
        outcomes = run_all(tests)
    except KeyboardInterrupt:
        return 130
    passed = sum(outcome.passed for outcome in outcomes)
    failed = sum(outcome.failed for outcome in outcomes)
    skipped = sum(outcome.skipped for outcome in outcomes)
    broken = [test.name for test, outcome in zip(tests, outcomes) if outcome.failed]
    if broken:
        print("failed:", ", ".join(broken))
    if passed + failed == 0:
        print(f"no test was run: {len(tests)} of ctest's tests match -k '{options.k}'")
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.exit(main())
