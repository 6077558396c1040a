# SPDX-License-Identifier: MIT
"""nw lint: the kernels of the build are clean; seeded bugs are found, their clean twins are not; what is meant or known."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SOURCE = Path(os.environ["NW_SOURCE_DIR"])
BUILD = Path(os.environ["NW_BUILD_DIR"])
sys.path[:0] = [str(SOURCE / "tests/nw"), str(SOURCE / "tests/check_bugs"), str(SOURCE / "tests/lint"), str(SOURCE / "tests/check")]

import test_bugs as bugs  # noqa: E402  (the kernels, and how they are assembled)
from command import nw  # noqa: E402
from kernel_text import kernel  # noqa: E402
from thorough import kernels_of_tier  # noqa: E402

# Clean twins that break the letter of a rule, with the reason why that is correct there.
MEANT = {
    "fault/branch_out_of_code": "F-001",  # the branch is never taken
    "fault/call_wild": "F-004",  # the bug's code is there, and not called
    "race/block_store": "R-001",  # stores those of a block that M0 says
    "race/buffer_atomic": "F-005",  # one lane at a barrier
}
LATE = """        s_load_b64      s[4:5], s[0:1], 0x0
        s_add_u32       s6, s4, 1{comment}
        s_endpgm"""


def findings_of(paths: list[Path], *more: str) -> list[list[dict]]:
    """The findings of each file."""
    done = nw("lint", *paths, "--json", *more)
    if done.returncode not in (0, 1):
        raise AssertionError(done.stderr)
    return [file["findings"] for file in json.loads(done.stdout)]


def findings(path: Path, *more: str) -> list[dict]:
    (rows,) = findings_of([path], *more)
    return rows


class Collection(unittest.TestCase):
    def test_every_kernel_is_clean(self) -> None:
        """On one target of each series; in --all on every target."""
        files = kernels_of_tier(BUILD, "hsaco", ".hsaco")
        self.assertGreater(len(files), 1000)
        begin = time.monotonic()
        done = nw("lint", *files)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout[:4000])
        self.assertRegex(done.stdout, rf"^{len(files)} kernels: 0 errors, 0 warnings")
        print(f"{len(files)} kernels in {time.monotonic() - begin:.1f} s")


class Bugs(unittest.TestCase):
    def verdict(self, bug: bugs.Bug, gfx: str, seeded: bool, rows: list[dict]) -> str:
        where = f"{bug.name} {gfx} {'bug' if seeded else 'twin'}"
        if not seeded:
            rows = [row for row in rows if row["rule"] != MEANT.get(bug.name)]
            return f"{where}: {rows}" if rows else ""
        lines = {row["line"] for row in rows} | {row["other"]["line"] for row in rows if "other" in row}
        return f"{where}: {rows}" if bug.check == "wait" and bug.line not in lines else ""

    def test_each_wait_and_hazard_at_its_line_and_no_twin(self) -> None:
        jobs = [(bug, gfx, seeded) for bug in bugs.BUGS for gfx in bug.gfx for seeded in (True, False) if bug.check == "wait" or not seeded]
        with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor() as pool:
            files = list(pool.map(lambda job: bugs.assemble(*job, Path(folder)), jobs))
            found = findings_of(files, "--kernel", "test")
        self.assertEqual(len(found), len(jobs))
        wrong = [text for job, rows in zip(jobs, found) if (text := self.verdict(*job, rows))]
        self.assertGreater(len(jobs), 300)
        self.assertEqual(wrong, [], "\n".join(wrong))


class Command(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def source(self, comment: str = "") -> Path:
        path = self.folder / "late.s"
        path.write_text(kernel("late", LATE.format(comment=comment)))
        return path

    def lint(self, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        return nw("lint", *arguments)

    def test_text(self) -> None:
        done = self.lint(self.source())
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        for part in ("late.s:8: error W-001: s4 is read while s_load_b64 s[4:5], s[0:1], null, which writes it, is in flight",
                     "after ", "late.s:7: s_load_b64", "fix: put s_waitcnt lgkmcnt(0) before", "1 kernels: 1 errors, 0 warnings"):
            self.assertIn(part, done.stdout)

    def test_json_and_sarif(self) -> None:
        (row,) = findings(self.source())
        self.assertEqual((row["rule"], row["severity"], row["kernel"], row["line"], row["offset"]), ("W-001", "error", "late", 8, 8))
        self.assertEqual((row["other"]["line"], row["fix"]), (7, "put s_waitcnt lgkmcnt(0) before"))
        (run,) = json.loads(self.lint(self.source(), "--sarif").stdout)["runs"]
        (result,) = run["results"]
        self.assertIn(result["ruleId"], [rule["id"] for rule in run["tool"]["driver"]["rules"]])
        place = result["locations"][0]["physicalLocation"]
        self.assertEqual((place["artifactLocation"]["uri"], place["region"]["startLine"]), (str(self.folder / "late.s"), 8))

    def test_what_is_meant_needs_a_reason(self) -> None:
        for comment, code in [("   // nw lint: W-001 the value doesn't matter", 0), ("   // nw lint: W-001", 1),
                              ("   // nw lint: W-002 another rule", 1)]:  # fmt: skip
            done = self.lint(self.source(comment))
            self.assertEqual(done.returncode, code, done.stdout)
        self.assertIn("1 suppressed", self.lint(self.source("   // nw lint: W-001 why")).stdout)

    def test_baseline(self) -> None:
        known = self.folder / "known.json"
        self.assertEqual(self.lint(self.source(), "--write-baseline", known).returncode, 1)
        self.assertEqual(self.lint(self.source(), "--baseline", known).returncode, 0)
        other = self.folder / "other.s"
        other.write_text(kernel("late", LATE.format(comment="").replace("s_add_u32", "s_sub_u32")))
        self.assertEqual(self.lint(other, "--baseline", known).returncode, 1)
        known.write_text("{}")
        done = self.lint(self.source(), "--baseline", known)
        self.assertEqual(done.returncode, 2)
        self.assertIn("write it with --write-baseline", done.stderr)

    def test_unusable_files(self) -> None:
        empty, text = self.folder / "empty.hsaco", self.folder / "text.hsaco"
        empty.write_bytes(b"")
        text.write_text("hello")
        wrong = self.folder / "wrong.s"
        wrong.write_text('.amdgcn_target "amdgcn-amd-amdhsa--gfx1151"\nv_nonsense v0\n')
        for path in (empty, text, wrong, self.folder / "missing.s", self.folder):
            done = self.lint(path)
            self.assertEqual((done.returncode, done.stdout), (2, ""), path)
            self.assertIn(str(path), done.stderr)
        done = self.lint(self.source(), "--kernel", "nobody")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("--kernel nobody: ", done.stderr)


if __name__ == "__main__":
    unittest.main()
