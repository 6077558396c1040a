# SPDX-License-Identifier: MIT
"""The list of environment variables (host/base/environment.cpp), by which misspelt ones are refused, has all that anything here reads."""

from __future__ import annotations

import re
import unittest
from pathlib import Path

from repository import ROOT, tracked

LIST = Path("host/base/environment.cpp")
NAME = r"((?:HIPSIM|NIBBLEWAVE)_[A-Z0-9_]+)"
READ = re.compile(
    rf"(?:getenv|environ(?:\.get)?|environment|is_set|variable|settings|open_file<[\w:]+>)\s*[\[(]\s*(?:\"\w*\", )?\"{NAME}\"|\*\s*variable = \"{NAME}\"|\.open\(\"{NAME}\""
)
SUFFIXES = {".h", ".cpp", ".c", ".py"}


def listed() -> set[str]:
    return set(re.findall(rf'^    "{NAME}",$', (ROOT / LIST).read_text(), re.MULTILINE))


def read() -> dict[str, str]:
    """Variable -> a file that reads it."""
    found: dict[str, str] = {}
    for path in tracked():
        if path.suffix in SUFFIXES and path != LIST and not path.is_relative_to("tests/rules"):
            for names in READ.findall((ROOT / path).read_text(encoding="utf-8")):
                found |= {name: str(path) for name in names if name}
    return found


class Environment(unittest.TestCase):
    def test_what_is_read_is_listed(self) -> None:
        self.assertEqual({name: path for name, path in read().items() if name not in listed()}, {})

    def test_what_is_listed_is_read(self) -> None:
        self.assertEqual(listed() - read().keys(), set())

    def test_what_is_listed_is_documented(self) -> None:
        text = "\n".join((ROOT / path).read_text(encoding="utf-8") for path in tracked() if path.suffix == ".md" and path.name != "CHANGELOG.md")
        self.assertEqual({name for name in listed() if name not in text}, set())


if __name__ == "__main__":
    unittest.main()
