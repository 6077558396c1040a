# SPDX-License-Identifier: MIT
"""nw annotate: each line's count and cost, as text and as a page."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
import unittest
from html.parser import HTMLParser
from pathlib import Path

from command import BUILD, DECODE, DECODE_ARGS, SOURCE, SUMS, SUMS_LAUNCH, nw

VOID = {"meta", "br", "hr", "img", "link"}


class Page(HTMLParser):
    """Rows of the tables as lists of their cells' text; fails on tags that don't pair up."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.rows: list[list[str]] = []
        self.tooltips: list[str] = []
        self.links: list[str] = []
        self.classes: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == [], self.open

    def handle_starttag(self, tag: str, attributes: list) -> None:
        values = dict(attributes)
        self.links += [values[key] for key in ("src", "href") if key in values]
        self.classes += values.get("class", "").split()
        if "title" in values:
            self.tooltips.append(values["title"])
        if tag == "tr":
            self.rows.append([])
        if tag == "td":
            self.rows[-1].append("")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, tag

    def handle_data(self, data: str) -> None:
        if "td" in self.open:
            self.rows[-1][-1] += data


def source_rows(text: str, name: str) -> list[str]:
    """The lines of the source's table, without its header."""
    return text.partition(f"\n{name}:\n")[2].splitlines()[1:]


