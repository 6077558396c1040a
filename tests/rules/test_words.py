# SPDX-License-Identifier: MIT
"""Comments and docstrings in plain words: openings that hide the subject of a sentence stay out of these rooms."""

from __future__ import annotations

import re
import unittest

from repository import ROOT, tracked

ROOMS = ("asm/", "bench/", "gen/", "host/", "isa_notes/", "tests/")
SUFFIXES = {".c", ".cpp", ".h", ".inc", ".j2", ".py", ".sh", ".toml", ".txt"}
# Opening, and how to begin instead: "Of a row: what it reads" is "Bytes that a row reads".
OPENINGS = {
    r"Of [a-z]": "name the thing first, then `of`",
    r"Those (?:that|of)\b": "repeat the noun",
    r"(?:As|So) (?:many|much|often)\b": "name the number or the variable",
    r"What\b": "name the thing: What it costs is Cost, What is refused is Refusals",
    r"(?:Told|Asked)\b": "passed, called, requested",
}
OPENING = re.compile(r'(?:(?<!:)//|/\*|^ \*|#|"""|\{#-?) *(?:' + "|".join(f"({opening})" for opening in OPENINGS) + ")", re.MULTILINE)
# Openings that may stay: this file's are the cases below; nearly everything includes these headers, so they wait for their next change,
# and the others are in files that are being replaced.
LEFT = {
    "tests/rules/test_words.py": 4, "host/base/command_line.h": 1, "host/base/estimate.h": 1, "host/base/targets.h": 2, "host/hip/hip.h": 1,
    "host/sim/func/memory/access.h": 1, "host/sim/func/wave.h": 1, "host/sim/isa/device.h": 1, "host/sim/isa/image/program.h": 1,
    "gen/faces/face.py": 1, "host/capi/gguf_types.h": 1, "host/python/nibblewave/context.py": 2,
}  # fmt: skip


def openings(text: str) -> list[str]:
    """Line, sentence and remedy of each."""
    out = []
    for found in OPENING.finditer(text):
        line, sentence = text.count("\n", 0, found.start()) + 1, text[found.start() :].split("\n", 1)[0]
        out.append(f"{line}: {sentence[:80]}: {list(OPENINGS.values())[found.lastindex - 1]}")
    return out


class Words(unittest.TestCase):
    maxDiff = None

    def test_openings(self) -> None:
        out = []
        for path in tracked():
            if path.suffix in SUFFIXES and str(path).startswith(ROOMS):
                found = openings((ROOT / path).read_text(errors="replace"))
                out += [f"{path}:{text}" for text in found] if len(found) > LEFT.get(str(path), 0) else []
        self.assertEqual(out, [])

    def test_each_rule_detects_its_violation(self) -> None:
        for text in ("// Of a row: bytes\n", "int x; // Those that run\n", "# As many as fit\n", '    """What the caller is asked."""\n'):
            self.assertEqual(len(openings(text)), 1, text)
        for text in ("// Rows of a tile\n", "# 16: as many as fit\n", "see https://Of a\n", '"Of a string"\n'):
            self.assertEqual(openings(text), [], text)


if __name__ == "__main__":
    unittest.main()
