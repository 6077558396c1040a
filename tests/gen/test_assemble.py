# SPDX-License-Identifier: MIT
"""gen/assemble.py: an object derived from another target's is byte-identical to the assembler's."""

from __future__ import annotations

import dataclasses
import itertools
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

from generator import BUILD, assemble, tools

KERNELS = 3  # of a pair of targets


def same_code_as(gfx: str, other: str) -> list[Path]:
    """Kernels of `other`, spread over all that `gfx` has, too, with the same code."""
    both = [s for s in sorted((BUILD / "asm" / other).glob("*.s")) if (BUILD / "asm" / gfx / s.name).exists()]
    alike = [s for s in both[:: max(len(both) // 20, 1)] if assemble.code_of(s, other) == assemble.code_of(BUILD / "asm" / gfx / s.name, gfx)]
    return alike[:: max(len(alike) // KERNELS, 1)]


def copied(source: Path, build: Path) -> tuple[Path, Path]:
    """And where its object goes."""
    gfx = source.parent.name
    (build / "asm" / gfx).mkdir(parents=True)
    return Path(shutil.copy(source, build / "asm" / gfx)), build / "hsaco" / gfx / f"{source.stem}.hsaco"


class Assemble(unittest.TestCase):
    def setUp(self) -> None:
        self.programs = assemble.Programs(tools())
        self.addCleanup(self.programs.close)

    def assembled(self, source: Path, build: Path) -> Path:
        source, target = copied(source, build)
        self.assertEqual(assemble.assemble(tools(), self.programs, source, target), "")
        return target

    def test_made_of_another_targets_object(self) -> None:
        built = [gfx for gfx in assemble.MACHINES if (BUILD / "asm" / gfx).is_dir()]
        pairs = 0
        for gfx, other in zip(built, built[1:]):
            for theirs in same_code_as(gfx, other):
                with self.subTest(gfx=gfx, other=other, kernel=theirs.stem), tempfile.TemporaryDirectory() as folder:
                    both, alone = Path(folder, "both"), Path(folder, "alone")
                    ours = BUILD / "asm" / gfx / theirs.name
                    self.assembled(theirs, both)
                    with unittest.mock.patch.object(assemble, "run", return_value="made anew"):
                        alike = self.assembled(ours, both)
                    made = self.assembled(ours, alone)
                    self.assertEqual(alike.read_bytes(), made.read_bytes())
                    self.assertEqual(alike.stat().st_mode, made.stat().st_mode)
                    pairs += 1
        self.assertGreater(pairs, len(built) // 2)

    def test_side_by_side_each_text_is_assembled_once(self) -> None:
        built = [gfx for gfx in assemble.MACHINES if (BUILD / "asm" / gfx).is_dir()]
        twins, alike = next((pair, found) for pair in itertools.combinations(built, 2) if (found := same_code_as(*pair)))
        with tempfile.TemporaryDirectory() as folder:
            build, counted, clang = Path(folder, "build"), Path(folder, "counted"), Path(folder, "clang")
            clang.write_text(f"#!/bin/sh\necho >> {counted}\nexec {tools().clang} \"$@\"\n")
            clang.chmod(0o755)
            for gfx in twins:
                (build / "asm" / gfx).mkdir(parents=True)
                for source in alike:
                    shutil.copy(BUILD / "asm" / gfx / source.name, build / "asm" / gfx)
            command = [sys.executable, "-B", assemble.__file__, build, "--clang", clang, "--lld", tools().lld, "--fork-server", tools().fork_server]
            both = [subprocess.Popen(command) for _ in twins]
            self.assertEqual([process.wait() for process in both], [0, 0])
            self.assertEqual(len(counted.read_text()), len(alike))
            self.assertEqual(len([*build.glob("hsaco/*/*.hsaco")]), 2 * len(alike))

    def test_a_program_that_cannot_be_loaded_once_is_started_for_each_command(self) -> None:
        source = min((BUILD / "asm").glob("*/*.s"), key=lambda file: file.stat().st_size)
        with tempfile.TemporaryDirectory() as folder:
            nothing = Path(folder, "nothing.so")
            once, anew = self.assembled(source, Path(folder, "once")), Path(folder, "anew")
            self.programs = assemble.Programs(dataclasses.replace(tools(), fork_server=str(nothing)))
            self.addCleanup(self.programs.close)
            self.assertEqual(self.assembled(source, anew).read_bytes(), once.read_bytes())

    def test_other_code_is_told_from_comments(self) -> None:
        texts = ["// a gfx1151\n        s_nop 0\n", "  // b\n        s_nop 0\n", "// a\n        s_nop 1\n", "// a\n        s_nop 0\n        s_nop 0\n", "// s_nop 0\n"]
        with tempfile.TemporaryDirectory() as folder:
            kept = []
            for gfx, text in [("gfx1151", texts[0]), ("gfx1100", texts[0].replace("gfx1151", "gfx1100")), *(("gfx1151", text) for text in texts[1:])]:
                source = Path(folder, "asm", gfx, "kernel.s")
                source.parent.mkdir(parents=True, exist_ok=True)
                source.write_text(text)
                kept.append(assemble.stored(tools(), source))
        self.assertEqual(kept[0], kept[1])
        self.assertEqual(kept[0], kept[2])
        self.assertEqual(len(set(kept)), 4)

    def test_as_clang_alone_would_make_it(self) -> None:
        """The build's tool chain for one command more: what a user's own clang makes of a text."""
        source = min((BUILD / "asm").glob("*/*.s"), key=lambda file: file.stat().st_size)
        with tempfile.TemporaryDirectory() as folder:
            made = self.assembled(source, Path(folder))
            words = next(assemble.commands(tools(), source.parent.name, source, Path(), Path(folder, "by_clang")))
            at = words.index("-c")
            subprocess.run([*words[:at], source.name, "-o", Path(folder, "by_clang")], check=True, cwd=source.parent)
            self.assertEqual(made.read_bytes(), Path(folder, "by_clang").read_bytes())
            self.assertEqual([file.suffix for file in made.parent.iterdir()], [".hsaco"])

    def test_says_what_does_not_assemble(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder, "asm/gfx1151/wrong.s")
            source.parent.mkdir(parents=True)
            source.write_text("        s_wrong 1\n")
            said = assemble.assemble(tools(), self.programs, source, Path(folder, "hsaco/gfx1151/wrong.hsaco"))
            self.assertIn("wrong.s:1:9: error", said)
            self.assertEqual(list(Path(folder, "hsaco/gfx1151").iterdir()), [])


if __name__ == "__main__":
    unittest.main()
