# SPDX-License-Identifier: MIT
"""gen/targets.py refuses a wrong table with file, line, section, value, rule and remedy."""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path

from generator import ROOT, targets

PATH = ROOT / "gen/targets.toml"
TEXT = PATH.read_text()
ESTIMATE = "mall_latency = { guess = 116, range = [112, 190] }"
ARCHES = targets.arches_of(PATH)


def read(text: str) -> targets.Facts:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "targets.toml"
        path.write_text(text)
        return targets.read(path)


class Refused(unittest.TestCase):
    def refused(self, old: str, new: str, *expected: str) -> None:
        self.assertIn(old, TEXT)
        with self.assertRaises(ValueError) as raised:
            read(TEXT.replace(old, new, 1))
        for part in expected:
            self.assertIn(part, str(raised.exception))

    def test_the_table_as_it_is_passes(self) -> None:
        self.assertEqual(read(TEXT), targets.read(PATH))

    def test_unknown_key(self) -> None:
        line = TEXT[: TEXT.index("[targets.gfx1150]")].count("\n") + 1
        self.refused('[targets.gfx1150]\n', '[targets.gfx1150]\ncolour = "red"\n', f"targets.toml:{line}: [targets.gfx1150]: colour", "remove it")
        self.refused("[generations.gfx12]\n", "[generations.gfx12]\ncolour = 1\n", "[generations.gfx12]: colour")
        self.refused("[every_part]\n", "[every_part]\ncolour = 1\n", "[every_part]: colour")
        line = TEXT[: TEXT.index('[parts."780M"]')].count("\n") + 1
        self.refused('[parts."780M"]\n', '[parts."780M"]\ncolour = 1\n', f"targets.toml:{line}: [parts.780M]: colour")

    def test_unknown_table(self) -> None:
        self.refused("[series.gfx101x]", "[colours.red]\nr = 1\n\n[series.gfx101x]", "colours")

    def test_missing_key(self) -> None:
        self.refused("split_waits = false\n", "", "[targets.gfx1010]: split_waits is missing", "no fact has a default")
        self.refused("init16 = false\n", "", "]: init16 is missing")
        self.refused("elf_machine = 0x043\n", "", "[targets.gfx1150]: elf_machine is missing")
        self.refused("wgps = 30\n", "", "[parts.7800 XT]: wgps is missing")
        self.refused("supported = true\n", "", "[generations.gfx10]: supported")

    def test_wrong_type(self) -> None:
        self.refused("split_waits = false", 'split_waits = "no"', "split_waits = 'no'", "bool")
        self.refused("wgps = 30", "wgps = { guess = 30 }", "wgps = {'guess': 30}", "int")
        self.refused(ESTIMATE, ESTIMATE.replace("guess", "rumour"), "rumour", "guess")

    def test_estimates_have_a_range_that_holds_them(self) -> None:
        self.refused(ESTIMATE, "mall_latency = { guess = 116 }", "[parts.7800 XT]: mall_latency", "likely range")
        self.refused(ESTIMATE, ESTIMATE.replace("[112", "[150"), "116 is outside its range", "widen")
        self.refused(ESTIMATE, ESTIMATE.replace(", 190]", "]"), "likely range")
        self.refused(ESTIMATE, ESTIMATE.replace("112", '"112"'), "likely range")

    def test_unknown_generation_and_series(self) -> None:
        self.refused('generation = "gfx12"', 'generation = "gfx13"', "[series.gfx120x]: generation = 'gfx13'", "gfx10, gfx11, gfx12")
        self.refused('series = "gfx120x"\nelf_machine = 0x048', 'series = "gfx130x"\nelf_machine = 0x048', "[targets.gfx1200]: series = 'gfx130x'")
        self.refused('series = ["gfx120x"]', 'series = ["gfx130x"]', "[generics.gfx12-generic]: series = 'gfx130x'")
        self.refused('series = ["gfx110x", "gfx115x"]', 'series = ["gfx110x", "gfx120x"]', "[generics.gfx11-generic]", "one generation")

    def test_like(self) -> None:
        self.refused('like = "gfx1150"', 'like = "gfx1159"', "[targets.gfx1152]: like = 'gfx1159'")
        self.refused('like = "gfx1150"', 'like = "gfx1152"', "[targets.gfx1152]: like", "itself")

    def test_the_same_machine_twice(self) -> None:
        self.refused("elf_machine = 0x048", "elf_machine = 0x04e", "[targets.gfx1201]: elf_machine = 0x04e: [targets.gfx1200]")

    def test_facts_of_what_is_only_read(self) -> None:
        self.refused("[targets.gfx1011]\n", "[targets.gfx1011]\nvopd = false\n", "[targets.gfx1011]: vopd", "only read")
        self.refused('gfx = "gfx1101"', 'gfx = "gfx1011"', "[parts.7800 XT]: gfx = 'gfx1011'", "supported")

    def test_parts(self) -> None:
        self.refused('gfx = "gfx1101"', 'gfx = "gfx906"', "[parts.7800 XT]: gfx = 'gfx906'")
        self.refused('gfx = "gfx1101"', 'gfx = "gfx1100"', "[targets.gfx1101]: has no part")
        self.refused('[parts."R9700"]\n', '[parts."R9700"]\nwgps = 40\n', "[parts.R9700]: wgps = 40", "9070 XT", "first")

    def test_no_toml(self) -> None:
        self.refused("[every_part]", "[every_part", "targets.toml: ")


class Inherited(unittest.TestCase):
    def test_a_target_alias_is_one_section_and_its_part(self) -> None:
        alias = '[targets.gfx1154]\nlike = "gfx1151"\nelf_machine = 0xff\n[parts.new]\nlike = "8060S"\ngfx = "gfx1154"\n'
        facts = read(TEXT + alias)
        self.assertEqual(facts.targets["gfx1154"].facts, facts.targets["gfx1151"].facts | {"elf_machine": 0xFF})
        self.assertEqual(facts.parts[-1].facts, next(p for p in facts.parts if p.name == "8060S").facts)

    def test_the_innermost_counts(self) -> None:
        self.assertEqual((ARCHES["gfx1100"]["wg_x"], ARCHES["gfx1101"]["wg_x"], ARCHES["gfx1201"]["wg_x"]), ("s15", "s2", "ttmp9"))


class Selected(unittest.TestCase):
    def test_by_target_series_generation_and_feature(self) -> None:
        every = list(ARCHES)
        self.assertEqual(targets.select(ARCHES, ["all"]), every)
        self.assertEqual(targets.select(ARCHES, ["gfx12", "gfx11", "gfx10"]), every)
        self.assertEqual(targets.select(ARCHES, ["gfx1201", "gfx1100"]), ["gfx1100", "gfx1201"])
        self.assertEqual(targets.select(ARCHES, ["gfx115x"]), [gfx for gfx in every if gfx.startswith("gfx115")])
        self.assertEqual(targets.select(ARCHES, ["salu_float"]), targets.select(ARCHES, ["gfx115x", "gfx12"]))
        self.assertEqual(targets.select(ARCHES, ["wmma"]), targets.select(ARCHES, ["gfx11", "gfx12"]))
        self.assertEqual(targets.select(ARCHES, ["dot2"]), [gfx for gfx in every if gfx != "gfx1010"])

    def test_an_unknown_name(self) -> None:
        for name in ("gfx13", "gfx1011", "stream", ""):
            with self.subTest(name), self.assertRaisesRegex(ValueError, f"target {name!r}: is no target.*gfx1100.*gfx115x.*wmma"):
                targets.select(ARCHES, [name])
