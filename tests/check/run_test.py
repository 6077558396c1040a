# SPDX-License-Identifier: MIT
"""Runs one test, an edge of the build: run_test.py STAMP [options] -- COMMAND...

The test's last line is `N passed, N failed` (`, N skipped` may follow). If nothing failed, STAMP is written: a JSON object with
the counts, and the seconds that it took of the clock and of the CPU; beside it STAMP.d, a depfile with all that the test read of
the source tree and of the kernels (reads.c). Else STAMP.failed has the counts and why, and the output is printed.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import FrameType

ROOT = Path(__file__).resolve().parents[2]
COUNTS = re.compile(r"(\d+) passed, (\d+) failed(?:, (\d+) skipped)?")
TIMEOUT_SECONDS = 20 * 60
PR_SET_PDEATHSIG = 1  # linux/prctl.h


@dataclass(frozen=True)
class Outcome:
    passed: int
    failed: int
    skipped: int
    problem: str  # why it failed though its counts don't say so, or ""
    seconds: float
    cpu_seconds: float
    speed: float  # CPU seconds of the fixed workload on this machine, as loaded as it was (see workload)
    settings: dict[str, str] = field(default_factory=dict)  # see settings()

    @property
    def line(self) -> str:
        counts = f"{self.passed:5} passed" + (f", {self.failed} failed" if self.failed else "")
        counts += f", {self.skipped} skipped" if self.skipped else ""
        return counts + (f"  {self.problem}" if self.problem else "")

    @property
    def verdict(self) -> str:
        return "FAILED" if self.failed else "ok" if self.passed else "skipped"


def report(name: str, output: str, outcome: Outcome) -> None:
    """A line with the verdict; before it all that a failed test said."""
    if outcome.failed:
        print(f"----- {name}\n{output.rstrip()}\n-----")
    print(f"{outcome.verdict:8}{name:36}{outcome.seconds:7.1f} s {outcome.line}", flush=True)


def judge(output: str, code: int, problem: str = "") -> tuple[int, int, int, str]:
    """Passed, failed, skipped, and why it failed though these counts don't say so."""
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
    return passed, failed + bool(problem), skipped, problem


def settings() -> dict[str, str]:
    """Environment variables that tests and their programs read: a test that passed under other values is run again."""
    return {name: value for name, value in sorted(os.environ.items()) if name.startswith(("NIBBLEWAVE_", "HIPSIM_"))}


def workload(program: Path) -> float:
    """CPU seconds of work that never changes (workload.c), here and now: of three runs that least disturbed."""
    return min(float(subprocess.run([program.resolve()], capture_output=True, text=True, check=True).stdout) for _ in range(3))


def end_with_parent() -> None:
    """In a new process: it is killed when this one ends, however that ends."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def kill_group(process: subprocess.Popen) -> None:
    """Ends it and the processes that it left running."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def crowd() -> float:
    """How many processes want a CPU for each that there is; at least 1."""
    return max(1.0, os.getloadavg()[1] / (os.cpu_count() or 1))


def wait(process: subprocess.Popen, timeout: float) -> None:
    """`timeout` is of a machine that has nothing else to do. Also ends when tests/run is gone: between it and this process are ninja
    and a shell, which don't pass on that they died."""
    runner, begin = os.environ.get("NW_RUNNER"), time.monotonic()
    while True:
        try:
            left = begin + timeout - time.monotonic()
            process.wait(min(1.0, left) if left > 0 else 1.0)
            return
        except subprocess.TimeoutExpired:
            if time.monotonic() - begin >= timeout * crowd():
                raise
            if runner and not Path("/proc", runner).exists():
                raise SystemExit("run_test.py: tests/run was killed")


def run(words: list[str], timeout: float, environment: dict[str, str], cwd: Path) -> tuple[str, int, str]:
    """Output, exit code, and what ended it if it did not end by itself."""
    with tempfile.TemporaryFile() as output:
        try:
            process = subprocess.Popen(
                words, cwd=cwd, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                start_new_session=True,  # so that its children end with it
                preexec_fn=end_with_parent,
            )  # fmt: skip
        except OSError as error:
            return "", 1, f"does not start: {error}"
        problem = ""
        try:
            wait(process, timeout)
        except subprocess.TimeoutExpired:
            problem = f"still running after {timeout:g} s"
        finally:
            kill_group(process)
        output.seek(0)
        return output.read().decode(errors="replace"), process.returncode, problem


