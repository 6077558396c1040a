# SPDX-License-Identifier: MIT
"""nw choose: which kernel, and why; NIBBLEWAVE_FORCE."""

from __future__ import annotations

import json
import re
import tempfile
import tomllib
import unittest
from pathlib import Path

import pytest
from command import BUILD, SOURCE, run

DEFAULT = "decode_w4a16_bf16_g128_m1_perm"


def choose(*arguments: str, force: str = "") -> tuple[int, str, str]:
    clean = {"NIBBLEWAVE_FORCE": force} if force else {}
    done = run([BUILD / "bin/nw", "choose", *arguments], **clean)
    return done.returncode, done.stdout, done.stderr


def chosen(n: int, k: int, *more: str, force: str = "") -> dict:
    code, out, err = choose("--n", str(n), "--k", str(k), "--json", *more, force=force)
    assert (code, err) == (0, ""), err
    return json.loads(out)


TUNED = ("--m", "8")  # of 2048 x 2048: gen/tuning/gfx1151.toml has a row


def tuned_rows(gfx: str) -> list[tuple[dict, dict]]:
    table = tomllib.loads((SOURCE / f"gen/tuning/{gfx}.toml").read_text())
    return [(section, row) for section in table["tuned"] for row in section["shapes"]]


@unittest.skipUnless((SOURCE / "gen/tuning/gfx1151.toml").exists(), "nothing was tuned")
class Tuned(unittest.TestCase):
    def rows(self) -> list[tuple[dict, dict]]:
        return [(section, row) for section, row in tuned_rows("gfx1151") if section["family"] != "gguf"]

    def test_a_tuned_shape_gets_its_row(self) -> None:
        section, row = self.rows()[-1]
        got = chosen(row["n"], row["k"], "--dtype", section["dtype"], "--group", str(section["group"]).replace("k", "row"),
                     "--m", str(section["m"]), "--zeros", {"": "eight", "zp": "packed", "zt": "typed"}[section["zeros"]])
        self.assertEqual((got["why"], got["kernel"]), ("tuned", row["kernel"]))
        self.assertEqual([got["tuned"][key] for key in ("us", "next", "next_us", "default_us", "by")],
                         [row[key] for key in ("us", "next", "next_us", "default_us", "by")])
        self.assertEqual(got["tuned"]["distance"], 0)

    def test_a_shape_beside_it_gets_the_same(self) -> None:
        exact, beside = chosen(2048, 2048, *TUNED), chosen(2048 + 32, 2048, *TUNED)
        self.assertEqual((exact["why"], beside["why"], beside["kernel"]), ("tuned", "near", exact["kernel"]))
        self.assertEqual((beside["tuned"]["n"], beside["tuned"]["k"]), (2048, 2048))
        self.assertAlmostEqual(beside["tuned"]["distance"], 0.0224, places=4)

    def test_kernels_are_compared_draw_by_draw(self) -> None:
        got = chosen(2048, 2048, *TUNED, "--uncertainty")["timed"]
        for time in got.values():
            self.assertEqual(len(time["draws_us"]), 5)
            self.assertTrue(time["time_low_us"] <= time["time_us"] <= time["time_high_us"], time)
        ahead = [other < own for other, own in zip(got["next"]["draws_us"], got["chosen"]["draws_us"], strict=True)]
        sign = got["next"]["time_us"] < got["chosen"]["time_us"]
        self.assertEqual(got["next"]["draws_with_sign"], ahead.count(sign))
        out = choose("--n", "2048", "--k", "2048", *TUNED, "--uncertainty")[1]
        self.assertRegex(out, r"(?m)^timed now +[\d.]+ us \(sim\), [\d.]+ to [\d.]+ in 5 draws$")
        self.assertRegex(out, r"(?m)^ +[\d.]+ us .* in 5 draws  decode_w4a16\w+, (not )?faster than the chosen one in \d of them$")

    def test_baselines_and_ablations_need_not_be_built(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            there = Path(folder, "gfx1151")
            there.mkdir()
            for file in (BUILD / "hsaco/gfx1151").iterdir():
                if not file.name.endswith(".references.resources"):
                    (there / file.name).symlink_to(file)
            done = run([BUILD / "bin/nw", "choose", "--n", "2048", "--k", "2048"], NIBBLEWAVE_HSACO=folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_a_person_reads_the_reason(self) -> None:
        out = choose("--n", "2048", "--k", "2048", *TUNED)[1]
        self.assertIn("because     this shape was tuned (", out)
        us, rate, percent = map(float, re.search(r"^time +([\d.]+) us \(sim\), ([\d.]+) GB/s, ([\d.]+) % of what DRAM", out, re.M).groups())
        moved = 2048 * 2048 / 2 + 2 * 2048 * 2048 / 128 + 8 * 2 * 2 * 2048  # weights, scales, a and c
        self.assertAlmostEqual(rate, moved / us / 1e3, delta=0.1)
        self.assertTrue(50 < percent < 100, percent)
        self.assertRegex(out, r"(?m)^others +[\d.]+ us \(sim\)  decode_w4a16_bf16_g128_m8\w+, the fastest of them$")
        self.assertRegex(choose("--n", "2080", "--k", "2048", *TUNED)[1], "because     nearest tuned shape: 2048 x 2048 .*0.02 octaves away")


class ActOrder(unittest.TestCase):
    def test_few_rows_take_one_launch(self) -> None:
        for zeros, m in (("eight", 1), ("packed", 4)):
            got = chosen(4096, 4096, "--act-order", "--dtype", "f16", "--zeros", zeros, "--m", str(m))
            self.assertTrue(got["kernel"].startswith("decode_perm_w4a16_f16_g128"), got)
            self.assertNotIn("first", got)
        self.assertNotIn("launches", choose("--n", "4096", "--k", "4096", "--act-order")[1])

    def test_others_take_permute_a_first(self) -> None:
        for m, k, zeros, group, kernel in ((5, 4096, "eight", 128, "decode_w4a16"), (2, 8320, "eight", 64, "decode_w4a16"), (1, 4096, "typed", 128, "decode_w4a16"),
                                    (512, 4096, "packed", 128, "prefill_w4a16")):  # fmt: skip
            shape = ("--m", str(m), "--zeros", zeros, "--group", str(group))
            got, plain = chosen(4096, k, "--act-order", *shape), chosen(4096, k, *shape)
            self.assertEqual(got.pop("first"), "permute_a")
            self.assertEqual(got, plain)
            self.assertTrue(got["kernel"].startswith(kernel), got)
        self.assertRegex(choose("--n", "4096", "--k", "4096", "--act-order", "--m", "5")[1], r"(?m)^launches +permute_a, then this kernel$")

    def test_not_of_gguf(self) -> None:
        self.assertIn("excludes", choose("--n", "4096", "--k", "4096", "--act-order", "--gguf", "q4_K")[2])


class Experts(unittest.TestCase):
    SHAPE = ("experts", "--n", "1536", "--dtype", "f16")

    def launches(self, *more: str, k: int = 2048) -> list[str]:
        code, out, err = choose(*self.SHAPE, "--k", str(k), "--json", *more)
        self.assertEqual((code, err), (0, ""))
        return [launch["kernel"] for launch in json.loads(out)["launches"]]

    def test_by_slots_of_a_block(self) -> None:
        for size, kernel in ((1, "moe_w4a16_f16_g128_b1"), (8, "moe_w4a16_f16_g128_b8"), (64, "moe_prefill_w4a16_f16_g128_64x256")):
            self.assertEqual(self.launches("--block-size", str(size)), [kernel])

    def test_act_order(self) -> None:
        for size, k, gfx, kernels in ((4, 2048, "gfx1151", ["moe_perm_w4a16_f16_g128_b4"]), (8, 2048, "gfx1151", ["moe_permute_a", "moe_w4a16_f16_g128_b8"]),
                                      (4, 8192, "gfx1151", ["moe_permute_a", "moe_w4a16_f16_g128_b4"]),
                                      (64, 2048, "gfx1151", ["moe_permute_a", "moe_prefill_w4a16_f16_g128_64x256"]),
                                      (1, 2048, "gfx1030", ["moe_permute_a", "moe_w4a16_f16_g128_b1"])):  # fmt: skip
            self.assertEqual(self.launches("--act-order", "--block-size", str(size), "--gfx", gfx, k=k), kernels)
        self.assertRegex(choose(*self.SHAPE, "--k", "2048", "--act-order", "--block-size", "16")[1], r"(?m)^launches +moe_permute_a, then this kernel$")

    def test_refused(self) -> None:
        self.assertIn("block_size = 3: must be one of 1, 2, 4", choose(*self.SHAPE, "--k", "2048", "--block-size", "3")[2])
        self.assertIn("k = 32896: must be at most 32768", choose("experts", "--n", "8", "--k", "32896", "--act-order", "--block-size", "16")[2])


class Attention(unittest.TestCase):
    SHAPE = ("attention", "--sq", "8192", "--h", "16", "--hk", "8")

    def json(self, *more: str) -> dict:
        code, out, err = choose(*self.SHAPE, "--json", *more)
        self.assertEqual((code, err), (0, ""))
        return json.loads(out)

    def launches(self, *more: str) -> list[str]:
        return [launch["kernel"] for launch in self.json(*more)["launches"]]

    def test_kernels_by_type_and_head(self) -> None:
        for dtype in ("f16", "bf16"):
            for d in ("64", "128", "256"):
                got = self.json("--dtype", dtype, "--d", d)
                self.assertEqual((got["kernel"], got["why"], got["workspace_bytes"]), (f"attn_forward_{dtype}_d{d}", "untuned", 0))

    def test_few_queries(self) -> None:
        few = ("attention", "--sq", "8", "--sk", "32768", "--h", "16", "--hk", "8", "--dtype", "f16", "--json")
        for more, kernel in ((), "attn_decode_f16_d128"), (("--kv", "q8_0", "--page", "16"), "attn_decode_f16_d128_q8_0"):
            got = json.loads(choose(*few, *more)[1])
            self.assertEqual(got["kernel"], kernel)
            self.assertGreater(got["workspace_bytes"], 65536 * 4)  # counters, then sums of parts

    def test_many_queries_to_a_cache(self) -> None:
        for more, kernel in ((("--kv", "q8_0"), "attn_forward_f16_d128_cache_q8_0"), (("--page", "16"), "attn_forward_f16_d128_cache")):
            got = self.json("--dtype", "f16", *more)
            self.assertEqual((got["kernel"], got["workspace_bytes"]), (kernel, 0))

    def test_launches_of_a_selection(self) -> None:
        self.assertEqual(self.launches("--select", "canonical"), ["attn_mean_bf16", "attn_score_canonical_bf16_d128", "attn_select_peak"])
        self.assertEqual(self.launches("--select", "raw", "--rule", "mass"), ["attn_mean_bf16", "attn_score_raw_bf16_d128", "attn_select_mass"])
        self.assertEqual(self.launches("--select", "pooled"), ["attn_mean_bf16"] * 2 + ["attn_pooled_bf16_d128", "attn_select_peak"])
        means, scores = 64 * 8 * 128 * 2, 16 * 64 * 64 * 4
        self.assertEqual(self.json("--select", "canonical")["workspace_bytes"], means + scores)
        self.assertEqual(self.json("--select", "pooled")["workspace_bytes"], 3 * means + scores)

    def test_a_person_reads_them(self) -> None:
        out = choose(*self.SHAPE, "--select", "raw", "-v")[1]
        self.assertIn("launches    attn_mean_bf16, then attn_score_raw_bf16_d128, then this kernel\n", out)
        self.assertRegex(out, r"(?m)^registers   attn_mean_bf16: \d+ VGPRs, ")

    def test_what_is_forced(self) -> None:
        code, out, _ = choose(*self.SHAPE, force="attn_forward_bf16_d128")
        self.assertEqual(code, 0)
        self.assertIn("because     NIBBLEWAVE_FORCE names it", out)
        code, _, err = choose(*self.SHAPE, force="attn_forward_bf16_d64")
        self.assertEqual(code, 2)
        self.assertIn("it is for bf16 d64 same, the product is bf16 d128 same", err)

    def test_what_breaks_a_rule(self) -> None:
        for more, says in ((("--hk", "7"), "h = 16, hk = 7: query heads must be a multiple of key heads"), (("--d", "96"), "d = 96: must be 64, 128 or 256"),
                           (("--sk", "100"), "sq = 8192, sk = 100: causal, there must be a key for each query")):  # fmt: skip
            code, _, err = choose("attention", "--sq", "8192", "--h", "16", *(("--hk", "8") if more[0] != "--hk" else ()), *more)
            self.assertEqual(code, 2)
            self.assertIn(says, err)


class Untuned(unittest.TestCase):
    def test_far_away_is_the_default(self) -> None:
        got = chosen(64, 128)
        self.assertEqual((got["why"], got["kernel"], got["default"]), ("untuned", DEFAULT, DEFAULT))
        self.assertNotIn("tuned", got)

    def test_a_person_reads_the_reason(self) -> None:
        self.assertNotIn("registers", choose("--n", "64", "--k", "128")[1])
        out = choose("--n", "64", "--k", "128", "-v")[1]
        for line in (DEFAULT, "for         64 x 128, bf16 g128 m1, on gfx1151", "because     the default: no shape", "registers   "):
            self.assertIn(line, out)

    def test_wrong_products(self) -> None:
        for arguments, expect in [
            (["--n", "64", "--k", "100"], "k = 100: must be a multiple of the group size 128"),
            (["--n", "64", "--k", "128", "--m", "9", "--zeros", "typed"], "zeros are typed: that form is for m = 1..8"),
            (["--n", "64", "--k", "128", "--m", "0"], "m = 0: must be"),
            (["--n", "64", "--k", "128", "--gfx", "gfx900"], "gfx = gfx900: no kernels for it"),
        ]:
            code, out, err = choose(*arguments)
            self.assertEqual((code, out), (2, ""))
            self.assertIn(expect, err)


class ManyRows(unittest.TestCase):
    def test_the_family_for_as_many(self) -> None:
        for m, zeros, family in [(9, "eight", "mid"), (2048, "packed", "prefill"), (1, "carrier", "prefill")]:
            got = chosen(64, 128, "--m", str(m), "--zeros", zeros)
            self.assertTrue(got["kernel"].startswith(f"{family}_w4a16_bf16_g128"), got)
            self.assertEqual((got["why"], got["default"]), ("untuned", got["kernel"]))


class Fp8Activations(unittest.TestCase):
    """The same with --gguf and fp8: gfx12, mxfp4."""

    MANY = ("--gguf", "mxfp4", "--gfx", "gfx1201", "--m", "256")

    def test_only_when_it_is_allowed(self) -> None:
        plain, allowed = chosen(1024, 1024, *self.MANY), chosen(1024, 1024, *self.MANY, "--fp8-activations")
        self.assertNotIn("fp8", plain)
        fp8 = allowed["fp8"]
        self.assertTrue(fp8["kernel"].startswith("prefill_fp8_mxfp4_"), fp8)
        self.assertEqual((fp8["convert"], fp8["other"]), ("quantize_fp8_f16", plain["kernel"]))
        self.assertAlmostEqual(fp8["us"], fp8["convert_us"] + fp8["product_us"])
        self.assertIn("less than 1/16", fp8["error"])
        faster = fp8["us"] < fp8["other_us"]
        self.assertEqual((allowed["why"], allowed["kernel"]), ("fp8", fp8["kernel"]) if faster else (plain["why"], plain["kernel"]))

    @pytest.mark.all_tier
    def test_a_person_reads_the_reason(self) -> None:
        out = choose("--n", "2048", "--k", "2048", *self.MANY, "--fp8-activations")[1]
        self.assertRegex(out, r"^prefill_fp8_mxfp4_\w+\nfor +2048 x 2048, mxfp4 m256, on gfx1201\nlaunches +quantize_fp8_f16, then this kernel\n")
        self.assertRegex(out, r"(?m)^error +of an activation \(e4m3\) less than 1/16 of it \+ 2\^-18 of the largest of its row$")
        self.assertRegex(out, r"(?m)^others +[\d.]+ us \(sim\)  gguf_\w+, nw_gguf_linear$")

    def test_where_there_is_none(self) -> None:
        for more, says in ((("--gguf", "mxfp4", "--gfx", "gfx1151"), "quantize_fp8: no kernel for f16 on gfx1151; there is none"),
                           (("--gguf", "q4_K", "--gfx", "gfx1201"), "prefill_fp8: no kernel for q4_K on gfx1201; there is mxfp4")):  # fmt: skip
            with self.subTest(says):
                sizes = ("--n", "1024", "--k", "1024", "--m", "100", *more)
                code, out, err = choose(*sizes, "--fp8-activations")
                self.assertEqual((code, err), (0, ""))
                self.assertRegex(out, f"(?m)^fp8 +no product: .*{says}")
                self.assertTrue(out.startswith(choose(*sizes)[1]), out)
        self.assertIn("--gguf", choose("--n", "1024", "--k", "1024", "--fp8-activations")[2])


class Fp8Experts(unittest.TestCase):
    """nw choose experts --gguf, and with fp8 where the caller allows it."""

    SHAPE = ("experts", "--gguf", "mxfp4", "--gfx", "gfx1201", "--experts", "4", "--top-k", "2")

    def chosen(self, n: int, k: int, m: int, *more: str) -> dict:
        code, out, err = choose(*self.SHAPE, "--n", str(n), "--k", str(k), "--m", str(m), "--json", *more)
        self.assertEqual((code, err), (0, ""))
        return json.loads(out)

    def test_by_slots_of_an_expert(self) -> None:
        for m, kernels in ((1, ["quantize_q8_f32", "gguf_moe_decode_mxfp4"]), (12, ["gguf_halves_f32", "moe_align", "gguf_moe_mid_mxfp4_b16"]),
                           (128, ["gguf_halves_f32", "moe_align", "gguf_moe_prefill_mxfp4_64x128"])):  # fmt: skip
            with self.subTest(m=m):
                got = self.chosen(256, 512, m)
                self.assertNotIn("fp8", got)
                self.assertEqual([launch["kernel"][: len(want)] for launch, want in zip(got["launches"], kernels, strict=True)], kernels)

    def test_only_when_it_is_allowed(self) -> None:
        plain, allowed = self.chosen(512, 512, 128), self.chosen(512, 512, 128, "--fp8-activations")
        fp8 = allowed["fp8"]
        self.assertEqual(fp8["kernel"], "moe_prefill_fp8_mxfp4_64x128")
        self.assertEqual((fp8["convert"], fp8["other"]), ("quantize_fp8_f16", plain["kernel"]))
        self.assertAlmostEqual(fp8["us"], fp8["convert_us"] + fp8["product_us"])
        faster = fp8["us"] < fp8["other_us"]
        self.assertEqual((allowed["why"], allowed["kernel"]), ("fp8", fp8["kernel"]) if faster else (plain["why"], plain["kernel"]))

    @pytest.mark.all_tier
    def test_a_person_reads_the_reason(self) -> None:
        out = choose(*self.SHAPE, "--n", "2048", "--k", "2048", "--m", "256", "--fp8-activations")[1]
        self.assertRegex(out, r"^moe_prefill_fp8_mxfp4_\w+\nfor +experts of 2048 x 2048, mxfp4, 256 tokens at 2 of 4, on gfx1201\n"
                              r"launches +quantize_fp8_f16, then moe_align, then this kernel\n")  # fmt: skip
        self.assertRegex(out, r"(?m)^others +[\d.]+ us \(sim\)  gguf_moe_\w+, nw_gguf_moe_linear$")
        slow = choose(*self.SHAPE, "--n", "64", "--k", "256", "--m", "2", "--fp8-activations")[1]
        self.assertTrue(slow.startswith("gguf_moe_"), slow)
        self.assertRegex(slow, r"(?m)^fp8 +quantize_fp8_f16, then moe_prefill_fp8_mxfp4_\w+: [\d.]+ us \(sim\), .*; nw_gguf_moe_linear [\d.]+ us$")

    def test_where_there_is_none(self) -> None:
        sizes = ("--n", "256", "--k", "512", "--m", "4", "--fp8-activations")
        out = choose("experts", "--gguf", "q4_K", "--gfx", "gfx1201", "--experts", "4", *sizes)[1]
        self.assertRegex(out, r"(?m)^fp8 +no product: moe_prefill_fp8: no kernel for q4_K on gfx1201; there is mxfp4$")
        for more, says in ((("--experts", "4", "--top-k", "5"), "top_k = 5: must be at most experts = 4"), (("--experts", "0"), "experts = 0: must be at least 1"),
                           ((), "--experts"), (("--experts", "4", "--block-size", "16"), "excludes")):  # fmt: skip
            with self.subTest(says):
                code, _, err = choose("experts", "--gguf", "mxfp4", "--gfx", "gfx1201", *sizes, *more)
                self.assertEqual((code != 0, says in err), (True, True), err)


class Int8Activations(unittest.TestCase):
    """Only where the caller allows it: the product of int8 activations, where it is faster with their conversion."""

    MANY = ("--dtype", "f16", "--gfx", "gfx1201", "--m", "256")

    def test_only_when_it_is_allowed(self) -> None:
        plain, allowed = chosen(1024, 1024, *self.MANY), chosen(1024, 1024, *self.MANY, "--int8-activations")
        self.assertTrue(plain["kernel"].startswith("prefill_w4a16_f16_g128_"), plain)
        self.assertNotIn("int8", plain)
        int8 = allowed["int8"]
        self.assertEqual((allowed["why"], allowed["default"], allowed["kernel"]), ("int8", plain["default"], int8["kernel"]))
        self.assertTrue(int8["kernel"].startswith("prefill_w4a8_f16_g128_"), int8)
        self.assertEqual((int8["convert"], int8["other"]), ("quantize_rows_f16", plain["kernel"]))
        self.assertAlmostEqual(int8["us"], int8["convert_us"] + int8["product_us"])
        self.assertLess(int8["us"], int8["other_us"])

    def test_not_where_it_is_slower(self) -> None:
        few = ("--dtype", "f16", "--gfx", "gfx1201", "--m", "16")
        plain, allowed = chosen(1024, 1024, *few), chosen(1024, 1024, *few, "--int8-activations")
        int8 = allowed.pop("int8")
        self.assertEqual(allowed, plain)
        self.assertGreater(int8["us"], int8["other_us"])
        out = choose("--n", "1024", "--k", "1024", *few, "--int8-activations")[1]
        self.assertRegex(out, r"(?m)^int8 +quantize_rows_f16, then prefill_w4a8_\w+: [\d.]+ us \(sim\), .*; activations in 16 bits [\d.]+ us$")
        self.assertTrue(out.startswith(choose("--n", "1024", "--k", "1024", *few)[1]))

    def test_a_person_reads_the_reason(self) -> None:
        out = choose("--n", "1024", "--k", "1024", *self.MANY, "--int8-activations")[1]
        self.assertRegex(out, r"^prefill_w4a8_f16_g128_\w+\nfor +1024 x 1024, f16 g128 m256, on gfx1201\nlaunches +quantize_rows_f16, then this kernel\n")
        self.assertRegex(out, r"(?m)^others +[\d.]+ us \(sim\)  prefill_w4a16_\w+, activations in 16 bits$")

    def test_where_there_is_none(self) -> None:
        for more, says in ((("--gfx", "gfx1030"), "no kernel for bf16 on gfx1030"), (("--zeros", "carrier"), "zeros are in carriers"),
                           (("--k", "1056", "--group", "32"), "k = 1056: must be a multiple of 64")):  # fmt: skip
            with self.subTest(says):
                sizes = ("--n", "1024", "--m", "100", *(() if "--k" in more else ("--k", "1024")), *more)
                code, out, err = choose(*sizes, "--int8-activations")
                self.assertEqual((code, err), (0, ""))
                self.assertRegex(out, f"(?m)^int8 +no product: .*{says}")
                self.assertTrue(out.startswith(choose(*sizes)[1]), out)

    def test_what_excludes_it(self) -> None:
        for other in (("--gguf", "q4_K"), ("--uncertainty",)):
            code, _, err = choose("--n", "64", "--k", "256", *other, "--int8-activations")
            self.assertEqual((code, "excludes" in err), (2, True), err)


def gguf(m: int, n: int, k: int, *more: str, gfx: str = "gfx1100", force: str = "", type: str = "q4_K") -> dict:
    return chosen(n, k, "--gguf", type, "--m", str(m), "--gfx", gfx, *more, force=force)


class Gguf(unittest.TestCase):
    """Weights of GGUF files: methods for a product."""

    def test_far_away_the_rule(self) -> None:
        for m, kernel, convert in [(1, "decode_q4_K_m1", "quantize_q8"), (8, "decode_q4_K_m8", "quantize_q8"),
                                   (9, "mid_q4_K_b16", "gguf_halves"), (17, "mid_q4_K_b32", "gguf_halves")]:  # fmt: skip
            got = gguf(m, 64, 256)
            self.assertEqual((got["why"], got["kernel"], got["default"]), ("untuned", f"gguf_{kernel}", f"gguf_{kernel}"))
            self.assertEqual(got["route"], {"convert": f"{convert}_f32", "rows": m, "last": f"gguf_{kernel}"})

    @pytest.mark.all_tier
    def test_a_tuned_shape_gets_its_row(self) -> None:
        for gfx in ("gfx1100", "gfx1151", "gfx1201"):
            found = [(section, row) for section, row in tuned_rows(gfx) if section["family"] == "gguf"]
            self.assertTrue(found)
            for section, row in found:
                with self.subTest(gfx=gfx, type=section["type"], m=section["m"], n=row["n"], k=row["k"]):
                    got = gguf(section["m"], row["n"], row["k"], gfx=gfx, type=section["type"])
                    self.assertEqual((got["why"], got["kernel"], got["tuned"]["us"]), ("tuned", row["kernel"], row["us"]))

    def test_fewer_rows_than_were_tuned(self) -> None:
        (row,) = (row for section, row in tuned_rows("gfx1100") if (section.get("type"), section["m"], row["n"], row["k"]) == ("q4_K", 32, 2048, 2048))
        ten, twenty, forty = (gguf(m, 2048, 2048) for m in (10, 20, 40))
        self.assertEqual((twenty["why"], twenty["kernel"], twenty["tuned"]["us"]), ("near", row["kernel"], row["us"]))
        self.assertEqual((ten["why"], forty["why"]), ("untuned", "untuned"))  # nothing is tuned for 10 to 16, and 33 to 64 rows

    def test_a_person_reads_the_launches(self) -> None:
        out = choose("--gguf", "q8_0", "--m", "17", "--n", "64", "--k", "224", "--gfx", "gfx1151")[1]
        self.assertIn("for         64 x 224, q8_0 m17, on gfx1151", out)
        self.assertIn("launches    quantize_q8_f32, then this kernel, for 8 rows at a time; gguf_decode_q8_0_m1 for the last 1", out)

    def test_it_gets_what_is_forced(self) -> None:
        for m, name, rows in [(23, "gguf_decode_q4_K_m8", 8), (4, "gguf_mid_q4_K_b16", 4), (40, "gguf_mid_q4_K_b16", 40)]:
            got = gguf(m, 4096, 4096, force=name)
            self.assertEqual((got["why"], got["kernel"], got["route"]["rows"]), ("forced", name, rows))

    def test_wrong_products(self) -> None:
        for arguments, force, expect in [
            (["iq2_xs", "--m", "1", "--k", "256"], "", "type = iq2_xs: must be one of iq4_nl, iq4_xs, mxfp4, nvfp4, q2_K, q3_K, q4_0, q4_1, q4_K, q5_0, q5_1, q5_K, q6_K, q8_0"),
            (["q4_K", "--m", "0", "--k", "256"], "", "m = 0: must be at least 1"),
            (["q4_K", "--m", "1", "--k", "128"], "", "k = 128: must be a multiple of 256"),
            (["q4_K", "--m", "1", "--k", "256", "--gfx", "gfx900"], "", "gfx = gfx900: no kernels for it; there are kernels for gfx1"),
            (["q4_K", "--m", "4", "--k", "256"], "gguf_decode_q4_K_m8", "NIBBLEWAVE_FORCE=gguf_decode_q4_K_m8: it is for m >= 8, the product is m = 4, n = 64, k = 256: unset it"),
            (["q4_K", "--m", "16", "--k", "256"], "gguf_mid_q4_K_b32", "NIBBLEWAVE_FORCE=gguf_mid_q4_K_b32: it is for (32 <= 16 or m >= 17) and k >= 256"),
            (["q6_K", "--m", "8", "--k", "256"], "gguf_decode_q4_K_m8", "it is for q4_K, the product is q6_K"),
        ]:
            code, out, err = choose("--n", "64", "--gguf", *arguments, force=force)
            self.assertEqual((code, out), (2, ""))
            self.assertIn(expect, err)

    def test_other_forms_do_not_go_with_it(self) -> None:
        code, _, err = choose("--gguf", "q4_K", "--group", "128", "--n", "64", "--k", "256")
        self.assertNotEqual(code, 0)
        self.assertIn("--group excludes --gguf", err)


class Force(unittest.TestCase):
    def test_it_gets_what_it_names(self) -> None:
        got = chosen(2048, 2048, force=DEFAULT)
        self.assertEqual((got["why"], got["kernel"]), ("forced", DEFAULT))

    def test_what_does_not_fit_is_said(self) -> None:
        for name, expect in [
            (DEFAULT.replace("m1", "m4"), f"NIBBLEWAVE_FORCE={DEFAULT.replace('m1', 'm4')}: it is for bf16 g128 m4, the product is bf16 g128 m1"),
            (DEFAULT.replace("m1", "zp_m1"), "it is for bf16 g128 zp m1, the product is bf16 g128 m1"),
            ("decode_w4a16_f16_g32_m1_subnormal", "it is for f16 g32 m1, the product is bf16 g128 m1"),
            (DEFAULT + "x", f"there is no such kernel; the nearest names on gfx1151 are {DEFAULT}, "),
        ]:
            with self.subTest(name):
                code, out, err = choose("--n", "2048", "--k", "2048", force=name)
                self.assertEqual((code, out), (2, ""))
                self.assertIn(expect, err)

    def test_a_kernel_of_another_gfx(self) -> None:
        name = "splitk_w4a16_bf16_g128_sym_m1_y1u4"
        code, _, err = choose("--n", "64", "--k", "128", "--gfx", "gfx1201", force=name)
        self.assertEqual(code, 2)
        self.assertRegex(err, f"NIBBLEWAVE_FORCE={name}: there is one for .*gfx1151.*, the device is a gfx1201")

    def test_a_kernel_of_another_family_decides_nothing_here(self) -> None:
        self.assertEqual(chosen(64, 128, force="splitk_w4a16_bf16_g128_sym_m1_y1u4")["why"], "untuned")


if __name__ == "__main__":
    unittest.main()
