# SPDX-License-Identifier: MIT
"""gen/render.py refuses bad rows, and its output matches the built files."""

from __future__ import annotations

import dataclasses
import json
import shutil
import tempfile
import unittest
import unittest.mock
from pathlib import Path

from generator import BUILD, ROOT, catalogue, emit_header, regs, render, series_waits, targets

ARCHES = targets.arches_of(ROOT / "gen/targets.toml")
FAMILIES = catalogue.families_of(ROOT)
DECODE = FAMILIES["decode_w4a16"]
EVERYWHERE = {key: value for key, value in DECODE.variants[0].items() if key != "targets"}  # a variant for the family's targets


def kernels(**change) -> list[catalogue.Kernel]:
    """Kernels of decode_w4a16 with changed contract."""
    return list(catalogue.kernels({"decode_w4a16": dataclasses.replace(DECODE, **change)}, ARCHES))


class BadRows(unittest.TestCase):
    """Errors that gen/contract.py can't detect; the others: test_contract.py."""

    def refused(self, expect: str, **change) -> None:
        with self.assertRaisesRegex(ValueError, expect):
            kernels(**change)

    def test_contracts_as_they_are_pass(self) -> None:
        self.assertTrue(list(catalogue.kernels(FAMILIES, ARCHES)))

    def test_unknown_gfx(self) -> None:
        self.refused("gfx900", targets=[*DECODE.targets, "gfx900"], variants=[EVERYWHERE])

    def test_unknown_gfx_of_a_variant(self) -> None:
        self.refused("gfx900", variants=[DECODE.variants[0] | {"targets": ["gfx900"]}])

    def test_the_same_kernel_twice(self) -> None:
        self.refused("listed twice", variants=[*DECODE.variants, DECODE.variants[0]])

    def test_a_parameter_the_template_does_not_know(self) -> None:
        k = kernels(variants=[DECODE.variants[0] | {"dequant": "guess", "m": 1, "group": 32}])[0]
        with self.assertRaisesRegex(ValueError, "guess"):
            render.render(render.environment(ROOT), k, ARCHES[k.gfx])

    def test_arch_facts_have_no_defaults(self) -> None:
        for gfx, facts in ARCHES.items():
            self.assertEqual(set(facts), {*targets.FACTS, "generation", "series"}, gfx)

    def test_an_unknown_target(self) -> None:
        with self.assertRaisesRegex(ValueError, "gfx1234"):
            catalogue.shipped(ROOT, ["gfx1234"])


class TargetsOfAVariant(unittest.TestCase):
    def test_they_stand_for_those_of_the_family(self) -> None:
        last = DECODE.variants[-1] | {"targets": ["gfx1100", "gfx1201"]}
        built: dict[str, set[str]] = {}
        for k in kernels(variants=[EVERYWHERE, last]):
            built.setdefault(k.purpose, set()).add(k.gfx)
        self.assertEqual(built.pop(DECODE.purpose), set(targets.select(ARCHES, DECODE.targets)))
        self.assertEqual(set(map(frozenset, built.values())), {frozenset({"gfx1100", "gfx1201"})})

    def test_it_is_no_parameter(self) -> None:
        self.assertFalse([k for k in catalogue.kernels(FAMILIES, ARCHES) if k.params.keys() & {"targets", "purpose"}])


class Candidates(unittest.TestCase):
    def of(self, *candidates: dict) -> list[catalogue.Kernel]:
        return [k for k in kernels(candidates=list(candidates)) if k.gfx == "gfx1151" and k.variant == "decode_w4a16_bf16_g128_m1_perm"]

    def test_they_follow_the_variant_and_say_what_differs(self) -> None:
        names = [(k.symbol, k.candidate) for k in self.of({"waves": [4, 16]}, {"of": {"simd_waves": 0}, "simd_waves": 4})]
        stem = "decode_w4a16_bf16_g128_m1_perm"
        self.assertEqual(names, [(stem, False), (stem + "_w4", True), (stem + "_w16", True), (stem + "_s4", True)])

    def test_of_says_which_variants(self) -> None:
        self.assertEqual(len(self.of({"of": {"m": [2, 3]}, "waves": 4})), 1)
        self.assertEqual(len(self.of({"of": {"m": [1, 2], "dtype": "bf16"}, "waves": 4})), 2)

    def test_none_is_of_a_reference(self) -> None:
        self.assertFalse([k for k in catalogue.kernels(FAMILIES, ARCHES) if k.candidate and k.reference])

    def test_the_variant_itself_is_refused(self) -> None:
        with self.assertRaisesRegex(ValueError, "listed twice"):
            self.of({"waves": 8})

    def test_waves_that_the_template_does_not_know(self) -> None:
        k = self.of({"waves": 5})[1]
        with self.assertRaisesRegex(ValueError, "5"):
            render.render(render.environment(ROOT), k, ARCHES[k.gfx])

    def test_twins_are_left_out(self) -> None:
        twins = [k for k in self.of({"of": {"simd_waves": 0}, "simd_waves": [4, 6]})]  # 4 is what targets.toml says
        with tempfile.TemporaryDirectory() as build:
            done = render.render_group(ROOT, Path(build), twins)
            again = render.render_group(ROOT, Path(build), twins)
        self.assertEqual([r.text for r in again], [r.text for r in done])
        self.assertEqual([r.kernel.symbol[-3:] for r in render.without_twins(done)], ["erm", "_s6"])

    def test_their_manifest_is_where_nw_tune_looks(self) -> None:
        with tempfile.TemporaryDirectory() as build:
            render.render_candidates(ROOT, Path(build), "gfx1151", "^decode_w4a16_bf16_g128_m1_perm(_w4)?$")
            table = json.loads((Path(build) / "hsaco/manifest.json").read_text())
        self.assertEqual([k["symbol"] for k in table["kernels"]], ["decode_w4a16_bf16_g128_m1_perm", "decode_w4a16_bf16_g128_m1_perm_w4"])