def interrupted(number: int, _: FrameType | None) -> None:
    raise SystemExit(128 + number)


def is_dependency(path: Path, build: Path, start: float) -> bool:
    """Files that the test itself wrote are none; of the build directory only programs, code objects, what the
    generator makes, and stamps: libraries are dependencies by their targets. Of git's own only the list of files."""
    try:
        if path.stat().st_mtime >= start:
            return False
    except OSError:
        return False
    if path.is_relative_to(build):
        kinds = (build / "hsaco", build / "asm", build / "bin", build / "stamps")
        return path.is_file() and (path.suffix in (".hsaco", ".inc") or any(map(path.is_relative_to, kinds)))
    if path.is_relative_to(ROOT / ".git"):
        return path.name == "index"
    return "__pycache__" not in path.parts


def write_depfile(stamp: Path, reads: Path, build: Path, start: float, program: str) -> None:
    """Names the program where nothing else was read: without any file, CMake drops the depfile, and ninja runs the test always."""
    paths = {Path(line) for line in reads.read_text(errors="replace").splitlines()} if reads.exists() else set()
    used = sorted(str(path) for path in paths if is_dependency(path, build, start)) or [program]
    escaped = (re.sub(r"([ #])", r"\\\1", path).replace("$", "$$") for path in used)
    Path(f"{stamp}.d").write_text(f"{stamp}: " + " \\\n ".join(escaped) + "\n")


def keep(stamp: Path, outcome: Outcome, start: float) -> None:
    """The stamp, as old as the beginning of the test: a file that changes while it runs is newer. None of a failure."""
    failure = Path(f"{stamp}.failed")
    file = failure if outcome.failed else stamp
    file.write_text(json.dumps(asdict(outcome)) + "\n")
    os.utime(file, (start, start))
    (stamp if outcome.failed else failure).unlink(missing_ok=True)


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stamp", type=Path, help="the file to write; its name is the test's")
    parser.add_argument("--build", type=Path, required=True, help="the build directory, where the test runs")
    parser.add_argument("--reads", type=Path, help="libnw_test_reads.so; without it the test is run every time")
    parser.add_argument("--workload", type=Path, required=True, help="prints the CPU seconds of work that never changes (workload.c)")
    parser.add_argument("--timeout", type=float, default=TIMEOUT_SECONDS, metavar="SECONDS")
    parser.add_argument("-E", dest="environment", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("words", nargs="+", metavar="COMMAND")
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> int:
    options = parse(arguments)
    build, stamp = options.build.resolve(), options.build.resolve() / options.stamp
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, interrupted)
    stamp.parent.mkdir(parents=True, exist_ok=True)
    stamp.unlink(missing_ok=True)
    speed = workload(options.workload)
    scratch = Path(tempfile.mkdtemp(prefix=f"nibblewave-tests-{os.getpid()}-"))
    environment = os.environ | dict(text.split("=", 1) for text in options.environment) | {"TMPDIR": str(scratch)}
    reads = scratch / "reads"
    if options.reads:
        environment |= {"LD_PRELOAD": str(options.reads.resolve()), "NW_READS": str(reads), "NW_READS_BELOW": f"{ROOT}:{ROOT.parent / 'shared'}:{build}"}
    start = time.time()
    try:
        output, code, problem = run(options.words, options.timeout, environment, build)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        counts = judge(output, code, problem)
        outcome = Outcome(*counts, round(time.time() - start, 2), round(used.ru_utime + used.ru_stime, 2), speed, settings())
        if options.reads and outcome.passed:
            write_depfile(stamp, reads, build, start, options.words[0])
        else:  # what made it skip all of its tests, a setting or a missing package, is no file that it read
            Path(f"{stamp}.d").write_text(f"{stamp}: {stamp}.never\n")
        keep(stamp, outcome, start)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    report(stamp.name, output, outcome)
    return 1 if outcome.failed else 0


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.exit(main(sys.argv[1:]))
