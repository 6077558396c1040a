# SPDX-License-Identifier: MIT
"""bench/compare.py: its rows are what the bench prints now, and bench/compare.svg is drawn from them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import unittest
from dataclasses import replace
from pathlib import Path

SOURCE, BUILD = Path(os.environ["NW_SOURCE_DIR"]), Path(os.environ["NW_BUILD_DIR"])
sys.path[:0] = [str(SOURCE / "bench")]

import compare  # noqa: E402

PICTURE = SOURCE / "bench/compare.svg"
# Seconds of a core; --all: every row, ten minutes.
ONLY = "" if os.environ.get("NW_TIER") == "all" else "^decode (2560x2560|8192x512)$"


def drawn() -> str:
    python = "/usr/bin/python3" if Path("/usr/bin/python3").exists() else sys.executable  # with matplotlib
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "picture.svg")
        done = subprocess.run([python, SOURCE / "bench/compare.py", "--draw", file], capture_output=True, text=True)
        if "no matplotlib" in done.stderr:
            raise unittest.SkipTest(done.stderr)
        if done.returncode:
            raise AssertionError(done.stderr)
        return file.read_text()


def version(svg: str) -> str:
    return re.search(r"Matplotlib v[\d.]+", svg)[0]


class Rows(unittest.TestCase):
    maxDiff = None

    def test_every_published_figure_has_a_row(self) -> None:
        rows = {f"{row.table} {row.name}" for row in compare.read()}
        self.assertEqual(rows, {name for name, _ in compare.jobs()})

    def test_rows_are_what_is_measured(self) -> None:
        now = compare.measure(BUILD, ONLY)
        names = {(row.table, row.name) for row in now}
        kept = [row for row in compare.read() if (row.table, row.name) in names]
        self.assertEqual(compare.text(kept), compare.text(now))

    def test_a_renewed_row_keeps_its_place(self) -> None:
        rows = compare.read()
        changed = replace(rows[1], sim=1.0)
        self.assertEqual(compare.renewed(rows, [changed]), [rows[0], changed, *rows[2:]])

    def test_an_unknown_name_is_refused(self) -> None:
        with self.assertRaisesRegex(SystemExit, "--only no such: no product or model"):
            compare.measure(BUILD, "no such")

    def test_the_file_is_as_written(self) -> None:
        self.assertEqual(compare.FILE.read_text(), compare.text(compare.read()))


class Picture(unittest.TestCase):
    def test_it_is_drawn_from_the_rows(self) -> None:
        """Every byte by the same matplotlib; else the same texts."""
        kept, now = PICTURE.read_text(), drawn()
        if version(kept) == version(now):
            self.assertEqual(kept, now)
        texts = re.compile(r"<text[^>]*>(.*?)</text>", re.DOTALL)
        self.assertEqual(texts.findall(kept), texts.findall(now))

    def test_it_is_readable_on_white_and_on_black(self) -> None:
        """No background, no black or white ink; contrast of 3 at least with both pages of GitHub."""
        svg = PICTURE.read_text()
        self.assertNotIn("fill: #ffffff", svg)
        used = set(re.findall(r"(?:fill|stroke): (#[0-9a-f]{6})", svg)) - {"#b0b0b0"}  # matplotlib's lines of the grid
        self.assertEqual(used, {compare.INK, compare.OURS, compare.THEIRS, compare.OTHERS})
        for color in used:
            for page in ("#ffffff", "#0d1117"):
                self.assertGreater(contrast(color, page), 3, f"{color} on {page}")


def contrast(first: str, second: str) -> float:
    """By WCAG: (L1 + 0.05) / (L2 + 0.05) of relative luminances."""

    def luminance(color: str) -> float:
        parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


if __name__ == "__main__":
    unittest.main()
