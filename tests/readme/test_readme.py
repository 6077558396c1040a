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
    """Of a block that begins with the name of a file: parts between `...` that are not in it, in this order."""
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
        self.assertGreaterEqual(len(found), 4)
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
    """Run `python3 tests/readme/generated.py` after a change of what is printed."""

    maxDiff = None

    def same(self, name: str) -> None:
        self.assertEqual(generated.part(name), generated.PARTS[name][1](BUILD))

    def test_output(self) -> None:
        self.same("output")

    def test_matrix(self) -> None:
        self.same("matrix")

    def test_figures(self) -> None:
        self.same("figures")

    def test_what_to_run_on_a_card(self) -> None:
        for name in generated.PARTS:
            if name.startswith("card-"):
                with self.subTest(name):
                    self.same(name)


class Matrix(unittest.TestCase):
    """The matrix says what is there, for each target."""

    @classmethod
    def setUpClass(cls) -> None:
        cls.manifest = json.loads((BUILD / "hsaco/manifest.json").read_text())

    def test_every_target_has_all_of_it(self) -> None:
        """What the table says of a family holds for each target that it is for; the others have a line."""
        families = matrix.library(self.manifest)
        common = matrix.everywhere(families)
        built = {k["gfx"] for k in self.manifest["kernels"]}
        known = matrix.on(common, families)
        whole, of = {}, matrix.generations()
        for name, kernels in known.items():
            have = {k["gfx"] for k in kernels}
            whole[name] = have == set(common)
            named = matrix.some_only(kernels, common).split(", ")
            self.assertEqual(have, {gfx for gfx in common if whole[name] or of[gfx] in named}, name)
        for name in (n for n in known if self.manifest["families"][n]["op"] in matrix.OPERATIONS):
            for parameter in matrix.ASKED:
                each = [matrix.values([k for k in known[name] if k["gfx"] == gfx], parameter) for gfx in {k["gfx"] for k in known[name]}]
                self.assertEqual(each, [each[0]] * len(each), f"{name} {parameter}")
        some = {(name, parameter, value) for name in known if whole[name] for parameter in matrix.ASKED for value in matrix.values(known[name], parameter)
                if {k["gfx"] for k in known[name] if k["params"].get(parameter) == value} != set(common)}  # fmt: skip
        every = [k for name in known if whole[name] for k in known[name] if not any((name, p, k["params"].get(p)) in some for p in matrix.ASKED)]
        of_target = {gfx: {k["symbol"] for k in every if k["gfx"] == gfx} for gfx in common}
        for gfx, symbols in of_target.items():
            self.assertEqual(symbols, set.union(*of_target.values()), gfx)
        told = [gfx for line in matrix.elsewhere(families) for gfx in re.findall(r"gfx\w+", line.partition(":")[0])]
        self.assertEqual(sorted([*common, *told]), sorted(built))

    def test_changes_show(self) -> None:
        before = matrix.table(self.manifest)
        for family, parameter, value in [("decode_w4a16", "m", 3), ("mid_w4a16", "group", 64), ("prefill_w4a16", "zeros", "zp"),
                                         ("gguf_mid", "type", "q8_0"), ("moe_prefill_w4a16", "bm", 32), ("moe_w4a16", "dtype", "f16")]:  # fmt: skip
            less = [k for k in self.manifest["kernels"] if k["family"] != family or k["params"].get(parameter) != value]
            self.assertLess(len(less), len(self.manifest["kernels"]))
            with self.subTest(family=family):
                self.assertNotEqual(matrix.table(self.manifest | {"kernels": less}), before)
