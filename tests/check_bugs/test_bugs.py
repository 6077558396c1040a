# SPDX-License-Identifier: MIT
"""Kernels with a seeded bug must be reported at the line that says so, and their clean twins not at all.

A file holds both: assembled with BUG=1 it has the bug, with BUG=0 it hasn't. The line that must be reported ends in
`// expect: CHECK`; the first lines say how to run it: `// run: gfx=gfx1151,gfx1201 block=64 ...`. Keys: gfx; lds,
scratch (bytes), wave64 (0 or 1), macros of the kernel; max (HIPSIM_MAX_INSTS); all
others go to bug_host.
"""

from __future__ import annotations

import os
import re
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
MACROS = {"lds": "LDS", "scratch": "SCRATCH", "wave64": "WAVE64"}
ERRORS = {"mem": {"hipErrorIllegalAddress"}, "fault": {"hipErrorLaunchFailure", "hipErrorLaunchTimeOut"}}
EXPECT = re.compile(r"//\s*expect:\s*(\w+)(?:\s+(\w+))?\s*$")


@dataclass(frozen=True)
class Bug:
    path: Path
    check: str
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
    line, check, _ = expected[0]
    if check not in CHECKS:
        raise ValueError(f"{path}:{line}: {check} is none of {', '.join(CHECKS)}")
    return Bug(path, check, line, dict(setting.split("=", 1) for setting in runs[0]))


BUGS = [read(path) for path in sorted(HERE.glob("*/*.s"))]


def assemble(bug: Bug, gfx: str, seeded: bool, folder: Path) -> Path:
    symbols = {"BUG": str(int(seeded))} | {macro: bug.settings.get(key, "0") for key, macro in MACROS.items()}
    wave64 = ["-mwavefrontsize64"] if symbols["WAVE64"] == "1" else []
    stem = folder / f"{bug.path.parent.name}_{bug.path.stem}_{gfx}_{symbols['BUG']}"
    obj, code = stem.with_suffix(".o"), stem.with_suffix(".hsaco")
    subprocess.run(
        [os.environ["NW_CLANG"], "-target", "amdgcn-amd-amdhsa", f"-mcpu={gfx}", *wave64, "-mcode-object-version=5", "-g",
         "-I", str(HERE), *(f"-Wa,-defsym,{name}={value}" for name, value in symbols.items()), "-c", str(bug.path),
         "-o", str(obj)],
        check=True, capture_output=True, text=True,
    )
    subprocess.run([os.environ["NW_LLD"], "-shared", str(obj), "-o", str(code)], check=True, capture_output=True)
    return code


def run(bug: Bug, gfx: str, code: Path, check: str) -> tuple[str, str]:
    """The error that the launch ended with, and what was said about it."""
    own = {"gfx", "max", *MACROS}
    arguments = [f"{key}={value}" for key, value in bug.settings.items() if key not in own]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("HIPSIM_")}
    environment |= {"HIPSIM_ARCH": gfx, "HIPSIM_CHECK": check}
    if "max" in bug.settings:
        environment["HIPSIM_MAX_INSTS"] = bug.settings["max"]
    done = subprocess.run([HOST, code, *arguments], env=environment, capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        return f"bug_host exited with {done.returncode}", done.stderr
    return done.stdout.strip(), done.stderr


def complaints(bug: Bug, gfx: str, seeded: bool, folder: Path) -> list[str]:
    try:
        code = assemble(bug, gfx, seeded, folder)
    except subprocess.CalledProcessError as error:
        return [f"{bug.name} {gfx}: {error.stderr}"]
    own_check = "off" if bug.check in ("mem", "fault") else bug.check
    found = []
    for check in (own_check, "all"):
        error, said = run(bug, gfx, code, check)
        where = f"{bug.name} {gfx} {'bug' if seeded else 'twin'} HIPSIM_CHECK={check}"
        if not seeded:
            if error != "hipSuccess" or said:
                found.append(f"{where}: expected silence, got {error}: {said}")
            continue
        if error not in ERRORS.get(bug.check, {"hipErrorLaunchFailure"}):
            found.append(f"{where}: ended with {error}: {said}")
        if f"{bug.path.name}:{bug.line}" not in said:
            found.append(f"{where}: no report of {bug.path.name}:{bug.line} in: {said}")
        if bug.check in ("init", "wait", "race") and f"{bug.check}: " not in said:
            found.append(f"{where}: not reported by {bug.check}: {said}")
    return found


class Bugs(unittest.TestCase):
    maxDiff = None

    def judge(self, check: str) -> None:
        with tempfile.TemporaryDirectory(dir=BUILD) as folder, ThreadPoolExecutor() as pool:
            jobs = [(bug, gfx, seeded, Path(folder))
                    for bug in BUGS if bug.path.parent.name == check
                    for gfx in bug.gfx
                    for seeded in (True, False)]
            self.assertTrue(jobs, f"no kernels in {HERE / check}")
            found = [text for texts in pool.map(lambda job: complaints(*job), jobs) for text in texts]
        self.assertEqual(found, [], "\n".join(found))


for name in sorted({bug.path.parent.name for bug in BUGS}):
    setattr(Bugs, f"test_{name}", lambda self, name=name: self.judge(name))

if __name__ == "__main__":
    unittest.main()
