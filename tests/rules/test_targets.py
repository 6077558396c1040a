# SPDX-License-Identifier: MIT
"""Facts of a target are in gen/targets.toml: no code decides by the name of a gfx."""

from __future__ import annotations

import re
import unittest

from repository import ROOT, tracked

FOLDERS = {"bench", "gen", "host"}  # asm/lib implements facts
SUFFIXES = {".h", ".cpp", ".c", ".inc", ".py"}
NAME = r"""["']gfx1[\w-]*["']"""
DECISIONS = {
    "a part of a name": re.compile(r"""(?:starts_with|ends_with|startswith|endswith)\(\s*["']gfx"""),
    "a name compared": re.compile(rf"""(?:[=!<>]=|[^<>]\s[<>])\s*{NAME}|{NAME}\s*[=!<>]="""),
    "a list of names": re.compile(r"""["']gfx1\d{3}["'].*["']gfx1\d{3}["']"""),
}
# Lines that still do, by file. Each goes when its room is done; a file that has none must not be listed.
KNOWN = {
    "bench/published.h": 1,  # parts whose scan was published
}


def decisions(text: str) -> list[str]:
    return [
        f"{number}: {what}: {line.strip()}"
        for number, line in enumerate(text.splitlines(), 1)
        for what in [next((what for what, pattern in DECISIONS.items() if pattern.search(line.split("//")[0])), None)]
        if what
    ]


class Targets(unittest.TestCase):
    def test_repository(self) -> None:
        found: dict[str, list[str]] = {}
        for path in tracked():
            if path.parts[0] in FOLDERS and path.suffix in SUFFIXES and (lines := decisions((ROOT / path).read_text())):
                found[str(path)] = lines
        said = "\n".join(f"{path}:{line}" for path, lines in found.items() for line in lines)
        remedy = "ask base/targets.h for a fact (gen/targets.toml), and keep KNOWN true"
        self.assertEqual({path: len(lines) for path, lines in found.items()}, KNOWN, f"{remedy}\n{said}")

    def test_decisions_are_seen(self) -> None:
        for line in (
            'if (gfx.starts_with("gfx11"))',
            'if (gfx == "gfx1100" || wave == 32)',
            'return gfx != "gfx1151";',
            'if (part.gfx >= "gfx115")',
            'if (part.gfx > "gfx115")',
            'if ("gfx1151" == gfx)',
            'constexpr std::string_view all[] = {"gfx1100", "gfx1101",',
            '{"gfx1100", 48}, {"gfx1101", 30}',
            "if gfx.startswith('gfx12'):",
            "if gfx in ('gfx1100', 'gfx1102'):",
        ):
            with self.subTest(line):
                self.assertTrue(decisions(line))

    def test_names_alone_are_none(self) -> None:
        for line in (
            'std::string gfx = "gfx1151"; // by default',
            "// gfx1100 and gfx1102 have fewer",
            'std::string_view name; // "gfx1100", "gfx1151"',
            'return {FindTarget("gfx1151"), 3};',
            '{0x049, "gfx1250"}, {0x04c, "gfx942"},',
            '"  nw lint kernel.s --gfx gfx1151"',
        ):
            with self.subTest(line):
                self.assertFalse(decisions(line))


if __name__ == "__main__":
    unittest.main()
