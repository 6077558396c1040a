# SPDX-License-Identifier: MIT
"""Kernels with a seeded bug must be reported at the line that says so, and their clean twins not at all.

A file holds both: assembled with BUG=1 it has the bug, with BUG=0 it hasn't. The line that must be reported ends in
`// expect: CHECK`; the first lines say how to run it: `// run: gfx=gfx1151,gfx1201 block=64 ...`. Keys: gfx; lds,
scratch (bytes), wave64, dynamic (stack; 0 or 1), macros of the kernel; max (HIPSIM_MAX_INSTS); all others go
to bug_host.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
BUILD = Path(os.environ["NW_BUILD_DIR"])
HOST = BUILD / "bin" / "tests" / "bug_host"
CHECKS = ("mem", "init", "wait", "race", "fault")
MACROS = {"lds": "LDS", "scratch": "SCRATCH", "wave64": "WAVE64", "dynamic": "DYNAMIC"}
ERRORS = {"mem": {"hipErrorIllegalAddress"}, "fault": {"hipErrorLaunchFailure", "hipErrorLaunchTimeOut"}}
EXPECT = re.compile(r"//\s*expect:\s*(\w+)(?:\s+(\w+))?\s*$")


@dataclass(frozen=True)
class Bug:
    path: Path
    check: str
    rule: str | None
    line: int
    settings: dict[str, str]

    @property
    def name(self) -> str:
        return f"{self.path.parent.name}/{self.path.stem}"

    @property
    def gfx(self) -> list[str]:
        return self.settings["gfx"].split(",")


def read(path: Path) -> Bug:
    lines = path.read_text().splitlines()
    runs = [line.split("// run:", 1)[1].split() for line in lines if line.startswith("// run:")]
    expected = [(number, *match.groups()) for number, line in enumerate(lines, 1) if (match := EXPECT.search(line))]
    if len(runs) != 1 or len(expected) != 1:
        raise ValueError(f"{path}: needs one `// run:` line and one `// expect:` line, has {len(runs)}, {len(expected)}")
    line, check, rule = expected[0]
    if check not in CHECKS:
        raise ValueError(f"{path}:{line}: {check} is none of {', '.join(CHECKS)}")
    return Bug(path, check, rule, line, dict(setting.split("=", 1) for setting in runs[0]))


KEPT = BUILD / "tests/assembled_bugs"  # code objects by the text of what makes them: running the assembler takes longer than the kernels
LISTED = ("mem/load_before", "mem/bad_descriptor", "init/branch_on_nothing", "wait/lds", "race/lds_no_barrier")
BUGS = [read(path) for path in sorted(HERE.glob("*/*.s"))]


def assemble(bug: Bug, gfx: str, seeded: bool, folder: Path) -> Path:
    symbols = {"BUG": str(int(seeded))} | {macro: bug.settings.get(key, "0") for key, macro in MACROS.items()}
    wave64 = ["-mwavefrontsize64"] if symbols["WAVE64"] == "1" else []
    stem = folder / f"{bug.path.parent.name}_{bug.path.stem}_{gfx}_{symbols['BUG']}"
    obj, code = stem.with_suffix(".o"), stem.with_suffix(".hsaco")
    command = [os.environ["NW_CLANG"], "-target", "amdgcn-amd-amdhsa", f"-mcpu={gfx}", *wave64, "-mcode-object-version=5", "-g",
               "-I", str(HERE), *(f"-Wa,-defsym,{name}={value}" for name, value in symbols.items()), "-c", str(bug.path)]  # fmt: skip
    kept = KEPT / key(command, bug.path)
    if not kept.exists():
        subprocess.run([*command, "-o", str(obj)], check=True, capture_output=True, text=True)
        subprocess.run([os.environ["NW_LLD"], "-shared", str(obj), "-o", str(code)], check=True, capture_output=True)
        keep(code, kept)
    shutil.copy(kept, code)
    return code


def key(command: list[str], source: Path) -> str:
    """Digest of the command, the assembler's version and all inputs."""
    text = hashlib.sha256(repr((command, Path(command[0]).stat().st_mtime_ns)).encode())
    for path in (source, *sorted(HERE.glob("*.s"))):
        text.update(path.read_bytes())
    return text.hexdigest()


def keep(code: Path, kept: Path) -> None:
    KEPT.mkdir(parents=True, exist_ok=True)
    temporary = tempfile.NamedTemporaryFile(dir=KEPT, delete=False)
    with temporary, code.open("rb") as file:
        shutil.copyfileobj(file, temporary)
    Path(temporary.name).replace(kept)  # at once: another test may be reading


