# SPDX-License-Identifier: MIT
"""nw_bench --suite attention: every row of its tables of block-sparse attention, and how their figures hang together."""

from __future__ import annotations

import unittest

import pytest
from suite import Suite, bench

GFX = "gfx1201"
BLOCK = 128
SUITE = ["--suite", "attention", "--device", f"sim:{GFX}", "--dtype", "f16"]


def pairs(queries: int, keys: int) -> float:
    """Pairs of a block of queries and a block of keys that it sees; the queries are the last tokens."""
    tiles, blocks = queries // BLOCK, keys // BLOCK
    return sum(blocks - tiles + m + 1 for m in range(tiles))


class Attention(Suite):
    def test_launches(self) -> None:
        rows, said = self.rows(*SUITE, "--only", "^stages 8192 Qwen3-0.6B f16 (selected|5%)$")
        self.assertEqual([(r["lists"], r["stage"]) for r in rows],
                         [("selected", stage) for stage in ("mean", "score", "select", "forward")] + [("5%", "forward")])  # fmt: skip
        by = {(r["lists"], r["stage"]): r for r in rows}
        for row in rows:
            self.assertEqual((row["table"], row["model"], row["s"], row["h"], row["hk"], row["d"], row["dtype"]),
                             ("stages", "Qwen3-0.6B", 8192, 16, 8, 128, "f16"))  # fmt: skip
            self.assertAlmostEqual(row["layers_ms"], 28 * row["time_us"] / 1000)
            self.assertGreater(row["dram_bytes"], 0)
            for share in ("l2_hit_rate", "mall_hit_rate"):
                self.assertTrue(0 <= row[share] <= 1, (share, row[share]))
            self.assertLess(row["pct_of_dram"], 101)
        mean, score, select, forward = rows[:4]
        self.assertAlmostEqual(forward["pct_before"], 100 * sum(r["time_us"] for r in rows[:3]) / forward["time_us"])
        # Half of the keys of 8 heads, once from memory, and all of it in twice the time, less a launch's own.
        self.assertGreaterEqual(mean["dram_bytes"], 4096 * 8 * 128 * 2)
        own = 2 * mean["slice_us"] - mean["time_us"]
        self.assertTrue(0 < own < mean["slice_us"], own)
        of = pairs(8192, 8192) / pairs(score["slice_rows"], 4096)
        for row in (score, select):
            self.assertAlmostEqual(row["time_us"], own + of * (row["slice_us"] - own), delta=1e-6 * row["time_us"])
        products = 2 * 128 * BLOCK * 16 * pairs(score["slice_rows"], 4096)
        self.assertAlmostEqual(score["tflops"], products / score["slice_us"] / 1e6)
        self.assertNotIn("tflops", select)
        # Forced blocks are a floor; the text has more, and not all.
        self.assertTrue(0.15 < forward["density"] < 0.8, forward["density"])
        sparse = by["5%", "forward"]
        self.assertTrue(0.05 < sparse["density"] < 0.1, sparse["density"])  # and the diagonal
        self.assertLess(sparse["time_us"], forward["time_us"])
        for row in (forward, sparse):
            before = row["slice_keys"] - row["slice_rows"]
            self.assertIn(row["slice_keys"], (4096, 8192))
            seen = row["slice_heads"] * sum(before + i + 1 for i in range(row["slice_rows"]))
            self.assertAlmostEqual(row["tflops"], 4 * 128 * row["density"] * seen / row["slice_us"] / 1e6)
            self.assertTrue(row["tflops"] / row["pct_of_wmma_peak"] * 100 > row["tflops"] / row["pct_wmma_busy"] * 100 * 0.9)
            self.assertGreater(row["pct_trans_busy"], 1)
        self.assertLess(mean["pct_trans_busy"], 1)  # a reciprocal for each mean
        self.assertIn("before", said)

    def test_launches_without_wmma(self) -> None:
        # On the part with the fewest CUs, whose launches are the fastest to simulate, in one type.
        peak = 40 * 64 * 2 * 1.905e9  # CUs, lanes, FLOP, Hz
        rows, said = self.rows("--suite", "attention", "--device", "sim:gfx1010", "--dtype", "f16",
                               "--only", "^stages 8192 Qwen3-0.6B f16 selected (mean|score|select)$")  # fmt: skip
        self.assertEqual([r["stage"] for r in rows], ["mean", "score", "select"])
        for row in rows:
            if row["stage"] == "score":
                self.assertEqual(row["pct_wmma_busy"], 0)
                self.assertAlmostEqual(row["pct_of_wmma_peak"], 1e14 * row["tflops"] / peak)
        self.assertIn(f"peak: of v_fma_mix_f32's {peak / 1e12:.1f} TFLOP/s", said)

    def test_what_a_selection_keeps(self) -> None:
        rows, _ = self.rows(*SUITE, "--only", "^selection 8192 Qwen3-0.6B$")
        self.assertEqual([(r["rule"], round(r["share"], 2)) for r in rows],
                         [("peak", 0.5), ("peak", 0.12), ("peak", 0.03), ("mass", 0.8), ("mass", 0.9), ("mass", 0.95), ("mass", 0.98)])  # fmt: skip
        for kind in ("peak", "mass"):
            of = [r for r in rows if r["rule"] == kind]  # each keeps more than the one before
            for less, more in zip(of, of[1:]):
                self.assertLess(less["density"], more["density"])
                for key in ("mass", "least", "needles"):
                    self.assertLessEqual(less[key], more[key], (kind, key))
        for row in rows:
            self.assertTrue(0 < row["least"] <= row["mass"] <= 1 + 1e-9, row)
            self.assertGreater(row["mass"], row["density"])  # better than blocks at random
            self.assertTrue(0.1 < row["needles"] <= 1, row)

    @pytest.mark.all_tier
    def test_the_first_token(self) -> None:
        rows, said = self.rows(*SUITE, "--only", "^stages 8192 Qwen3.6-27B f16 (selected|100%)$")
        (row,) = [r for r in rows if r["table"] == "first_token"]
        stages = [r for r in rows if r["table"] == "stages"]
        self.assertEqual((len(stages), row["s"], row["model"]), (5, 8192, "Qwen3.6-27B"))
        linear = (14336 * 5120 + 5120 * 6144) * 16  # as bench/shapes.csv has them
        linear += (10240 * 5120 + 6144 * 5120 + 5120 * 6144) * 48 + (34816 * 5120 + 5120 * 17408) * 64
        self.assertAlmostEqual(row["linear_s"], 2 * linear * 8192 / row["linear_tflops"] / 1e12)
        for lists, key in (("100%", "dense"), ("selected", "sparse")):
            attention = sum(r["layers_ms"] for r in stages if r["lists"] == lists) / 1000
            self.assertAlmostEqual(row[f"attention_{key}_s"], attention)
            self.assertAlmostEqual(row[f"{key}_s"], row["linear_s"] + attention)
        self.assertAlmostEqual(row["speedup"], row["dense_s"] / row["sparse_s"])
        self.assertIn("time to a first token", said)

    def test_names_that_nothing_has(self) -> None:
        run = bench(*SUITE, "--only", "^stages 9000 ")
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertIn("^stages 9000 ", run.stderr)