class Text(unittest.TestCase):
    def said(self, *arguments: str | Path) -> str:
        done = nw("annotate", *arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def total(self, *arguments: str | Path) -> int:
        done = nw("time", *arguments, "--json")
        return json.loads(done.stdout)["insts"]["total"]

    def counts(self, rows: list[str]) -> list[int]:
        return [int(row.split()[0]) for row in rows if re.match(r" *\d+ +\d+ +[\d.]+ %", row)]

    def test_counts_add_up_to_the_instructions_of_the_launch(self) -> None:
        for file, launch, table in [(SUMS, SUMS_LAUNCH, "sums.s"),
                                    (DECODE, ["--grid", "8", "--args", *DECODE_ARGS], f"{DECODE.stem}.s")]:
            counts = self.counts(source_rows(self.said(file, *launch), table))
            self.assertEqual(sum(counts), self.total(file, *launch))

    def test_lines_are_those_of_the_source(self) -> None:
        rows = source_rows(self.said(SUMS, *SUMS_LAUNCH), "sums.s")
        lines = SUMS.read_text().splitlines()
        first, last = lines.index("sums:"), lines.index("        s_endpgm")
        shown = [(int(row[76:82]), row[84:]) for row in rows]
        self.assertEqual(shown, [(n + 1, lines[n]) for n in range(first, last + 1)])

    def test_costs_stand_with_what_causes_them(self) -> None:
        text = self.said(SUMS, *SUMS_LAUNCH)
        rows = source_rows(text, "sums.s")
        for instruction, reason in [("s_waitcnt       vmcnt(0)", "wait_load 100 %"),
                                    ("s_waitcnt       lgkmcnt(0)", "wait_scalar 100 %"),
                                    ("s_barrier", "barrier"), ("s_cbranch_scc1  L_next", "branch")]:
            row = next(row for row in rows if row.endswith(instruction))
            self.assertIn(reason, row)
        worst = text.partition("Lines with the most cycles:\n")[2].splitlines()[1]
        self.assertTrue(worst.endswith("s_waitcnt       vmcnt(0)"), worst)

    def test_loops_are_marked(self) -> None:
        rows = source_rows(self.said(SUMS, *SUMS_LAUNCH), "sums.s")
        marks = [next((mark for mark in "╭│╰" if mark in row), "") for row in rows]
        load, branch = (next(n for n, row in enumerate(rows) if word in row)
                        for word in ("global_load", "s_cbranch"))
        self.assertEqual(marks[load:branch + 1], ["╭"] + ["│"] * (branch - load - 1) + ["╰"])
        self.assertEqual("".join(marks[:load] + marks[branch + 1:]), "")

    def test_a_file_whose_name_begins_like_the_working_folder(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            inside = Path(folder, "sums")
            inside.mkdir()
            source = Path(folder, "sums_of.s")
            shutil.copy(SUMS, source)
            done = nw("annotate", source, *SUMS_LAUNCH, cwd=inside)
            self.assertIn("\nsums_of.s:\n", done.stdout, done.stderr)

    def test_without_a_source_the_instructions_are_the_lines(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            code = Path(folder, "code.hsaco")
            shutil.copy(DECODE, code)
            launch = [code, "--grid", "8", "--args", *DECODE_ARGS]
            rows = source_rows(self.said(*launch), "disassembly")
            self.assertEqual(sum(self.counts(rows)), self.total(*launch))
            self.assertRegex(rows[0], r" 0x0  s_load_b256 s\[4:11\], s\[0:1\], null|s_load")
            source = BUILD / "asm/gfx1151" / f"{DECODE.stem}.s"
            self.assertIn(f"\n{DECODE.stem}.s:\n", self.said(*launch, "--source", source))

    def test_sampled_launches_say_so(self) -> None:
        self.assertIn("(a sample of 50000)", self.said(SUMS, "--kernel", "nothing", "--grid", "50000"))

    def test_what_is_wrong_is_named(self) -> None:
        for arguments, words in [([SUMS, "--kernel", "nope"], "sums, nothing"),
                                 ([SUMS, "--kernel", "nothing", "--html", "/no/folder/a.html"], "--html: /no/folder/a.html: can't be written"),
                                 ([SUMS, "--kernel", "nothing", "--source", "/no/such.s"], "--source /no/such.s"),
                                 ([SUMS, "--kernel", "nothing", "--source", __file__], "names sums.s")]:
            done = nw("annotate", *arguments)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(words, done.stderr)


class Html(unittest.TestCase):
    def page(self, *arguments: str | Path) -> tuple[str, Page]:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "page.html")
            done = nw("annotate", *arguments, "--html", path)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            text = path.read_text()
        return text, Page(text)

    def test_it_is_one_page_with_every_line(self) -> None:
        text, page = self.page(SUMS, *SUMS_LAUNCH)
        self.assertTrue(text.startswith("<!doctype html>"))
        self.assertNotRegex(text, r"<script|https?:|@import|url\(")
        self.assertTrue(all(link.startswith("#l") for link in page.links))
        rows = [row for row in page.rows if len(row) == 7]  # of lines
        lines = SUMS.read_text().splitlines()
        shown = [row for row in rows if row[-2] == "35"]
        self.assertEqual({row[-1] for row in shown}, {lines[34]})
        self.assertEqual(len(shown), 2)  # among the worst, and in place
        in_place = rows[10:]
        self.assertEqual([row[-1] for row in in_place], lines[lines.index("sums:"):lines.index("        s_endpgm") + 1])
        self.assertEqual(sum(int(row[0] or 0) for row in in_place), 1280)
        self.assertTrue(any("\nwait_load: " in tip for tip in page.tooltips))
        self.assertIn("prefers-color-scheme: dark", text)
        self.assertIn("@media (max-width: 640px)", text)
        self.assertEqual((page.classes.count("first"), page.classes.count("last")), (2, 2))

    def test_words_are_explained_where_they_stand_and_at_the_end(self) -> None:
        text, _ = self.page(SUMS, *SUMS_LAUNCH)
        words = dict(re.findall(r"<dt>([^<]+)</dt><dd>([^<]+)</dd>", text.partition('id="glossary"')[2]))
        for word, meaning in re.findall(r'<abbr title="([^"]+)">([^<]+)</abbr>', text):
            self.assertEqual(words[meaning], word)
        key = text.partition('class="key"')[2].partition("</p>")[0]
        self.assertEqual(key.count("<span>"), key.count("<abbr "))  # each reason to wait
        reasons = re.search(r"name\(Stall s\) \{.*?\{(.*?)\};", (SOURCE / "host/sim/timing/core/simd.cpp").read_text(), re.DOTALL)[1]
        self.assertLessEqual(set(re.findall(r'"(\w+)"', reasons)) - {"none"}, set(words))

    def test_no_share_reads_as_zero(self) -> None:
        _, page = self.page(DECODE, "--grid", "8", "--args", *DECODE_ARGS)
        shares = [row[2] for row in page.rows if len(row) == 7]
        self.assertNotIn("0.0 %", shares)
        self.assertIn("", shares)

    def test_units_limits_and_roofline(self) -> None:
        text, page = self.page(DECODE, "--grid", "8", "--args", *DECODE_ARGS)
        units = {row[0]: row[1] for row in page.rows if len(row) == 3}
        self.assertEqual(list(units), ["VALU", "WMMA", "TRANS", "SALU", "LDS", "DRAM"])
        self.assertEqual(units["WMMA"], "")
        limits = {row[0]: row[2] for row in page.rows if len(row) == 4}
        info = json.loads(nw("info", DECODE, "--json").stdout)[0]["kernels"][0]["occupancy"]
        self.assertEqual(float(limits["whole workgroups"]), info["waves"])
        self.assertEqual(text.count('<tr class="limit">'), 1)
        self.assertRegex(text, r"The launch does [\d.]+ [GT]/s, [\d.]+ operations per byte: \d+ %")
        self.assertIn("the launch has no operations on floats", self.page(SUMS, *SUMS_LAUNCH)[0])

    def test_text_of_the_source_stays_text(self) -> None:
        text, page = self.page(SUMS, "--kernel", "spin", "--args", "buf:4:9")
        self.assertIn("&lt;b&gt;&quot; &amp; &lt;/td&gt;", text)
        self.assertTrue(any('"<b>" & </td> must not' in cell for row in page.rows for cell in row))


if __name__ == "__main__":
    unittest.main()
