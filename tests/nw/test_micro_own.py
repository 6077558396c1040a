# SPDX-License-Identifier: MIT
"""nw micro INSTRUCTION: chains of one's own instruction agree with the measurements of asm/micro, on the model."""

from __future__ import annotations

import re
import unittest

from command import nw


def said(*arguments: str, gfx: str = "gfx1151") -> str:
    done = nw("micro", *arguments, "--device", f"sim:{gfx}")
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


def value(text: str, row: str) -> float:
    return float(re.search(rf"^{row} +([\d.]+) ", text, re.MULTILINE)[1])


def chain(line: str) -> str:
    return re.search(r"from result to result: (.*)", said(line, "--latency"))[1]


class Own(unittest.TestCase):
    def test_as_the_kernels_of_asm_micro_measure(self) -> None:
        lines = {
            "v_add_f32": "v_add_f32 v0, v1, v2", "v_exp_f32": "v_exp_f32 v0, v1", "v_dot2_f32_bf16": "v_dot2_f32_bf16 v0, v1, v2, v0",
            "v_fma_f32": "v_fma_f32 v0, v1, v2, v3",
        }  # fmt: skip
        rows = said("--only", f"^({'|'.join(lines)}) ")
        for name, line in lines.items():
            with self.subTest(line):
                own = said(line)
                self.assertIn("modelled (sim)", own)
                self.assertAlmostEqual(value(own, "throughput"), value(rows, f"{name} independent"), delta=0.02)
                if name in ("v_exp_f32", "v_dot2_f32_bf16"):
                    # Others' rows begin with 8 repetitions, which the pipeline takes before they execute (T-050).
                    self.assertAlmostEqual(value(own, "latency"), value(rows, f"{name} dependent"), delta=0.02)

    def test_every_series(self) -> None:
        for gfx in ("gfx1010", "gfx1030", "gfx1100", "gfx1201"):
            with self.subTest(gfx):
                own = said("v_add_f32 v0, v1, v2", "--with", "v_exp_f32 v3, v4", gfx=gfx)
                self.assertGreater(value(own, "latency"), 2 * value(own, "throughput"))
                self.assertAlmostEqual(value(own, "pair"), value(own, "with"), delta=0.1)
                self.assertIn("they overlap: as long as the longer one", own)

    def test_what_collides(self) -> None:
        own = said("v_exp_f32 v0, v1", "--with", "v_log_f32 v2, v3", "v_add_f32 v0, v1, v2")
        alone, one, two = value(own, "throughput"), *map(float, re.findall(r"^pair +([\d.]+)", own, re.MULTILINE))
        self.assertAlmostEqual(one, 2 * alone, delta=0.1)  # one unit for both
        self.assertAlmostEqual(two, alone, delta=0.1)
        self.assertIn("they collide: as long as one after the other", own)

    def test_chains(self) -> None:
        for line, renamed in [
            ("v_fma_f32 v0, v1, v2, v3", "v_fma_f32 v0, v0, v2, v3"), ("v_fma_f32 v0, s4, -v2, |v3|", "v_fma_f32 v0, s4, -v0, |v3|"),
            ("v_dot2_f32_f16 v5, v1, v2, v5", "v_dot2_f32_f16 v5, v1, v2, v5"), ("v_fmac_f32 v0, v1, v2", "v_fmac_f32 v0, v1, v2"),
            ("v_lshlrev_b64 v[2:3], v1, v[4:5]", "v_lshlrev_b64 v[2:3], v1, v[2:3]"), ("s_add_u32 s4, s5, 7", "s_add_u32 s4, s4, 7"),
            ("v_dual_mul_f32 v0, v1, v2 :: v_dual_add_f32 v3, v4, v5", "v_dual_mul_f32 v0, v0, v2 :: v_dual_add_f32 v3, v3, v5"),
            ("v_add_f16 v0.l, v1.l, v2.h", "v_add_f16 v0.l, v0.l, v2.h"),
        ]:  # fmt: skip
            with self.subTest(line):
                self.assertEqual(chain(line), renamed)
        for line in ("v_cvt_f64_f32 v[0:1], v2", "v_cmp_gt_f32 vcc_lo, v1, v2", "s_cmp_eq_u32 s4, s5", "v_mov_b32 v0, 1.0"):
            with self.subTest(line):
                own = said(line)
                self.assertRegex(own, r"latency +-  no operand has the result's size")
                self.assertGreater(value(own, "throughput"), 0)

    def test_two_of_one_cycle_say_nothing(self) -> None:
        self.assertIn("as long as a wave takes to issue two", said("v_add_f32 v0, v1, v2", "--with", "s_mov_b32 s4, s5"))

    def test_only_what_was_asked(self) -> None:
        self.assertNotIn("throughput", said("v_mul_f32 v0, v1, v2", "--latency"))
        self.assertNotIn("latency", said("v_mul_f32 v0, v1, v2", "--throughput"))

    def test_what_is_refused(self) -> None:
        for arguments, words in [
            (["v_foo v0"], ["1:1: error: invalid instruction", "v_foo v0"]), (["global_load_b32 v0, v1, s[0:1]"], ["VALU or SALU"]),
            (["s_load_b32 s4, s[2:3], 0"], ["memory"]), (["v_cmpx_gt_u32 v0, v1"], ["EXEC"]), (["s_mov_b32 exec_lo, s4"], ["EXEC"]),
            (["v_add_f32 v64, v1, v2"], ["v64: use v0 to v63"]), (["s_add_u32 s0, s4, s5"], ["s0: use", "s2 to s63"]),
            (["v_nop ; s_endpgm"], ["one instruction"]), (["v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]", "--device", "sim:gfx1030"], ["gfx1100"]),
            (["v_nop", "--with", "s_endpgm"], ["s_endpgm"]), (["--latency"], ["instruction"]), (["--with", "v_nop"], ["instruction"]),
        ]:  # fmt: skip
            with self.subTest(arguments):
                done = nw("micro", *arguments, *([] if "--device" in arguments else ["--device", "sim:gfx1151"]))
                self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                for word in words:
                    self.assertIn(word, done.stderr)


if __name__ == "__main__":
    unittest.main()
