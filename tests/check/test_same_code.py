# SPDX-License-Identifier: MIT
"""check_kernels: code that it regards as equal on several targets is equal, and different code is checked separately."""

from __future__ import annotations

import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(os.environ["NW_SOURCE_DIR"])
BUILD = Path(os.environ["NW_BUILD_DIR"])
sys.path[:0] = [str(SOURCE / "gen")]

import targets  # noqa: E402
from thorough import thorough  # noqa: E402

HSACO = BUILD / "hsaco"
KERNELS = json.loads((HSACO / "manifest.json").read_text())["kernels"]
TABLE = targets.read(SOURCE / "gen/targets.toml")
# Facts in which targets of one group may differ: the encoding's number, how many waves fit and are launched, strides of rows,
# and which instructions exist.
MAY_DIFFER = {"elf_machine", "vgprs_per_simd", "vgpr_granule", "simd_waves", "row_period", "row_pad", "dot2", "dot2acc", "dot4"}


@dataclass(frozen=True)
class Section:
    offset: int
    bytes: bytes


def sections(path: Path) -> dict[str, Section]:
    data = path.read_bytes()
    (table,) = struct.unpack_from("<Q", data, 0x28)
    size, count, names_at = struct.unpack_from("<HHH", data, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", data, table + i * size) for i in range(count)]
    names = headers[names_at][4]
    found = {}
    for name, kind, _, _, offset, length in headers:
        begin = names + name
        text = data[begin : data.index(0, begin)].decode()
        found[text] = Section(offset, b"" if kind == 8 else data[offset : offset + length])  # 8: SHT_NOBITS
    return found


def behaviour(gfx: str) -> tuple:
    target = TABLE.targets[gfx]
    return (target.generation, target.series, *((k, v) for k, v in sorted(target.facts.items()) if k not in MAY_DIFFER))


def check_kernels(*arguments: str, hsaco: Path = HSACO) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if key != "NIBBLEWAVE_DEVICE"}
    environment |= {"NIBBLEWAVE_HSACO": str(hsaco)}
    command = [BUILD / "bin/tests/check_kernels", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True)


def groups(*arguments: str, hsaco: Path = HSACO) -> list[tuple[str, list[str]]]:
    done = check_kernels("--groups", *arguments, hsaco=hsaco)
    assert done.returncode == 0, done.stderr
    return [(symbol, gfx) for symbol, *gfx in map(str.split, done.stdout.splitlines())]