class Shared(unittest.TestCase):
    """Kernels of a family for two targets, one after the other into one build directory."""

    FAMILY = ROOT / "asm/moe_align/family.toml"

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.build = Path(folder.name)

    def rendered(self, gfx: str) -> int:
        """How many bodies were rendered, not taken over."""
        with unittest.mock.patch.object(render, "render_body", wraps=render.render_body) as body:
            render.render_family(ROOT, self.build, gfx.split(","), self.FAMILY)
        return body.call_count

    def texts(self, gfx: str) -> dict[str, str]:
        return {file.stem: file.read_text() for file in (self.build / "asm" / gfx).glob("*.s")}

    def alone(self, gfx: str) -> dict[str, str]:
        env = render.environment(ROOT)
        of_family = [k for k in catalogue.kernels(FAMILIES, ARCHES) if (k.gfx, k.family) == (gfx, "moe_align") and not k.candidate]
        return {k.symbol: render.render(env, k, ARCHES[gfx]).text for k in of_family}

    def test_a_target_with_the_same_facts_takes_the_bodies_over(self) -> None:
        self.assertGreater(self.rendered("gfx1200"), 0)
        self.assertEqual(self.rendered("gfx1201"), 0)
        self.assertEqual(self.texts("gfx1201"), self.alone("gfx1201"))

    def test_targets_of_equal_facts_are_rendered_in_one_run(self) -> None:
        self.assertIn(["gfx1200", "gfx1201"], targets.twins(ARCHES))
        count = self.rendered("gfx1200,gfx1201")
        self.assertEqual(count, len(self.texts("gfx1200")))
        self.assertEqual(self.texts("gfx1201"), self.alone("gfx1201"))
        self.assertEqual(self.rendered("gfx1201"), 0)
        with self.assertRaisesRegex(ValueError, "gfx1151,gfx1201: differ"):
            self.rendered("gfx1151,gfx1201")

    def test_a_series_that_differs_in_waits_takes_the_bodies_over(self) -> None:
        for first, second in (("gfx1012", "gfx1030"), ("gfx1030", "gfx1012")):
            shutil.rmtree(self.build)
            self.assertGreater(self.rendered(first), 0)
            self.assertEqual(self.rendered(second), 0)
            self.assertEqual(self.texts(second), self.alone(second))
            self.assertNotEqual(*(series_waits.without_waits(t) == t for t in (next(iter(self.texts(g).values())) for g in (first, second))))

    def test_one_with_other_facts_renders_its_own(self) -> None:
        self.rendered("gfx1100")
        self.assertGreater(self.rendered("gfx1201"), 0)
        self.assertEqual(self.texts("gfx1201"), self.alone("gfx1201"))

    def test_a_body_that_was_changed_by_hand_is_not_taken(self) -> None:
        self.rendered("gfx1200")
        for file in (self.build / "asm/gfx1200").glob("*.s"):
            file.write_text(file.read_text() + "s_nop 0\n")
        self.assertGreater(self.rendered("gfx1201"), 0)
        self.assertEqual(self.texts("gfx1201"), self.alone("gfx1201"))

    def test_the_next_run_renders_nothing_and_touches_nothing(self) -> None:
        self.rendered("gfx1200")
        times = {file: file.stat().st_mtime_ns for file in self.build.rglob("*.s")}
        self.assertEqual(self.rendered("gfx1200"), 0)
        self.assertEqual({file: file.stat().st_mtime_ns for file in self.build.rglob("*.s")}, times)

    def test_the_depfile_names_contract_templates_and_generator(self) -> None:
        self.rendered("gfx1200")
        depends = (self.build / "asm/gfx1200/moe_align.d").read_text()
        for name in ("asm/moe_align/family.toml", "asm/moe_align/moe_align.s.j2", "asm/lib/wait.j2", "gen/dual.py", "gen/targets.toml"):
            self.assertIn(str(ROOT / name), depends)
        self.assertNotIn("quantize_q8", depends)

    def test_the_depfile_names_files_that_exist(self) -> None:
        """A name that doesn't exist makes ninja render the family in every build."""
        self.rendered("gfx1030")  # a target that has no table of gen/tuning
        depends = (self.build / "asm/gfx1030/moe_align.d").read_text().split(": ")[1].split()
        self.assertEqual([name for name in depends if not Path(name).exists()], [])
        self.assertIn(str(ROOT / "gen/tuning"), depends)  # which changes when a table comes


