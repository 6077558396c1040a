# SPDX-License-Identifier: MIT
"""The changes that nw time names, against what the change, made by hand, gains on the model."""

from __future__ import annotations

import json
import re
import tempfile
import unittest
from dataclasses import dataclass
from pathlib import Path

import pytest
from command import SOURCE, SUMS, SUMS_LAUNCH, nw

TEXT = (SOURCE / "tests/nw/kernels/advice.s").read_text()
KERNELS = re.findall(r"(?m)^end (\w+)(?:, (\d+))?(?:, (\d+))?$", TEXT)
PARTS = {"8060S": "gfx1151", "9070 XT": "gfx1201"}


@dataclass
class Run:
    """A launch of a kernel of advice.s. Grids may depend on the part."""

    kernel: str
    n: str | int
    grid: str | int = 1
    block: int = 32
    lane: int = 4
    step: int = 128
    group: int = 0
    lds: int = 0


# Slow and mended by hand. "simds" are those of the part, "full" are workgroups that fill it.
PAIRS: list[tuple[str, Run, Run]] = [
    ("bank_conflicts", Run("lds", 64, block=64, lane=128), Run("lds", 64, block=64, lane=132)),
    ("bank_conflicts", Run("lds_many", 64, "simds", 256, lane=16), Run("lds_many", 64, "simds", 256, lane=4)),
    ("bank_conflicts", Run("lds_four", 64, "simds", 64, lane=64), Run("lds_four", 64, "simds", 64, lane=80)),
    ("loads_earlier", Run("walk", 64, "simds", group=4), Run("walk_ahead", 64, "simds", group=4)),
    ("loads_earlier", Run("two", 64, "simds", 64, step=1024, lane=8, group=4096),
     Run("two_ahead", 64, "simds", 64, step=1024, lane=8, group=4096)),
    ("loads_earlier", Run("straight", 1, "simds", group=1024), Run("straight_first", 1, "simds", group=1024)),
    ("occupancy", Run("walk_200", 8, "simds * 56"), Run("walk_192", 8, "simds * 56")),
    ("occupancy", Run("walk", 32, "simds * 8", 128, lds=33792), Run("walk", 32, "simds * 8", 128, lds=32768)),
    ("dual_issue", Run("muls", 32, "simds", 256), Run("muls_dual", 32, "simds", 256)),
    ("dual_issue", Run("apart", 32, "simds", 256), Run("apart_dual", 32, "simds", 256)),
    ("coalescing", Run("walk", 64, "simds", 256, lane=256, step=4, group=65536), Run("walk", 64, "simds", 256, lane=4, step=1024, group=65536)),
    ("coalescing", Run("walk", 8, "simds", 256, lane=32, step=8192, group=65536), Run("walk", 8, "simds", 256, lane=4, step=1024, group=8192)),
    ("tail", Run("muls", 20, "full + 2", 1024), Run("muls", "20 * (full + 2) // full", "full", 1024)),
    ("spread", Run("walk_ahead", 512, "simds // 4"), Run("walk_ahead", 128, "simds")),
]


def metadata() -> str:
    """The kernels' metadata, which the assembler takes as text, without macros."""
    names = {"out": "global_buffer, .address_space: global", "in": "global_buffer, .address_space: global"}
    names |= dict.fromkeys(["n", "lane", "step", "group"], "by_value")
    args = "".join(f"      - {{.name: {name}, .offset: {at}, .size: {8 if at < 16 else 4}, .value_kind: {kind}}}\n"
                   for at, (name, kind) in zip([0, 8, 16, 20, 24, 28], names.items()))
    return "        .amdgpu_metadata\n---\namdhsa.version: [1, 2]\namdhsa.kernels:\n" + "".join(
        f"  - .name: {name}\n    .symbol: {name}.kd\n    .kernarg_segment_size: 32\n    .kernarg_segment_align: 8\n"
        f"    .group_segment_fixed_size: {lds or 0}\n    .private_segment_fixed_size: 0\n    .wavefront_size: 32\n    .sgpr_count: 16\n"
        f"    .vgpr_count: {vgprs or 24}\n    .max_flat_workgroup_size: 1024\n    .args:\n{args}"
        for name, vgprs, lds in KERNELS) + "...\n        .end_amdgpu_metadata\n"


