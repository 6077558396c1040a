# SPDX-License-Identifier: MIT
"""README.md: its code is that of programs which are tested, and its generated parts are what commands print now."""

from __future__ import annotations

import json
import os
import re
import subprocess
import unittest
from pathlib import Path

import documents
import generated
import matrix

ROOT = Path(os.environ["NW_SOURCE_DIR"])
BUILD = Path(os.environ["NW_BUILD_DIR"])
README = (ROOT / "README.md").read_text()
SYMBOL = "decode_w4a16_f16_g128_m1_subnormal"
NAMED = re.compile(r"(?://|#) (\S+)\n")
LEFT_OUT = re.compile(r"(?://|#) \.\.\.\n")


def run(program: str, *arguments: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("HIPSIM_", "NIBBLEWAVE_"))}
    paths = {"LD_LIBRARY_PATH": f"{BUILD}/hipsim:{BUILD}/lib"}
    return subprocess.run([BUILD / "bin/tests" / program, *arguments], env=clean | paths | variables, capture_output=True, text=True)


def stripped(code: str) -> str:
    return "\n".join(line.strip() for line in code.splitlines())


def strange_lines(code: str) -> list[str]:
    """Parts between `...` of a block that are not in the file named in its first line, in this order."""
    named = NAMED.match(code)
    if not named or not (ROOT / named[1]).is_file():
        return [code.partition("\n")[0]]
    rest, out = stripped((ROOT / named[1]).read_text()), []
    for part in LEFT_OUT.split(code[named.end() :]):
        before, found, after = rest.partition(stripped(part))
        if found:
            rest = after
        else:
            out.append(part)
    return out


class Examples(unittest.TestCase):
    def test_code_is_that_of_the_named_programs(self) -> None:
        found = [block for block in documents.blocks(README) if block.language in ("c", "python")]
        self.assertGreaterEqual(len(found), 3)
        for block in found:
            with self.subTest(line=block.line):
                self.assertEqual(strange_lines(block.code), [])

    def test_other_code_is_seen(self) -> None:
        start = "// tests/readme/example.c\n"
        good = start + "hipModule_t module;\n// ...\nTRY(hipMalloc(&args.a, 2 * K));\n"
        self.assertEqual(strange_lines(good), [])
        for bad in (good.replace("2 *", "3 *"), good.replace("// ...\n", ""), good.replace("example.c", "none.c"), good.removeprefix(start)):
            self.assertEqual(len(strange_lines(bad)), 1, bad)
        self.assertEqual(len(strange_lines(start + "TRY(hipMalloc(&args.a, 2 * K));\n// ...\nhipModule_t module;\n")), 1)

    def test_example_runs_wherever_its_kernel_is(self) -> None:
        kernels = sorted((BUILD / "hsaco").glob(f"*/{SYMBOL}.hsaco"))
        self.assertTrue(kernels)
        for kernel in kernels:
            arch = kernel.parent.name
            done = run("readme_example", kernel, HIPSIM_ARCH=arch)
            self.assertEqual((done.returncode, done.stdout), (0, "4096 outputs, all 1280.0\n"), arch + done.stderr)

    def test_example_names_a_missing_file(self) -> None:
        done = run("readme_example", BUILD / "no-such-file.hsaco")
        self.assertEqual(done.returncode, 1)
        self.assertIn("hipErrorFileNotFound", done.stdout)

    def test_backend(self) -> None:
        for arch in sorted(p.name for p in (BUILD / "hsaco").iterdir() if p.is_dir()):
            done = run("readme_backend", HIPSIM_ARCH=arch)
            self.assertEqual((done.returncode, done.stdout), (0, "3 x 40 outputs, as stated\n"), arch + done.stderr)


@unittest.skipUnless((BUILD / "hsaco/gfx1151").is_dir(), "the figures are of gfx1151")
class Generated(unittest.TestCase):
    """Run `python3 tests/readme/generated.py` after a change of printed text."""

    maxDiff = None

    def same(self, name: str) -> None:
        self.assertEqual(generated.part(name), generated.PARTS[name][1](BUILD))

    def test_comparison(self) -> None:
        self.same("compare")

    def test_output(self) -> None:
        self.same("output")

    def test_tokens(self) -> None:
        self.same("tokens")

    def test_cards_and_kernels(self) -> None:
        self.same("cards")
        self.same("matrix")

    def test_figures(self) -> None:
        self.same("figures")

    def test_fidelity(self) -> None:
        self.same("fidelity")

    def test_what_to_run_on_a_card(self) -> None:
        for name in generated.PARTS:
            if name.startswith("card-"):
                with self.subTest(name):
                    self.same(name)


class Matrix(unittest.TestCase):
    """The table of kernels holds for each target."""

    @classmethod
    def setUpClass(cls) -> None:
        cls.manifest = json.loads((BUILD / "hsaco/manifest.json").read_text())

    @staticmethod
    def forms(kernels: list[dict]) -> set[tuple]:
        """Forms that callers can choose: values of parameters that exist together."""
        return {tuple(kernel["params"].get(name) for name in (*matrix.CHOSEN, "m")) for kernel in kernels}

    def test_cells_hold_for_each_target(self) -> None:
        """A generation has all forms of a family but those with a value that its cell denies, on each of its targets."""
        of, built = matrix.generations(), matrix.built_targets(self.manifest)
        for family, kernels in matrix.library(self.manifest).items():
            for generation in matrix.CARDS:
                here = [kernel for kernel in kernels if of[kernel["gfx"]] == generation]
                with self.subTest(family=family, generation=generation):
                    self.assertEqual(bool(matrix.has(generation, kernels, built)), bool(here))
                    lacks = set(matrix.missing(here, kernels)) if here else set()
                    for gfx in [gfx for gfx in built - {*matrix.without(generation, kernels, built)} if here and of[gfx] == generation]:
                        self.assertEqual(
                            self.forms([kernel for kernel in here if kernel["gfx"] == gfx]),
                            {form for form in self.forms(kernels) if not lacks & set(form)}, gfx,
                        )  # fmt: skip

    def test_every_target_has_a_card(self) -> None:
        listed = re.findall(r"gfx\d+", " ".join(matrix.card_lines(BUILD)))
        self.assertEqual(sorted(listed), sorted({kernel["gfx"] for kernel in self.manifest["kernels"]}))

    def test_every_family_is_named_once(self) -> None:
        named = re.findall(r"\]\(asm/(\w+)\)", "\n".join(matrix.table(self.manifest)))
        self.assertEqual(sorted(named), sorted(matrix.library(self.manifest)))

    def test_changes_show(self) -> None:
        before = matrix.table(self.manifest)
        for family, parameter, value in [("decode_w4a16", "m", 3), ("mid_w4a16", "group", 64), ("prefill_w4a16", "zeros", "zp"),
                                         ("gguf_mid", "type", "q8_0"), ("moe_prefill_w4a16", "bm", 32), ("moe_w4a16", "dtype", "f16"),
                                         ("attn_decode", "kv", "q8_0")]:  # fmt: skip
            less = [k for k in self.manifest["kernels"] if k["family"] != family or k["params"].get(parameter) != value]
            self.assertLess(len(less), len(self.manifest["kernels"]))
            with self.subTest(family=family):
                self.assertNotEqual(matrix.table(self.manifest | {"kernels": less}), before)