class Groups(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.groups = groups()

    def test_each_kernel_is_in_one(self) -> None:
        seen = Counter((symbol, gfx) for symbol, group in self.groups for gfx in group)
        self.assertEqual(seen, Counter((row["symbol"], row["gfx"]) for row in KERNELS))

    def test_members_are_equal_and_groups_are_not(self) -> None:
        by_symbol: dict[str, list[set]] = {}
        for symbol, group in self.groups:
            contents = set()
            for gfx in group:
                of = sections(HSACO / gfx / f"{symbol}.hsaco")
                contents.add((of[".text"].bytes, of[".rodata"].bytes, behaviour(gfx)))
            self.assertEqual(len(contents), 1, f"{symbol} on {group}")
            by_symbol.setdefault(symbol, []).append(contents)
        for symbol, contents in by_symbol.items():
            self.assertEqual(len(set.union(*contents)), len(contents), f"{symbol}: two groups are equal")

    def test_a_thorough_target_is_first(self) -> None:
        for symbol, group in self.groups:
            if full := set(thorough(BUILD)) & set(group):
                self.assertEqual({group[0]}, full, symbol)

    def test_every_family_has_tests(self) -> None:
        rows = json.loads((BUILD / "tests.json").read_text())
        tested = Counter(row["family"] for row in rows if row["family"])
        families = {row["family"] for row in KERNELS}
        self.assertEqual(tested, Counter(dict.fromkeys(families, 2)), "plain and under checkers; run cmake again after a new CHECK_FAMILY")


class Copies(unittest.TestCase):
    """A kernel on two targets, in copies of its code objects."""

    symbol: str
    first: str
    second: str

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        for gfx in (self.first, self.second):
            (self.folder / gfx).mkdir()
            for name in (f"{self.symbol}.hsaco", "quantize_q8.resources"):
                shutil.copy(HSACO / gfx / name, self.folder / gfx)

    def path(self) -> Path:
        """The second target's file."""
        return self.folder / self.second / f"{self.symbol}.hsaco"

    def change(self, section: str, at: int) -> None:
        """Inverts a byte of it."""
        path = self.path()
        data = bytearray(path.read_bytes())
        data[sections(path)[section].offset + at] ^= 0xFF
        path.write_bytes(data)

    def options(self) -> list[str]:
        return ["--kernel", self.symbol, "--gfx", f"{self.first},{self.second}"]

    def launches(self, *more: str) -> list[int]:
        done = check_kernels(*self.options(), "-v", *more, hsaco=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        return [int(line.split()[2]) for line in done.stdout.splitlines() if line.endswith("launches, 0 failures")]


class SameCode(Copies):
    """A kernel whose code is the same on two targets."""

    def setUp(self) -> None:
        same = [(symbol, group) for symbol, group in groups("--family", "quantize_q8") if len(group) > 1]
        if not same:
            self.skipTest("this build has no two targets with the same code")
        self.symbol, group = same[0]
        self.first, self.second = group[:2]
        super().setUp()

    def test_one_is_checked_in_full_and_the_other_by_one_launch(self) -> None:
        for checkers in ([], ["--checkers"]):
            full, entry = self.launches(*checkers)
            self.assertGreater(full, 5)
            self.assertEqual(entry, 1)
            self.assertEqual(self.launches("--all", *checkers), [full, full])

    def test_a_cover_leaves_out_the_other(self) -> None:
        self.assertEqual(self.launches("--cover"), self.launches()[:1])

    def test_another_byte_is_another_group(self) -> None:
        together = [(self.symbol, [self.first, self.second])]
        apart = [(self.symbol, [self.first]), (self.symbol, [self.second])]
        self.assertEqual(groups(*self.options(), hsaco=self.folder), together)
        self.change(".comment", 0)
        self.assertEqual(groups(*self.options(), hsaco=self.folder), together)
        for section in (".text", ".rodata"):
            self.change(section, 8)
            self.assertEqual(groups(*self.options(), hsaco=self.folder), apart, section)
            self.change(section, 8)

    def test_a_descriptor_broken_on_one_target_is_found(self) -> None:
        self.change(".rodata", 16)  # where the code begins (LLVM AMDGPUUsage, kernel_code_entry_byte_offset)
        done = check_kernels(*self.options(), hsaco=self.folder)
        self.assertEqual((done.returncode, done.stdout.splitlines()[-1]), (1, "1 passed, 1 failed"), done.stdout)

    def test_an_unusable_file_is_a_failure(self) -> None:
        self.path().write_bytes(b"no ELF")
        done = check_kernels(*self.options(), hsaco=self.folder)
        self.assertEqual((done.returncode, done.stdout.splitlines()[-1]), (1, "1 passed, 1 failed"), done.stdout)


class Cover(unittest.TestCase):
    """The default tier, of kernels as they are."""

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))

    def launches(self, family: str, gfx: str, *more: str) -> dict[tuple[str, str], int]:
        """Number of launches of each launched kernel."""
        done = check_kernels("--cover", "--family", family, "--gfx", gfx, "-v", *more)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        rows = (line.split() for line in done.stdout.splitlines() if line.endswith("launches, 0 failures"))
        return {(row[1].rstrip(":"), row[0]): int(row[2]) for row in rows}

    def test_in_full_what_walks_all_paths(self) -> None:
        """The library's other kernels by one launch, on the thorough target."""
        launched = self.launches("attn_pooled", "gfx1151")
        chosen = set((BUILD / "asm/gfx1151/attn_pooled.cover").read_text().split())
        self.assertEqual({symbol for _, symbol in launched}, {row["symbol"] for row in KERNELS if row["gfx"] == "gfx1151" and row["family"] == "attn_pooled"})
        for (_, symbol), launches in launched.items():
            self.assertEqual(launches > 1, symbol in chosen, symbol)

    def test_other_code_of_the_series_by_one_launch(self) -> None:
        both = "gfx1151,gfx1150"
        apart = {symbol for symbol, group in groups("--family", "moe_align", "--gfx", both) if group == ["gfx1150"]}
        launched = self.launches("moe_align", both)
        self.assertEqual({symbol for gfx, symbol in launched if gfx == "gfx1150"}, apart)
        self.assertEqual({n for (gfx, _), n in launched.items() if gfx == "gfx1150"}, {1} if apart else set())

    def test_no_references(self) -> None:
        done = check_kernels("--cover", "--family", "decode_w4a16", "--gfx", "gfx1151", "--only", "_magic", "-v")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no kernel matches", done.stdout)


# The upper halves of s_waitcnt, whose lower half are its counts, and of s_endpgm, whose lower half means nothing.
WAIT, END = b"\x8c\xbf", b"\x81\xbf"


class SameButForWaits(Copies):
    """gfx10.1 has hazards that gfx10.3 lacks, so its kernels have more waits."""

    symbol, first, second = "quantize_q8_f32", "gfx1030", "gfx1012"

    def setUp(self) -> None:
        if any(not (HSACO / gfx / f"{self.symbol}.hsaco").exists() for gfx in (self.first, self.second)):
            self.skipTest("this build has no kernels for gfx1012 and gfx1030")
        super().setUp()
        texts = [sections(HSACO / gfx / f"{self.symbol}.hsaco")[".text"].bytes for gfx in (self.first, self.second)]
        self.assertNotEqual(*texts)

    def first_of(self, upper: bytes) -> int:
        text = sections(self.path())[".text"].bytes
        return next(at for at in range(0, len(text), 4) if text[at + 2 : at + 4] == upper)

    def test_results_are_checked_on_one_and_waits_on_both(self) -> None:
        full, entry = self.launches()
        self.assertGreater(full, 5)
        self.assertEqual(entry, 1)
        self.assertEqual(self.launches("--all"), [full, full])
        self.assertGreater(min(self.launches("--checkers")), 1)

    def test_another_wait_is_no_other_result(self) -> None:
        self.change(".text", self.first_of(WAIT))
        self.assertEqual(self.launches()[1], 1)

    def test_another_instruction_is(self) -> None:
        self.change(".text", self.first_of(END))
        self.assertGreater(self.launches()[1], 1)


if __name__ == "__main__":
    unittest.main()