@dataclass(frozen=True)
class Outcome:
    error: str  # that the launch ended with
    said: str
    reports: list[dict]


def run(bug: Bug, gfx: str, code: Path, check: str, *more: str, **variables: str) -> Outcome:
    own = {"gfx", "max", *MACROS}
    arguments = [f"{key}={value}" for key, value in bug.settings.items() if key not in own] + [*more]
    report = code.with_suffix(f".{check}.json")
    environment = {key: value for key, value in os.environ.items() if not key.startswith("HIPSIM_")}
    environment |= {"HIPSIM_ARCH": gfx, "HIPSIM_CHECK": check, "HIPSIM_REPORT": str(report)} | variables
    if "max" in bug.settings and "leave=1" not in more:
        environment["HIPSIM_MAX_INSTS"] = bug.settings["max"]
    done = subprocess.run([HOST, code, *arguments], env=environment, capture_output=True, text=True, timeout=300)
    error = f"bug_host exited with {done.returncode}" if done.returncode else done.stdout.strip()
    return Outcome(error, done.stderr, [json.loads(line) for line in report.read_text().splitlines()])


def verdict(bug: Bug, seeded: bool, outcome: Outcome) -> list[str]:
    """Errors in the outcome."""
    if not seeded:
        silent = outcome.error == "hipSuccess" and not outcome.said and not outcome.reports
        return [] if silent else ["expected silence"]
    expected = ERRORS.get(bug.check, {"hipErrorLaunchFailure"})
    wrong = [] if outcome.error in expected else [f"expected {' or '.join(expected)}"]
    if len(outcome.reports) != 1:
        return [*wrong, f"{len(outcome.reports)} reports"]
    report, line = outcome.reports[0], f"{bug.path.name}:{bug.line}"
    wanted = {"check": bug.check, "kernel": "test"} | ({"rule": bug.rule} if bug.rule else {})
    wrong += [f"{key} is {report[key]}, not {value}" for key, value in wanted.items() if report[key] != value]
    lines = [report["line"]] + ([report["other"]["line"]] if report["other"] else [])  # a race is between two
    if line not in lines:
        wrong.append(f"{line} is not {' or '.join(lines)}")
    if report["message"] not in outcome.said or line not in outcome.said:
        wrong.append("the text lacks the report's message or line")
    return wrong


def complaints(bug: Bug, gfx: str, seeded: bool, folder: Path) -> list[str]:
    try:
        code = assemble(bug, gfx, seeded, folder)
    except subprocess.CalledProcessError as error:
        return [f"{bug.name} {gfx}: {error.stderr}"]
    found = []
    for check in ("off" if bug.check in ("mem", "fault") else bug.check, "all"):
        outcome = run(bug, gfx, code, check)
        if wrong := verdict(bug, seeded, outcome):
            where = f"{bug.name} {gfx} {'bug' if seeded else 'twin'} HIPSIM_CHECK={check}"
            found.append(f"{where}: {'; '.join(wrong)}; {outcome.error}: {outcome.said}")
    return found


class Bugs(unittest.TestCase):
    maxDiff = None

    def test_there_are_pairs_of_every_check(self) -> None:
        counts = {check: sum(bug.check == check for bug in BUGS) for check in CHECKS}
        self.assertGreaterEqual(sum(counts.values()), 130, counts)
        self.assertGreaterEqual(min(counts.values()), 15, counts)

    def test_every_kernel_is_in_the_folder_of_its_check(self) -> None:
        self.assertEqual([bug.name for bug in BUGS if bug.path.parent.name != bug.check], [])

    def judge(self, check: str) -> None:
        with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor() as pool:
            jobs = [(bug, gfx, seeded, Path(folder))
                    for bug in BUGS if bug.path.parent.name == check
                    for gfx in bug.gfx
                    for seeded in (True, False)]
            self.assertTrue(jobs, f"no kernels in {HERE / check}")
            found = [text for texts in pool.map(lambda job: complaints(*job), jobs) for text in texts]
        self.assertEqual(found, [], "\n".join(found))