class Registers(unittest.TestCase):
    def test_a_name_twice(self) -> None:
        r = regs.Regs(3)
        r.v("acc", 4)
        with self.assertRaisesRegex(ValueError, "v_acc is named twice"):
            r.v("acc")

    def test_too_many(self) -> None:
        with self.assertRaisesRegex(ValueError, "limit is 256"):
            regs.Regs(3).v("all", 256)  # v0 is taken
        with self.assertRaisesRegex(ValueError, "limit is 106"):
            regs.Regs(16).s("all", 91)
        with self.assertRaisesRegex(ValueError, "limit is 65536"):
            regs.Regs(3).lds("all", 65537)

    def test_alignment(self) -> None:
        r = regs.Regs(3)
        self.assertEqual(r.s("a", 2, align=4), ".set s_a, 4")
        self.assertEqual(r.v("b", 4, align=4), ".set v_b, 4")

    def test_odd_where_parities_of_a_pair_differ(self) -> None:
        for banks, first, second in ((2, 5, 9), (4, 4, 7)):
            r = regs.Regs(3, facts={"vopd_banks": banks})
            r.v("before", 3)
            self.assertEqual(r.v("a", 2, align=4, odd=True), f".set v_a, {first}")
            r.v("between")
            self.assertEqual(r.v("b", odd=True), f".set v_b, {second}")
        self.assertEqual(regs.Regs(3, facts={"vopd_banks": 2}).v("a", 2, align=4, odd=True), ".set v_a, 1")

    def test_another_name(self) -> None:
        r = regs.Regs(3)
        r.s("rows", 8, align=4)
        self.assertEqual(r.alias("s_list", "s_rows"), ".set s_list, s_rows")
        self.assertEqual(r.alias("s_other", "s_rows", 2), ".set s_other, s_rows+2")
        self.assertEqual((r.symbols["s_list"], r.symbols["s_other"], r.used("s")), (4, 6, 12))
        with self.assertRaisesRegex(ValueError, "s_list is named twice"):
            r.alias("s_list", "s_rows")

    def test_names_given_again(self) -> None:
        r = regs.Regs(3)
        r.s("over", 2, align=2)
        r.v("t", 4, align=4)
        r.v("w", 2)
        again = r.apart(
            caller=lambda: "\n".join((r.s("lo"), r.s("hi"), r.v("t", 2), r.v("w", 3), "v_and_b32 v[v_w+1], s[s_lo], v[v_t]")),
            prefix="third", kept=["v_t", "v_w"], ended=["s_over"],
        )  # fmt: skip
        lines = [".set s_third_lo, 4", ".set s_third_hi, 5", ".set v_third_t, 4", ".set v_third_w, 10", "v_and_b32 v[v_third_w+1], s[s_third_lo], v[v_third_t]"]
        self.assertEqual(again.splitlines(), lines)
        self.assertEqual((r.symbols["v_w"], r.symbols["v_third_w"], r.used("v"), r.used("s")), (8, 10, 13, 6))
        with self.assertRaisesRegex(ValueError, "v_w is named twice"):
            r.v("w")
        with self.assertRaisesRegex(ValueError, "s_lo needs 1 SGPRs: apart.. has 0 left"):
            r.apart(caller=lambda: r.s("lo"), prefix="third", kept=[], ended=[])

    def test_a_block_without_pairs(self) -> None:
        block = "        v_mov_b32 v[v_a], 0\n        v_mov_b32 v[v_a+1], 0\n"
        for pairs, lines in [(True, 1), (False, 2)]:
            r = regs.Regs(3)
            r.v("a", 2, align=2)
            if not pairs:
                self.assertEqual(r.unpaired(), "")
            self.assertEqual(len(r.dual(lambda: block).splitlines()), lines)


