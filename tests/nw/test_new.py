# SPDX-License-Identifier: MIT
"""nw new: each kernel that it writes is assembled or compiled for each target that can run it, is clean by all checkers (in
assembly also by nw lint), and gives what plain Python gives, to the bit: values are small multiples of 1/8, so that sums are exact.
WMMA alone rounds."""

from __future__ import annotations

import os
import random
import re
import shlex
import sys
import tempfile
import unittest
from pathlib import Path

import npy
from command import BUILD, nw

sys.path[:0] = [str(Path(__file__).parents[1] / "check")]

from thorough import thorough  # noqa: E402

ALL_TIER = os.environ.get("NW_TIER") == "all"
KINDS = ["elementwise", "reduction", "lds-tile", "wmma-tile", "pipelined"]


def all_targets() -> list[str]:
    said = nw("isa", "--gfx", "none").stderr
    return re.findall(r"gfx\d+", said.partition("choose one of")[2])


def runs(kind: str, gfx: str) -> bool:
    return kind != "wmma-tile" or not gfx.startswith("gfx10")


def eighths(count: int) -> list[float]:
    return [random.randrange(-16, 17) / 8 for _ in range(count)]


class Case:
    """Inputs of a kernel and its command line."""

    def __init__(self, folder: Path, kind: str) -> None:
        self.folder = folder
        getattr(self, kind.replace("-", "_"))()

    def array(self, name: str, shape: tuple[int, ...], values: list[float], descr: str = "<f4") -> str:
        return f"{name}=npy:{npy.write(self.folder / f'{name}.npy', descr, shape, values)}"

    def wants(self, name: str, values: list[float]) -> None:
        want = npy.write(self.folder / "want.npy", "<f4", (len(values),), values)
        self.compare = f"{name}:{want}"

    def elementwise(self) -> None:
        n = 1000
        x = eighths(n)
        self.grid = "4"
        self.args = [self.array("x", (n,), x), f"y=buf:{4 * n}", "a=f32:1.5", "b=f32:-0.25", f"n=u32:{n}"]
        self.wants("y", [1.5 * value - 0.25 for value in x])

    def reduction(self) -> None:
        rows, k = 3, 777
        x = eighths(rows * k)
        self.grid = str(rows)
        self.args = [self.array("x", (rows, k), x), f"y=buf:{4 * rows}", f"k=u32:{k}"]
        self.wants("y", [sum(x[row * k : (row + 1) * k]) for row in range(rows)])

    def lds_tile(self) -> None:
        rows, cols = 64, 96
        x = eighths(rows * cols)
        self.grid = f"{cols // 32},{rows // 32}"
        self.args = [self.array("x", (rows, cols), x), f"y=buf:{4 * rows * cols}", f"rows=u32:{rows}", f"cols=u32:{cols}"]
        self.wants("y", [x[r * cols + c] for c in range(cols) for r in range(rows)])

    def wmma_tile(self) -> None:
        m, n, k = 32, 48, 64
        a, b = eighths(m * k), eighths(n * k)
        self.grid = f"{n // 16},{m // 16}"
        self.args = [self.array("a", (m, k), a, "<f2"), self.array("b", (n, k), b, "<f2"), f"c=buf:{4 * m * n}", f"n=u32:{n}", f"k=u32:{k}"]
        self.wants("c", [sum(a[i * k + step] * b[j * k + step] for step in range(k)) for i in range(m) for j in range(n)])
        self.compare += ":2e-5"  # WMMA truncates as DOT2 (S-004): by an ulp of a partial sum below 64, 3.8e-6, in each of 4 steps

    def pipelined(self) -> None:
        rows, k = 3, 128 * 5
        x, w = eighths(rows * k), eighths(k)
        self.grid = str(rows)
        self.args = [self.array("x", (rows, k), x), self.array("w", (k,), w), f"y=buf:{4 * rows}", f"k=u32:{k}"]
        self.wants("y", [sum(x[row * k + i] * w[i] for i in range(k)) for row in range(rows)])


class New(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def said(self, *arguments: str | Path) -> str:
        done = nw(*arguments, cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        return done.stdout

    def right_everywhere(self, kind: str, suffix: str, targets: list[str]) -> None:
        source = self.folder / f"mine{suffix}"
        self.said("new", source, "--kind", kind)
        self.assertNotIn(kind.replace("-", "_"), source.read_text())
        case = Case(self.folder, kind)
        for gfx in targets:
            with self.subTest(kind=kind, gfx=gfx, suffix=suffix):
                said = self.said("run", source, "--gfx", gfx, "--grid", case.grid, "--args", *case.args, "--check", "all", "--compare", case.compare)
                self.assertIn(f"mine on sim {gfx}", said)
                self.assertIn(" agree with " if kind == "wmma-tile" else "all equal", said)
                if suffix == ".s":  # compilers' code: tests/lint
                    self.said("lint", source, "--gfx", gfx)

    def test_assembly(self) -> None:
        targets = all_targets()
        self.assertGreater(len(targets), 15)
        for kind in KINDS:
            self.right_everywhere(kind, ".s", [gfx for gfx in targets if runs(kind, gfx)])
            (self.folder / "mine.s").unlink()

    def test_hip(self) -> None:
        for kind in KINDS:
            self.right_everywhere(kind, ".hip", [gfx for gfx in (all_targets() if ALL_TIER else thorough(BUILD)) if runs(kind, gfx)])
            (self.folder / "mine.hip").unlink()

    def test_the_commands_in_a_kernel_run(self) -> None:
        for kind in KINDS:
            for suffix in (".s", ".hip"):
                said = self.said("new", f"k_{kind[:3]}{suffix}", "--kind", kind)
                commands = [shlex.split(line) for line in said.splitlines() if line.startswith("  nw ")]
                self.assertEqual([words[:2] for words in commands], [["nw", "run"], ["nw", "time"]])
                for words in commands:
                    with self.subTest(words=words):
                        self.said(*words[1:])

    def test_wmma_is_refused_where_there_is_none(self) -> None:
        for suffix in (".s", ".hip"):
            self.said("new", f"tile{suffix}", "--kind", "wmma-tile")
            done = nw("run", f"tile{suffix}", "--gfx", "gfx1030", cwd=self.folder)
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"tile{suffix}:", done.stderr)
            self.assertIn("gfx1100", done.stderr.rpartition("wmma")[2] if suffix == ".s" else done.stderr)
            self.assertNotIn("gfx1010", done.stderr)

    def test_names(self) -> None:
        self.assertIn("plain.s: elementwise kernel", self.said("new", "plain"))
        self.assertIn("plain.hip: ", self.said("new", "plain", "--hip"))
        for arguments, words in [
            (["plain.s"], ["plain.s: exists"]), (["a.cu"], ["a.cu: must end with .s or .hip"]), (["b.s", "--hip"], ["--hip b.s"]),
            (["2x.s"], ["'2x' names the kernel"]), (["no/such/folder/x.s"], ["no/such/folder/x.s: No such file"]),
            (["x.s", "--kind", "fft"], ["fft", "pipelined"]), ([], ["file"]),
        ]:  # fmt: skip
            with self.subTest(arguments=arguments):
                done = nw("new", *arguments, cwd=self.folder)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                for word in words:
                    self.assertIn(word, done.stderr)


if __name__ == "__main__":
    unittest.main()
