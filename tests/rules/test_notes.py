# SPDX-License-Identifier: MIT
"""Notes: every cited id is defined once, the index lists them, and the files that they name exist."""

from __future__ import annotations

import re
import tempfile
import unittest
from pathlib import Path

from repository import ROOT, tracked

INDEX = "isa_notes/README.md"
LINT_RULES = "host/lint/rules.inc"  # defines D, F, R and W ids; H ids are notes
HEADING = re.compile(r"^#{1,2} ([AHST]-\d{3})  (\S.*)$", re.MULTILINE)
RULE = re.compile(r'^RULE\(\w+,\s*"([DFRW]-\d{3})"', re.MULTILINE)
CITED = re.compile(r"\b[ADFHRSTW]-\d{3}\b")
ROW = re.compile(r"^\| \[(\w-\d{3})\]\(([^)]+)\) \| (.+) \|$", re.MULTILINE)
NAMED = re.compile(r"\b(?:asm|bench|gen|host|tests)/[\w./-]+\.\w+")


def text_of(root: Path, paths: list[Path]) -> dict[Path, str]:
    return {path: (root / path).read_text(errors="replace") for path in paths}


def notes(texts: dict[Path, str]) -> list[tuple[str, str, Path]]:
    """(id, title, file) of each note."""
    return [(*found, path) for path, text in texts.items() if path.suffix == ".md" for found in HEADING.findall(text)]


def undefined(texts: dict[Path, str]) -> list[str]:
    known = {note[0] for note in notes(texts)} | set(RULE.findall(texts.get(Path(LINT_RULES), "")))
    return [
        f"{path}:{number}: {cited}"
        for path, text in texts.items()
        for number, line in enumerate(text.splitlines(), 1)
        for cited in CITED.findall(line)
        if cited not in known
    ]


def repeated(texts: dict[Path, str]) -> list[str]:
    ids = [note[0] for note in notes(texts)] + RULE.findall(texts.get(Path(LINT_RULES), ""))
    return sorted({name for name in ids if ids.count(name) > 1})


def misplaced(texts: dict[Path, str]) -> list[str]:
    """Files of isa_notes whose name lacks the id of their one note."""
    by_file: dict[Path, list[str]] = {path: [] for path in texts if path.match("isa_notes/*.md") and str(path) != INDEX}
    for name, _, path in notes(texts):
        if path in by_file:
            by_file[path].append(name)
    return [str(path) for path, names in by_file.items() if names != [path.name[:5]]]


def index_errors(texts: dict[Path, str]) -> list[str]:
    folder = Path(INDEX).parent
    listed = sorted((name, title, link) for name, link, title in ROW.findall(texts[Path(INDEX)]))
    wanted = sorted(
        (name, title, str(path.relative_to(folder)) if path.parent == folder else f"../{path}")
        for name, title, path in notes(texts)
    )
    return [f"missing: {row}" for row in wanted if row not in listed] + [
        f"no such note: {row}" for row in listed if row not in wanted
    ]


def missing_files(root: Path, texts: dict[Path, str]) -> list[str]:
    return [
        f"{path}: {named}"
        for path in sorted({note[2] for note in notes(texts)})
        for named in NAMED.findall(texts[path])
        if not (root / named).exists()
    ]


class Notes(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls) -> None:
        itself = Path(__file__).resolve().relative_to(ROOT)
        cls.texts = text_of(ROOT, [path for path in tracked() if path != itself])

    def test_cited_ids_are_defined(self) -> None:
        self.assertEqual(undefined(self.texts), [])

    def test_ids_are_defined_once(self) -> None:
        self.assertEqual(repeated(self.texts), [])

    def test_isa_notes_has_one_note_per_file(self) -> None:
        self.assertEqual(misplaced(self.texts), [])

    def test_the_index_lists_every_note_with_its_title(self) -> None:
        self.assertEqual(index_errors(self.texts), [])

    def test_files_that_notes_name_exist(self) -> None:
        self.assertEqual(missing_files(ROOT, self.texts), [])


class TheRulesThemselves(unittest.TestCase):
    """Each rule reports its violation."""

    texts = {
        Path(INDEX): "| [T-001](T-001-a.md) | a |\n| [T-002](../asm/x/notes.md) | b |\n",
        Path("isa_notes/T-001-a.md"): "# T-001  a\n",
        Path("asm/x/notes.md"): "# Notes\n\n## T-002  b\n",
        Path(LINT_RULES): 'RULE(a, "W-001", error, "b")\n',
        Path("host/a.cpp"): "// T-001, T-002, W-001, UTF-008\n",
    }

    def test_a_sound_tree(self) -> None:
        for rule in (undefined, repeated, misplaced, index_errors):
            self.assertEqual(rule(self.texts), [], rule.__name__)

    def test_undefined(self) -> None:
        for cited in ("T-003", "W-002", "H-001"):
            texts = self.texts | {Path("host/a.cpp"): f"\n// {cited}\n"}
            self.assertEqual(undefined(texts), [f"host/a.cpp:2: {cited}"])

    def test_repeated(self) -> None:
        self.assertEqual(repeated(self.texts | {Path("asm/y/notes.md"): "## T-001  c\n"}), ["T-001"])

    def test_misplaced(self) -> None:
        for text in ("# T-002  a\n", "# T-001  a\n# T-003  b\n", "none\n"):
            self.assertEqual(misplaced(self.texts | {Path("isa_notes/T-001-a.md"): text}), ["isa_notes/T-001-a.md"])

    def test_index(self) -> None:
        retitled = self.texts | {Path("isa_notes/T-001-a.md"): "# T-001  c\n"}
        self.assertEqual(len(index_errors(retitled)), 2)  # one row too many, one too few
        self.assertEqual(len(index_errors(self.texts | {Path("asm/y/notes.md"): "## T-003  c\n"})), 1)

    def test_missing_files(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            texts = self.texts | {Path("asm/x/notes.md"): "## T-002  b\nTest  tests/x/test_x.py (results)\n"}
            self.assertEqual(missing_files(Path(folder), texts), ["asm/x/notes.md: tests/x/test_x.py"])


if __name__ == "__main__":
    unittest.main()