class Manifest(unittest.TestCase):
    def setUp(self) -> None:
        self.manifest = json.loads((BUILD / "hsaco/manifest.json").read_text())
        self.rows = self.manifest["kernels"]

    def decode(self) -> list[dict]:
        return [row for row in self.rows if row["family"] == "decode_w4a16"]

    def test_every_file_is_listed_and_there(self) -> None:
        files = {str(f.relative_to(BUILD / "hsaco")) for f in (BUILD / "hsaco").glob("*/*.hsaco")}
        self.assertEqual({row["file"] for row in self.rows}, files)

    def test_every_kernel_has_its_resources(self) -> None:
        lines = [line.split() for file in (BUILD / "hsaco").glob("*/*.resources") for line in file.read_text().splitlines()]
        self.assertEqual(len(lines), len(self.rows))

    def test_all_targets_have_the_same_kernels(self) -> None:
        some = {
            "micro_clock_salu_float", "micro_clock_gfx12",  # instructions that only some have
            "moe_prefill_fp8", "prefill_fp8", "quantize_fp8",  # so has WMMA of FP8
            "splitk_w4a16",  # for the targets with published times to compare with
        }
        dots = {"micro_clock_dots_w1", "micro_valu_dot2_f32_f16"}  # without WMMA those with dots
        by_gfx: dict[str, set[str]] = {}
        for row in self.rows:
            some_have = row["family"] in some or (not ARCHES[row["gfx"]]["wmma"] and row["symbol"] in dots) or row["params"].get("kv") == "fp8"  # gfx12 converts it
            if not some_have and not row["candidate"] and not row["params"].get("without"):
                method = f"_{row['params'].get('dequant')}"  # by what a target has: dots of halves, of bf16
                by_gfx.setdefault(row["gfx"], set()).add(row["symbol"].replace(method, ""))
        self.assertEqual(set(by_gfx), set(ARCHES))
        by_facts: dict[tuple, set[frozenset[str]]] = {}
        for gfx, have in by_gfx.items():
            facts = (bool(ARCHES[gfx]["wmma"]), ARCHES[gfx]["dot2"], ARCHES[gfx]["dot4"])
            by_facts.setdefault(facts, set()).add(frozenset(have))
        for facts, different in by_facts.items():
            self.assertEqual(len(different), 1, facts)

    def test_what_lacks_one_idea_has_all_else_of_what_is_chosen(self) -> None:
        chosen = [(r["gfx"], r["params"]) for r in self.decode() if not r["reference"]]
        lacking = [r for r in self.decode() if r["params"]["without"]]
        self.assertEqual({r["gfx"] for r in lacking}, {"gfx1151"})
        for row in lacking:
            self.assertTrue(row["reference"], row["symbol"])
            self.assertIn((row["gfx"], row["params"] | {"without": ""}), chosen, row["symbol"])

    def test_every_combination_can_be_chosen_once(self) -> None:
        rows = [r for r in self.decode() if not r["reference"] and not r["candidate"]]
        chosen = [(r["gfx"], *(r["params"][key] for key in ("dtype", "group", "zeros", "m"))) for r in rows]
        self.assertEqual(len(chosen), len(set(chosen)))
        self.assertEqual(len(chosen), len(ARCHES) * 2 * (3 * 3 + 1) * 8)

    def test_there_is_room_for_the_waves_that_a_launch_wants(self) -> None:  # note T-021
        for row in self.decode():
            wanted = ARCHES[row["gfx"]]["simd_waves"] if ARCHES[row["gfx"]]["wmma"] else 4  # T-153
            if not row["candidate"]:  # the tuner may request other counts
                self.assertEqual(row["params"]["simd_waves"], wanted, row["symbol"])
            if not row["reference"]:
                self.assertGreaterEqual(row["waves_per_simd"], 4, (row["gfx"], row["symbol"]))

    def test_a_stranger_finds_what_a_launch_needs(self) -> None:
        self.assertEqual(self.manifest["version"], 2)
        for row in self.rows:
            for key in ("symbol", "gfx", "family", "file", "params", "kernarg_bytes", "block", "rows_per_workgroup",
                        "lds_bytes", "vgprs", "sgprs", "wave_size", "waves_per_simd"):
                self.assertIn(key, row, row["symbol"])
            for key in ("arguments", "sizes", "match", "let", "rules", "grid", "dynamic_lds_bytes", "before", "workspace"):
                self.assertIn(key, self.manifest["families"][row["family"]], row["family"])

    def test_files_begin_with_their_contract(self) -> None:
        for row in self.rows:
            lines = (BUILD / "asm" / row["gfx"] / f"{row['symbol']}.s").open()
            self.assertEqual((next(lines), next(lines)), (emit_header.RULER + "\n", f"// {row['symbol']}\n"))
            lines.close()
