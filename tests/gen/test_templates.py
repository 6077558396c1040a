# SPDX-License-Identifier: MIT
"""asm/: rules for templates, and the header of a rendered file."""

from __future__ import annotations

import re
import unittest
from pathlib import Path

import jinja2
import jinja2.meta
import jinja2.nodes
from generator import BUILD, ROOT

ASM = ROOT / "asm"
TEMPLATES = sorted(ASM.rglob("*.j2"))
RENDERER = {"k", "p", "A", "arch", "R", "range", "dict"}  # every template has these
LINES = 300


def undeclared(file: Path) -> set[str]:
    """Names that a template uses and neither imports, sets nor is passed."""
    return jinja2.meta.find_undeclared_variables(jinja2.Environment().parse(file.read_text())) - RENDERER


def declared(file: Path) -> set[str]:
    """Names that a template imports or sets outside blocks, which have their own scope; and the traits of the one it extends."""
    names: set[str] = set()
    for node in jinja2.Environment().parse(file.read_text()).body:
        if isinstance(node, jinja2.nodes.Import):
            names.add(node.target)
        elif isinstance(node, jinja2.nodes.Macro):
            names.add(node.name)
        elif isinstance(node, jinja2.nodes.Assign):
            names |= {name.name for name in [node.target, *node.target.find_all(jinja2.nodes.Name)] if hasattr(name, "name")}
        elif isinstance(node, jinja2.nodes.Extends):
            names.add("T")
    return names


class Templates(unittest.TestCase):
    def test_none_is_longer_than_a_person_reads(self) -> None:
        for file in TEMPLATES:
            with self.subTest(file.name):
                self.assertLessEqual(len(file.read_text().splitlines()), LINES, file)

    def test_included_templates_name_what_they_take(self) -> None:
        for file in TEMPLATES:
            if not file.name.endswith(".s.j2") and file.parent.name != "steps":
                with self.subTest(file.name):
                    self.assertEqual(undeclared(file), set(), file)

    def test_kernels_take_nothing_from_the_template_they_extend_but_its_traits(self) -> None:
        for file in TEMPLATES:
            if file.name.endswith(".s.j2"):
                with self.subTest(file.name):
                    self.assertEqual(undeclared(file) - declared(file), set(), file)

    def test_only_ablations_lack_ideas(self) -> None:
        for file in TEMPLATES:
            if "ablation" not in file.parts:
                with self.subTest(file.name):
                    self.assertNotIn("p.without", file.read_text(), file)


class Rendered(unittest.TestCase):
    def test_files_begin_with_their_contract_and_are_laid_out_alike(self) -> None:
        files = sorted((BUILD / "asm").glob("*/*.s"))
        self.assertTrue(files)
        for file in files:
            text = file.read_text()
            self.assertIsNone(re.search(r"^(s|v|ds|global|buffer|flat)_\w+( .*)?$", text, re.MULTILINE), f"{file}: an instruction without indentation")
            if not text.startswith("//") or "\n\n\n" in text or re.search(r"[ \t]$", text, re.MULTILINE):
                self.fail(f"{file}: begins with {text[:20]!r}, or has blank lines in a row or at the end of others")


if __name__ == "__main__":
    unittest.main()
