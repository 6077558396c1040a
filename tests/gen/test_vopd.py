# SPDX-License-Identifier: MIT
"""gen/vopd.py where parities must differ (note H-026): the pairs it forms, and those it refuses of a listing, whoever wrote them."""

from __future__ import annotations

import random
import tempfile
import unittest
from pathlib import Path

from generator import BUILD, ROOT, catalogue, dual, render, targets, templates, vopd

ARCHES = targets.arches_of(ROOT / "gen/targets.toml")


def pair(x: str, y: str, banks: int) -> str | None:
    parser = vopd.Parser({}, banks)
    return vopd.pair(*(vopd.Half(parser, parser.op(i, text)) for i, text in enumerate((x, y))))


# (what, x, y, of two banks, of four): whether such halves may pair as they are
PAIRS = [
    ("src0 of one parity", "v_sub_f32 v0, v4, v8", "v_sub_f32 v1, v6, v9", False, True),
    ("src0 of one parity, odd", "v_sub_f32 v0, v5, v8", "v_sub_f32 v1, v15, v9", False, True),
    ("src0 of two parities", "v_sub_f32 v0, v4, v8", "v_sub_f32 v1, v7, v9", True, True),
    ("vsrc1 of one parity", "v_sub_f32 v0, v4, v8", "v_sub_f32 v1, v5, v10", False, True),
    ("vsrc1 of two parities", "v_sub_f32 v0, v4, v8", "v_sub_f32 v1, v5, v11", True, True),
    ("src0 of one half and vsrc1 of the other", "v_sub_f32 v0, v4, v9", "v_sub_f32 v1, v5, v6", True, True),
    ("the same VGPR", "v_sub_f32 v0, v4, v8", "v_sub_f32 v1, v4, v9", False, False),
    ("an SGPR and a VGPR", "v_sub_f32 v0, s4, v8", "v_sub_f32 v1, v6, v9", True, True),
    ("one SGPR", "v_sub_f32 v0, s4, v8", "v_sub_f32 v1, s4, v9", True, True),
    ("a literal and a constant", "v_sub_f32 v0, 0x1234567, v8", "v_sub_f32 v1, 1.0, v9", True, True),
    ("moves of one parity", "v_mov_b32 v0, v4", "v_mov_b32 v1, v6", False, True),
    ("sums are of two parities anyway", "v_fmac_f32 v0, v4, v8", "v_fmac_f32 v3, v5, v9", True, True),
]


class Formed(unittest.TestCase):
    def test_each_rule_kept_and_broken(self) -> None:
        for what, x, y, two, four in PAIRS:
            with self.subTest(what):
                self.assertEqual((pair(x, y, 2) is not None, pair(x, y, 4) is not None), (two, four))

    def test_factors_swap_for_it(self) -> None:
        self.assertEqual(
            pair("v_mul_f32 v0, v4, v9", "v_mul_f32 v1, v6, v11", 2), "v_dual_mul_f32 v0, v4, v9 :: v_dual_mul_f32 v1, v11, v6"
        )
        self.assertIsNone(pair("v_sub_f32 v0, v4, v9", "v_sub_f32 v1, v6, v11", 2))

    def test_blocks_at_random(self) -> None:
        choose = random.Random(1)
        for _ in range(50):
            lines = (
                f"{choose.choice(('v_mul_f32', 'v_sub_f32', 'v_fmac_f32', 'v_and_b32'))} "
                f"v{choose.randrange(32)}, v{choose.randrange(32)}, v{choose.randrange(32)}\n"
                for _ in range(40)
            )
            text = "".join(lines)
            self.assertEqual(list(vopd.broken(dual.schedule(text, {}, banks=2), 2)), [])
            self.assertEqual(list(vopd.broken(dual.schedule(text, {}), 4)), [])

    def test_a_schedule_for_two_banks_is_not_that_for_four(self) -> None:
        block = "v_mov_b32 v0, v4\nv_mov_b32 v1, v6\n"
        with tempfile.TemporaryDirectory() as folder:
            self.addCleanup(dual.keep, None)
            dual.keep(Path(folder))
            self.assertIn("::", dual.schedule(block, {}))
            self.assertNotIn("::", dual.schedule(block, {}, banks=2))


LISTING = """\
.set s_c, 3
.set v_a, 4 // [4]: sources
.set v_b, v_a+6
        v_dual_mul_f32  v0, v[v_a], v[v_b+1] :: v_dual_mul_f32 v1, {y0}, {y1} // comment :: of it
"""