class Reports(unittest.TestCase):
    """Fields of a report besides check and line."""

    def outcome(self, name: str, *more: str, check: str = "off", **variables: str) -> Outcome:
        bug = next(bug for bug in BUGS if bug.name == name)
        with tempfile.TemporaryDirectory() as folder:
            return run(bug, bug.gfx[0], assemble(bug, bug.gfx[0], True, Path(folder)), check, *more, **variables)

    def test_who_made_and_who_freed_the_memory(self) -> None:
        past = self.outcome("mem/store_past_end").reports[0]["allocation"]
        self.assertRegex(past, r"^the nearest allocation is hipMalloc #1, 256 bytes at 0x\w+: 0 bytes past its end$")
        freed = self.outcome("mem/use_after_free").reports[0]["allocation"]
        self.assertRegex(freed, r"^it is in hipMalloc #2, 4096 bytes at 0x\w+, which hipFree has freed$")

    def test_the_access_and_the_work_item(self) -> None:
        for name, lane, thread in (("mem/store_past_end", 31, 63), ("mem/wave64_past_end", 63, 63)):
            report = self.outcome(name).reports[0]
            self.assertEqual((report["access"], report["bytes"], report["lane"], report["thread"]), ("write", 4, lane, [thread, 0, 0]), name)

    def test_the_other_access_of_a_race(self) -> None:
        report = self.outcome("race/lds_no_barrier", check="race").reports[0]
        self.assertEqual((report["space"], report["wave"], report["lane"]), ("lds", 1, 0))
        self.assertIn("ds_store_b32 v1, v0", report["instruction"])
        other = report["other"]
        self.assertEqual((other["wave"], other["workgroup"], other["kernel"]), (0, [0, 0, 0], "test"))
        self.assertIn("ds_load_b32 v3, v2", other["instruction"])
        self.assertRegex(other["line"], r"^lds_no_barrier\.s:\d+$")

    def test_the_same_report_in_every_run(self) -> None:
        texts = {re.sub(r"0x\w+", "", self.outcome("race/global_groups", check="all", HIPSIM_THREADS=threads).said)
                 for threads in "1247"}
        self.assertEqual(len(texts), 1, texts)

    def test_the_state_of_the_wave(self) -> None:
        said = self.outcome("fault/trap", HIPSIM_DUMP="1").said
        for part in (r"-> 0x\w+  s_trap 2", "EXEC ffffffff  VCC", "LDS 0 bytes", "the wave runs", r"\bs8 00000000",
                     r"v0 +00000000 00000001 00000002", r"v1 +00000000 00000004 00000008"):
            self.assertRegex(said, part)
        self.assertNotRegex(said, r"\bv2\b")  # poison
        self.assertNotIn("EXEC", self.outcome("fault/trap").said)

    def test_every_fault_lists_the_state_of_its_wave(self) -> None:
        for bug in BUGS:
            if bug.path.parent.name != "fault" and bug.name not in LISTED:
                continue
            check = "off" if bug.check in ("mem", "fault") else bug.check
            outcome = self.outcome(bug.name, check=check, HIPSIM_DUMP="1")
            with self.subTest(bug.name):
                report = outcome.reports[0]
                self.assertRegex(outcome.said, r"kernel test, workgroup \(\d+, 0, 0\), wave \d+\n  pc 0x\w+ \(test \+ 0x")
                self.assertIn(f"-> {report['pc']}", report["dump"])
                for part in ("EXEC", "MODE", "the wave", "live waves have signalled", r"\bs4\b", r"\bv0\b"):
                    self.assertRegex(report["dump"], part)
                self.assertIn(report["dump"], outcome.said)

    def test_what_is_out_of_scope_is_named(self) -> None:
        for name, words in {"image": ("image_msaa_load", "(image: "), "export": ("export", "(graphics"),
                            "gws": ("ds_gws_barrier", "GDS")}.items():
            said = self.outcome(f"fault/{name}").said
            for word in words:
                self.assertIn(word, said)

    def test_a_deadlock_says_who_is_missing(self) -> None:
        said = self.outcome("fault/named_barrier_alone", HIPSIM_DUMP="1").said
        self.assertIn("1 of 1 live waves wait, this one at barrier 5: 1 of its 2 members have signalled", said)
        self.assertIn("it has joined barrier 5, 1 of whose 2 members have signalled", said)

    def test_a_running_kernel_does_not_hold_up_the_exit(self) -> None:
        outcome = self.outcome("fault/endless", "leave=1")  # run() has a time limit, the kernel none
        self.assertEqual((outcome.error, outcome.said, outcome.reports), ("", "", []))


for name in sorted({bug.path.parent.name for bug in BUGS}):
    setattr(Bugs, f"test_{name}", lambda self, name=name: self.judge(name))

if __name__ == "__main__":
    unittest.main()