class Advice(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.source = Path(cls.folder.name, "advice.s")
        cls.source.write_text(TEXT + metadata())
        cls.sizes = {part: cls.sizes_of(part) for part in PARTS}

    @classmethod
    def sizes_of(cls, part: str) -> dict[str, int]:
        simds = json.loads(cls.said(part, Run("walk", 1), {}))["simds"]
        return {"simds": simds, "full": simds // 4 * 2}  # of 1024 work-items: two fit in a WGP

    @classmethod
    def said(cls, part: str, r: Run, sizes: dict[str, int], *more: str, command: str = "time", json: bool = True) -> str:
        grid, n = (eval(str(text), sizes) for text in (r.grid, r.n))
        done = nw(command, cls.source, "--gfx", PARTS[part], "--part", part, "--kernel", r.kernel, "--grid", str(grid), "--block", str(r.block),
                  "--lds", str(r.lds), "--repeat", "2", *(["--json"] if json else []), *more,
                  "--args", "buf:8M", "buf:16M", *(f"u32:{value}" for value in (n, r.lane, r.step, r.group)))
        assert (done.returncode, done.stderr) == (0, ""), (r, done.stderr)
        return done.stdout

    def time(self, part: str, r: Run) -> dict:
        return json.loads(self.said(part, r, dict(self.sizes[part]), "--advice"))

    def check_gains(self, part: str) -> None:
        table, sign, near = [], 0, 0
        for kind, slow, mended in PAIRS:
            before, after = self.time(part, slow), self.time(part, mended)
            gains = {a["kind"]: a["gain"] for a in before["advice"]}
            measured, said = 1 - after["time_us"] / before["time_us"], gains.get(kind, 0)
            sign += said > 0 and measured > 0
            near += said > 0 and abs(said - measured) <= measured / 3
            table.append(f"{part:8} {kind:15} {slow.kernel:9} said {said:6.1%} measured {measured:6.1%}")
        text = "\n".join(table)
        print(text)
        self.assertEqual(sign, len(PAIRS), text)
        self.assertGreaterEqual(near, len(PAIRS) - 1, text)

    def test_gains_are_those_of_the_change(self) -> None:
        self.check_gains("8060S")

    @pytest.mark.all_tier
    def test_gains_on_another_part(self) -> None:
        self.check_gains("9070 XT")

    def test_addresses_wait_for_loads(self) -> None:
        """In a chain of loads only the branch and its like can run beside the load."""
        gains = {a["kind"]: a["gain"] for r in (Run("chase", 64, "simds"),) for a in self.time("8060S", r)["advice"]}
        self.assertLess(gains.get("loads_earlier", 0), 0.15)

    def test_it_is_a_sentence_with_place_and_note(self) -> None:
        sentence = r"72 % less: split the work into more waves; 4 workgroups of 4 waves are on 16 of 80 SIMDs \[T-057\]"
        loads = r"issue loads earlier, in a loop by an iteration; waves wait for them \d+ % of their cycles at sums\.s:35 s_waitcnt vmcnt\(0\) \[T-012\]"
        timed = nw("time", SUMS, *SUMS_LAUNCH).stdout.replace("\n" + 16 * " ", " ")  # lines are divided
        annotated = nw("annotate", SUMS, *SUMS_LAUNCH).stdout.replace("\n    ", " ")
        self.assertRegex(timed, rf"(?m)^next          {sentence}$\n^              \d+ % less: {loads}$")
        self.assertRegex(annotated, rf"What to change next \(sim\):\n  {sentence}\n  \d+ % less: {loads}\n")
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder, "sums.html")
            nw("annotate", SUMS, *SUMS_LAUNCH, "--html", page)
            text = page.read_text()
        self.assertRegex(text, r"<li>\d+ % less: issue loads earlier.*<a href=\"#l\d+\">sums\.s:35</a> 100 %</li>")

    def test_each_note_exists(self) -> None:
        code = "".join(path.read_text() for path in (SOURCE / "host/nw/advice").glob("*.cpp"))
        notes = set(re.findall(r"[TH]-\d{3}", code))
        self.assertGreater(len(notes), 6)
        for note in notes:
            self.assertEqual(len(list((SOURCE / "isa_notes").glob(f"{note}-*.md"))), 1, note)

    def test_without_advice_the_bound_is_said(self) -> None:
        self.assertRegex(nw("time", SUMS, "--kernel", "nothing", "--grid", "400").stdout, r"(?m)^next          .*(no change gains 2 %|the launch)")

    def test_long_launches_need_the_option(self) -> None:
        launch = [SUMS, "--kernel", "sums", "--grid", "4096", "--args", "buf:2M", "buf:1M:1", "u32:1000", "f16:1.5"]
        self.assertRegex(nw("time", *launch).stdout, r"(?m)^next          not known: the launch is too long to be replayed without --advice")


if __name__ == "__main__":
    unittest.main()
