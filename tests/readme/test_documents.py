# SPDX-License-Identifier: MIT
"""Every .md: links lead somewhere. README.md: short. Every README.md: short sentences, no command outside a block."""

from __future__ import annotations

import re
import unittest
from pathlib import Path

import documents
from documents import ROOT

MOST_LINES = 150
MOST_WORDS = 30
LANGUAGES = {"sh", "text", "c", "python", "cmake", "toml", "yaml"}
# Starts of commands; those of a block of `sh` are for test_commands.py.
COMMAND = re.compile(r"^ {4,}(?:[A-Z_]+=\S+ )*(?:\./|build/|nw |python3 |cmake |cc |cd |git )", re.MULTILINE)


def dead_links(path: Path, document: str) -> list[str]:
    out = []
    for link in documents.links(document):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = (ROOT / path).parent / name if name else ROOT / path
        if not target.exists():
            out.append(f"{path}: {link}: no such file")
        elif anchor and anchor not in documents.anchors(document if not name else target.read_text()):
            out.append(f"{path}: {link}: no such heading")
    return out


def long_sentences(document: str) -> list[str]:
    return [f"{count} words: {s}" for s in documents.sentences(document) if (count := documents.words(s)) > MOST_WORDS]


class Documents(unittest.TestCase):
    maxDiff = None

    def test_links_lead_somewhere(self) -> None:
        paths = documents.markdown()
        self.assertGreater(len(paths), 50)
        self.assertEqual([dead for path in paths for dead in dead_links(path, documents.text(path))], [])

    def test_readme_is_short(self) -> None:
        self.assertLessEqual(len(documents.text(Path("README.md")).splitlines()), MOST_LINES)

    def test_sentences_are_short(self) -> None:
        for path in documents.readmes():
            with self.subTest(str(path)):
                self.assertEqual(long_sentences(documents.text(path)), [])

    def test_every_readme_can_be_reached_from_the_first(self) -> None:
        reached, open_ = set(), [Path("README.md")]
        while open_:
            path = open_.pop()
            if path in reached or path.suffix != ".md":
                continue
            reached.add(path)
            for link in documents.links(documents.text(path)):
                target = ((ROOT / path).parent / link.partition("#")[0]).resolve()
                if target.is_file() and target.is_relative_to(ROOT):
                    open_.append(target.relative_to(ROOT))
        self.assertEqual(sorted(set(documents.readmes()) - reached), [])

    def test_code_is_in_blocks_of_a_known_language(self) -> None:
        for path in documents.readmes():
            with self.subTest(str(path)):
                found = documents.blocks(documents.text(path))
                self.assertEqual([b.line for b in found if b.language not in LANGUAGES], [])
                self.assertEqual(COMMAND.findall(documents.prose(documents.text(path))), [])


class TheRulesThemselves(unittest.TestCase):
    """Each rule reports its violation."""

    def test_links(self) -> None:
        here = Path("README.md")
        text = "# A `b`, c\n\n## A b c\n[x](#a-b-c) [x](#a-b-c-1) [x](asm/README.md#glossary) [x](https://x) `[x](none)`\n"
        self.assertEqual(dead_links(here, text), [])
        for bad in ("none.md", "#none", "asm/README.md#none", "asm/none"):
            self.assertEqual(len(dead_links(here, f"[x]({bad})\n")), 1, bad)
            self.assertEqual(len(dead_links(here, f"[`x`]({bad})\n")), 1, bad)

    def test_sentences(self) -> None:
        long = " ".join(["word"] * 31)
        for text in (f"{long}.\n", f"Short one. {long}.\n", f"- {long}\n", f"> {long}\n", f"1. x\n   {long}\n"):
            self.assertEqual(len(long_sentences(text)), 1, text)
        half = " ".join(["word"] * 20)
        for text in (f"{half}. W{half}.\n", f"- {half}\n- {half}\n", f"{half}\n\n{half}\n", f"| {long} |\n", f"```sh\n{long}\n```\n", f"`{long}`\n"):
            self.assertEqual(long_sentences(text), [], text)

    def test_commands(self) -> None:
        for text in ("    build/bin/nw isa\n", "    ./bench/run\n", "    A=b ./bench/run\n"):
            self.assertTrue(COMMAND.search(documents.prose(text)), text)
            self.assertFalse(COMMAND.search(documents.prose(f"```sh\n{text}```\n")), text)