class Refused(unittest.TestCase):
    def messages(self, y0: str, y1: str, banks: int = 2) -> list[str]:
        return list(vopd.broken(LISTING.format(y0=y0, y1=y1), banks))

    def test_what_keeps_the_rules(self) -> None:
        for y0, y1 in (("v[v_a+1]", "v[v_b]"), ("v[v_b+1]", "v[v_a]"), ("s[s_c]", "v[v_b]"), ("1.0", "v12")):
            self.assertEqual(self.messages(y0, y1), [])
        self.assertEqual(self.messages("v[v_a+2]", "v[v_b+3]", banks=4), [])

    def test_the_message_names_line_registers_rule_and_remedy(self) -> None:
        (said,) = self.messages("v[v_b]", "v12")
        for part in ("line 4: v_dual_mul_f32 v0, v[v_a], v[v_b+1] :: ", "src0", "v4 and v10", "mod 2", "H-026", "swap the factors", "two instructions"):
            self.assertIn(part, said)
        (said,) = self.messages("v5", "v13")
        for part in ("vsrc1", "v11 and v13"):
            self.assertIn(part, said)
        self.assertEqual(len(self.messages("v6", "v9")), 2)

    def test_banks_where_there_are_four(self) -> None:
        (said,) = self.messages("v8", "v12", banks=4)
        for part in ("v4 and v8", "mod 4", "H-001"):
            self.assertIn(part, said)

    def test_a_half_that_reads_what_the_other_writes(self) -> None:
        for banks in (2, 4):
            (said,) = vopd.broken("v_dual_mov_b32 v0, v5 :: v_dual_mul_f32 v1, v6, v0\n", banks)
            for part in ("line 1", "writes v0", "H-001", "two instructions"):
                self.assertIn(part, said)
            self.assertEqual(list(vopd.broken("v_dual_mov_b32 v0, v5 :: v_dual_mul_f32 v5, v6, v3\n", banks)), [])

    def test_every_pair_of_a_kernel_is_looked_at(self) -> None:
        """A pair that a template wrote, on each target: only where sources of one parity are right, it renders."""
        kernels = catalogue.catalogue(ROOT, [gfx for gfx, facts in ARCHES.items() if facts["vopd"]])
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "asm").mkdir()
            text = '{{ R.v("x", 4, align=4) }}\n        v_dual_mov_b32  v[v_x], v[v_x+1] :: v_dual_mov_b32 v[v_x+1], v[v_x+3]\n'
            (Path(folder) / "asm/written.s.j2").write_text(text)
            env = templates.environment(Path(folder))
            for gfx in sorted({k.gfx for k in kernels}):
                k = next(k for k in kernels if k.gfx == gfx)
                object.__setattr__(k, "template", "written.s.j2")
                with self.subTest(gfx):
                    if ARCHES[gfx]["vopd_banks"] == 4:
                        self.assertIn("::", render.render_body(env, k, ARCHES[gfx]).text)
                        continue
                    with self.assertRaisesRegex(ValueError, f"written.s.j2 for {gfx} {k.symbol}: 1 pairs break .* v5 and v7"):
                        render.render_body(env, k, ARCHES[gfx])


class Built(unittest.TestCase):
    def test_no_kernel_has_a_pair_that_its_target_refuses(self) -> None:
        texts = {gfx: sorted((BUILD / "asm" / gfx).glob("*.s")) for gfx, facts in ARCHES.items() if facts["vopd"]}
        for series in {ARCHES[gfx]["series"] for gfx in texts}:  # whose targets share most texts
            gfx = max((gfx for gfx in texts if ARCHES[gfx]["series"] == series), key=lambda gfx: len(texts[gfx]))
            pairs = 0
            for file in texts[gfx]:
                text = file.read_text()
                pairs += text.count(" :: ")
                self.assertEqual(list(vopd.broken(text, ARCHES[gfx]["vopd_banks"])), [], f"{gfx}/{file.name}")
            self.assertGreater(pairs, 1000, gfx)

    def test_targets_that_the_note_names_have_two_banks(self) -> None:
        """gfx11 all; note H-026 says why."""
        for gfx, facts in ARCHES.items():
            self.assertEqual(facts["vopd_banks"], {"gfx10": 0, "gfx11": 2, "gfx12": 4}[facts["generation"]], gfx)
