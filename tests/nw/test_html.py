# SPDX-License-Identifier: MIT
"""HTML pages fit: labels of graphs are inside of their boxes, and what may be wide scrolls by itself."""

from __future__ import annotations

import itertools
import json
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from command import BUILD, DECODE, DECODE_ARGS, SOURCE, nw

ADVANCE = 11 * 0.602  # pixels a character of the graph's 11 px font: DejaVu Sans Mono and Menlo, of common ones the widest
KERNELS = [DECODE, BUILD / "hsaco/gfx1151/moe_align.hsaco", BUILD / "hsaco/gfx1151/prefill_w4a16_f16_g128_256x128.hsaco"]
NODE = re.compile(
    r'<rect class="box" x="(\d+)" y="(\d+)" width="(\d+)" height="(\d+)" rx="4"/>'
    r'<svg x="(\d+)" y="(\d+)" width="(\d+)" height="(\d+)"><text x="(\d+)" y="(\d+)">([^<]+)</text></svg>'
)


def info_page(kernel: Path) -> str:
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder, "page.html")
        done = nw("info", kernel, "--html", page)
        assert done.returncode == 0, done.stderr
        return page.read_text()


def tables_outside_of(text: str, container: str) -> int:
    """Number of tables of a page that are not directly in such a container."""
    return text.count("<table") - len(re.findall(rf"{container}(?:<svg.*?</svg>)?\s*<table", text, re.DOTALL))


class Graph(unittest.TestCase):
    def test_labels_are_inside_of_their_boxes(self) -> None:
        for kernel in KERNELS:
            with self.subTest(kernel.stem):
                nodes = NODE.findall(info_page(kernel))
                self.assertGreater(len(nodes), 10)
                for *numbers, label in nodes:
                    x, _, width, height, *clip, at, baseline = map(int, numbers)
                    self.assertEqual(clip, [x, int(numbers[1]), width, height])  # an inner <svg> clips
                    self.assertLessEqual(at + ADVANCE * len(label), width - 2, label)
                    self.assertLess(baseline, height)

    def test_boxes_are_apart(self) -> None:
        for kernel in KERNELS:
            boxes = [tuple(map(int, node[:4])) for node in NODE.findall(info_page(kernel))]
            for (ax, ay, aw, ah), (bx, by, bw, bh) in itertools.combinations(boxes, 2):
                self.assertTrue(ax + aw < bx or bx + bw < ax or ay + ah < by or by + bh < ay)

    def test_edges_beside_blocks_do_not_cross_any(self) -> None:
        """Vertical and horizontal lines of edges that go back, and the long vertical ones of others."""
        for kernel in KERNELS:
            page = info_page(kernel)
            boxes = [tuple(map(int, node[:4])) for node in NODE.findall(page)]
            edges = re.findall(r'<path class="edge(?: back)?" d="([^"]+)"', page)
            self.assertGreater(len(edges), 10)
            for path in edges:
                for x0, y0, x1, y1 in straight_lines(path):
                    for bx, by, bw, bh in boxes:
                        crosses = min(x0, x1) < bx + bw and max(x0, x1) > bx and min(y0, y1) < by + bh and max(y0, y1) > by
                        self.assertFalse(crosses, f"{kernel.stem}: {path} through the box at {bx}, {by}")


def straight_lines(path: str) -> list[tuple[float, float, float, float]]:
    """H, V and v of a path as (x0, y0, x1, y1)."""
    x = y = 0.0
    lines = []
    for command, rest in re.findall(r"([MHVvC])([^MHVvC]*)", path):
        numbers = [float(n) for n in rest.split()]
        start = (x, y)
        if command == "H":
            x = numbers[0]
        elif command == "V":
            y = numbers[0]
        elif command == "v":
            y += numbers[0]
        else:
            x, y = numbers[-2:]
        if command in "HVv":
            lines.append((*start, x, y))
    return lines


class Width(unittest.TestCase):
    def test_info(self) -> None:
        page = info_page(DECODE)
        self.assertIn(".wide { overflow-x: auto; }", page)
        self.assertIn(".graph { overflow: auto;", page)
        self.assertIn(".block { display: flex; overflow-x: auto;", page)
        self.assertEqual(tables_outside_of(page, r'<div class="(?:wide|block)"[^>]*>'), 0)

    def test_annotate_breaks_long_lines(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "page.html")
            done = nw("annotate", DECODE, "--grid", "8", "--html", path, "--args", *DECODE_ARGS)
            self.assertEqual(done.returncode, 0, done.stderr)
            page = path.read_text()
        self.assertIn("td.code { white-space: pre-wrap; overflow-wrap: anywhere;", page)
        self.assertEqual(page.count('<td class="code">'), page.count('<td class="line">'))

    def test_report_of_the_bench(self) -> None:
        row = {"table": "model", "model": "A", "dtype": "f16", "zp": "sym", "m": 1, "linears_tok_per_s": 2.0}
        with tempfile.TemporaryDirectory() as folder:
            rows, page = Path(folder, "rows.json"), Path(folder, "page.html")
            rows.write_text(json.dumps({"commit": "", "device": "sim", "suite": "decode", "rows": [row]}))
            python = "/usr/bin/python3" if Path("/usr/bin/python3").exists() else sys.executable  # with matplotlib
            subprocess.run([python, SOURCE / "bench/report.py", rows, page], check=True)
            text = page.read_text()
        self.assertIn("svg { max-width: 100%; height: auto }", text)
        self.assertIn(".wide { overflow-x: auto }", text)
        self.assertEqual(tables_outside_of(text, '<div class="wide">'), 0)


if __name__ == "__main__":
    unittest.main()
