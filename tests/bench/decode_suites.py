# SPDX-License-Identifier: MIT
"""nw_bench --suite decode, prefill and stride: the rows by their fixed names, and messages for values that match nothing."""

from __future__ import annotations

import subprocess
import tempfile
import unittest
from pathlib import Path

import pytest
from suite import Suite, bench


class Suites(Suite):
    def test_a_published_row_alone_is_the_same_as_among_others(self) -> None:
        rows, said = self.rows("--suite", "decode", "--only", "^2048x2048 g128 f16 zp m1$")
        (row,) = [r for r in rows if r["table"] == "published"]
        self.assertEqual((row["k"], row["n"], row["m"], row["zp"], row["group"]), (2048, 2048, 1, "zt", "128"))
        self.assertEqual((row["table"], row["published_kernel"], row["published_us"]), ("published", "wvsplitk_int4", 13.07))
        self.assertAlmostEqual(row["speedup"], row["published_us"] / row["time_us"])
        self.assertGreater(row["pct_of_bound"], 30)
        self.assertLess(row["pct_of_bound"], 100)
        self.assertIn("published", said)
        several, said = self.rows("--suite", "decode", "--only", "^2048x2048 g128 f16 zp m[12]$")
        among = [r for r in several if r.get("m") == 1]
        self.assertEqual([r["time_us"] for r in among], [row["time_us"]])
        self.assertIn("geometric", said)

    @pytest.mark.all_tier
    def test_error_bars(self) -> None:
        row_of = ["--suite", "decode", "--only", "^2048x2048 g128 f16 zp m1$"]
        (plain,), _ = self.rows(*row_of)
        (row,), said = self.rows(*row_of, "--uncertainty")
        self.assertEqual(row["time_us"], plain["time_us"])
        self.assertEqual(len(row["draws_us"]), 5)
        self.assertLess(row["time_low_us"], row["time_us"])
        self.assertGreater(row["time_high_us"], row["time_us"])
        faster = [us < row["published_us"] for us in row["draws_us"]]
        self.assertEqual(row["draws_with_sign"], faster.count(row["speedup"] > 1))
        self.assertIn("sign: draws in which", said)
        several, said = self.rows("--suite", "decode", "--only", "^2048x2048 g128 f16 zp m[12]$", "--uncertainty")
        self.assertRegex(said, r"[\d.]+ to [\d.]+ in draws, on this side of 1 in \d of 5")

    def test_prefill_beside_what_was_published(self) -> None:
        rows, said = self.rows("--suite", "prefill", "--m", "65", "--only", "^2560x2560 f16 sym m65$")
        (row,) = rows
        self.assertEqual((row["k"], row["n"], row["m"], row["dtype"], row["zp"]), (2560, 2560, 65, "f16", "sym"))
        self.assertEqual((row["published_base_tflops"], row["published_tuned_tflops"]), (23.6, 30.3))
        self.assertIn("prefill_w4a16_f16_g128", row["kernel"])
        self.assertAlmostEqual(row["tflops"], 2e-6 * 65 * 2560 * 2560 / row["time_us"])
        self.assertLess(row["pct_of_wmma_peak"], 65 / 128 * 100)  # no tile has fewer rows
        self.assertGreater(row["pct_of_wmma_peak"], 0.1)
        self.assertGreater(row["valu_per_wmma"], 0.8)  # 13 to a dword of weights, two dwords to 32
        self.assertIn("geometric mean", said)
        self.assertIn("no row of suite prefill", bench("--suite", "prefill", "--only", "nothing").stderr)

    def test_prefill_of_int8_activations(self) -> None:
        rows, said = self.rows("--suite", "prefill", "--table", "int8", "--m", "65", "--only", "^2560x2560 f16 zp m65$", "--device", "sim:gfx1201")
        (row,) = rows
        self.assertEqual((row["kernel"][:24], row["other_kernel"][:25]), ("prefill_w4a8_f16_g128_zp", "prefill_w4a16_f16_g128_zp"))
        self.assertGreater(min(row["rows_us"], row["product_us"]), 0)
        self.assertAlmostEqual(row["time_us"], row["rows_us"] + row["product_us"])
        self.assertAlmostEqual(row["speedup"], row["other_us"] / row["product_us"])
        self.assertGreater(row["speedup"], row["speedup_with_rows"])
        (plain,), _ = self.rows("--suite", "prefill", "--m", "65", "--only", "^2560x2560 f16 zp m65$", "--device", "sim:gfx1201")
        self.assertEqual((row["other_us"], row["other_kernel"]), (plain["time_us"], plain["kernel"]))
        self.assertRegex(said, r"geometric mean of the gain \d\.\d\d\n")
        none = bench("--suite", "prefill", "--table", "int8", "--device", "sim:gfx1030")
        self.assertEqual((none.returncode, "gfx1030 has no such kernels" in none.stderr), (2, True), none.stderr)

    @pytest.mark.all_tier
    def test_gguf_of_fp8_activations(self) -> None:
        one = ("--m", "65", "--only", "^Llama-3.1-8B o 4096x4096 mxfp4 m65$", "--device", "sim:gfx1201")
        (row,), said = self.rows("--suite", "gguf", "--table", "fp8", *one)
        self.assertEqual((row["kernel"][:17], row["other_kernel"][:18]), ("prefill_fp8_mxfp4", "gguf_prefill_mxfp4"))
        self.assertAlmostEqual(row["time_us"], row["activations_us"] + row["product_us"])
        self.assertAlmostEqual(row["speedup"], row["other_product_us"] / row["product_us"])
        self.assertAlmostEqual(row["speedup_with_rows"], row["other_us"] / row["time_us"])
        (plain,), _ = self.rows("--suite", "gguf", *one)
        self.assertEqual((row["other_product_us"], row["other_kernel"]), (plain["time_us"], plain["kernel"]))
        self.assertRegex(said, r"geometric mean of the gain \d\.\d\d\n")
        none = bench("--suite", "gguf", "--table", "fp8", "--device", "sim:gfx1151")
        self.assertEqual((none.returncode, "gfx1151 has no such kernels" in none.stderr), (2, True), none.stderr)

    @pytest.mark.all_tier
    def test_experts_of_fp8_activations(self) -> None:
        (row,), said = self.rows(
            "--suite", "gguf", "--table", "fp8", "--m", "33", "--only", "^gpt-oss-20b down 2880x2880 mxfp4 t33$", "--device", "sim:gfx1201"
        )  # fmt: skip
        self.assertEqual((row["kernel"], row["other_kernel"][:16]), ("moe_prefill_fp8_mxfp4_64x128", "gguf_moe_mid_mxf"))
        self.assertAlmostEqual(row["time_us"], row["activations_us"] + row["product_us"])
        self.assertAlmostEqual(row["speedup"], row["other_product_us"] / row["product_us"])
        self.assertAlmostEqual(row["speedup_with_rows"], row["other_us"] / row["time_us"])
        self.assertIn("Experts of activations in fp8", said)

    def test_layers_and_the_projection(self) -> None:
        rows, said = self.rows(
            "--suite", "decode", "--table", "shapes", "--model", "Gemma-2B", "--dtype", "f16", "--m", "1,2", "--only", "x2048 .* sym"
        )  # fmt: skip
        tables = {name: [r for r in rows if r["table"] == name] for name in ("shapes", "model")}
        self.assertEqual({(r["k"], r["n"], r["m"]) for r in tables["shapes"]}, {(k, 2048, m) for k in (2048, 16384) for m in (1, 2)})
        self.assertEqual(len(rows), len(tables["shapes"]))  # no model: two of its layers were left out
        for row in tables["shapes"]:
            self.assertGreater(row["valu_slots_per_8w"], 4)
            self.assertGreater(row["of_m1"], 0.5)
            self.assertGreater(row["pct_of_bound_without_launch"], row["pct_of_bound"])
        self.assertIn("/m1: time by that of one row", said)

    @pytest.mark.all_tier
    def test_what_ideas_are_worth(self) -> None:
        rows, said = self.rows("--suite", "decode", "--table", "ablations", "--only", "^8192x512 .* (bf16 .* m1|f16 .* m8)$")
        of = {dtype: {r["without"]: r for r in rows if r["dtype"] == dtype} for dtype in ("bf16", "f16")}
        always = {"", "VOPD", "wide scale loads", "activations first", "padding", "workgroups that stay"}
        self.assertEqual(set(of["bf16"]), always | {"newer unpacking", "bias correction", "sums once per workgroup"})
        self.assertEqual(set(of["f16"]), always)
        for products in of.values():
            for row in products.values():
                self.assertEqual(row["slots_with"], products[""]["valu_slots_per_8w"])
                self.assertAlmostEqual(row["time_ratio"], row["time_us"] / products[""]["time_us"])
        added = {idea: r["valu_slots_per_8w"] - r["slots_with"] for idea, r in of["bf16"].items()}
        self.assertGreater(added["bias correction"], 10)
        for idea, at_least in [("VOPD", 2), ("newer unpacking", 0.5), ("sums once per workgroup", 0.3), ("wide scale loads", 0.1)]:
            self.assertGreater(added[idea], at_least, idea)
        for idea in ("", "activations first", "padding"):
            self.assertEqual(added[idea], 0, idea)
        self.assertGreater(of["bf16"]["padding"]["time_ratio"], 1.5)
        self.assertGreater(of["f16"]["VOPD"]["valu_slots_per_8w"], 1.5 * of["f16"]["VOPD"]["slots_with"])
        self.assertIn("without VOPD", said)

    @pytest.mark.all_tier
    def test_padding(self) -> None:
        rows, said = self.rows("--suite", "stride", "--only", "published gfx115. 8192x(512|2048)$")
        gained = {(r["gfx"], r["n"]): r["speedup"] for r in rows if r["pad"]}
        self.assertGreater(gained["gfx1151", 512], 1.3)
        self.assertLess(gained["gfx1150", 2048], 1.02)
        self.assertRegex(said, r"8192x512 .* 1\.848\n")  # as published

    def test_bad_values_are_named(self) -> None:
        for arguments in (["--only", "nothing"], ["--only", "("], ["--device", "hip:0"], ["--table", "none"]):
            for suite in ("decode", "stride"):
                run = bench("--suite", suite, *arguments)
                if suite == "stride" and "--table" in arguments:
                    continue
                self.assertEqual(run.returncode, 2, run.stderr)
                self.assertIn(arguments[-1], run.stderr)

    @pytest.mark.all_tier
    def test_a_page(self) -> None:
        try:
            subprocess.run(["/usr/bin/python3", "-c", "import matplotlib"], check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            self.skipTest("no matplotlib")
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "page.html"
            run = bench("--suite", "decode", "--only", "^2048x2048 .* f16 sym m[12]$", "--table", "published,ablations", "--html", str(page))
            self.assertEqual(run.returncode, 0, run.stderr)
            text = page.read_text()
            self.assertIn("<svg", text)
            self.assertIn("Beside published times", text)
            self.assertIn("What each idea is worth", text)
            self.assertIn("f16 m1: % more time without it", text)
            for loaded in ("<script", "<link", "src=", "@import"):  # it needs nothing else
                self.assertNotIn(loaded, text)
