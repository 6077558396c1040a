# SPDX-License-Identifier: MIT
"""nw micro as a command: its list, measurements, output and refusals."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

BUILD = Path(os.environ["NW_BUILD_DIR"])
OFF = {"HIPSIM_TIMING": "off"}  # the simulated clock counts the wave's instructions


def nw(*arguments: str, environment: dict[str, str] | None = None) -> subprocess.CompletedProcess:
    return subprocess.run(
        [BUILD / "bin/nw", "micro", *arguments], capture_output=True, text=True, env=os.environ | (environment or {})
    )


def names(gfx: str) -> list[str]:
    return nw("--device", f"sim:{gfx}", "--list").stdout.splitlines()


class Command(unittest.TestCase):
    def measure(self, *arguments: str, environment: dict[str, str] | None = None) -> dict:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "rows.json")
            done = nw(*arguments, "--json", str(path), environment=environment)
            self.assertEqual(done.returncode, 0, done.stderr)
            return json.loads(path.read_text()) | {"text": done.stdout}

    def test_names_are_listed_once(self) -> None:
        for gfx in ("gfx1010", "gfx1030", "gfx1100", "gfx1151", "gfx1201"):
            listed = names(gfx)
            self.assertGreater(len(listed), 300)
            self.assertEqual(len(listed), len(set(listed)))
        self.assertIn("s_add_f32 dependent", names("gfx1151"))
        self.assertNotIn("s_add_f32 dependent", names("gfx1100"))
        self.assertIn("v_s_exp_f32 dependent", names("gfx1201"))

    def test_clock_is_that_of_the_part(self) -> None:
        """The loop fits into the bits that the clock has."""
        for gfx, mhz in (("gfx1010", 1905), ("gfx1030", 2250), ("gfx1100", 2500), ("gfx1201", 2970)):
            with self.subTest(gfx=gfx):
                (row,) = self.measure("--device", f"sim:{gfx}", "--only", "^shader clock$")["rows"]
                self.assertAlmostEqual(row["value"], mhz, delta=0.01 * mhz)

    def test_counted_instructions(self) -> None:
        """With timing off a step takes one cycle per instruction: the code is as its name says."""
        report = self.measure("--device", "sim:gfx1151", "--mib", "4", "--passes", "3", environment=OFF)
        rows = {row["name"]: row for row in report["rows"]}
        self.assertEqual(list(rows), [name for name in names("gfx1151") if name in rows])
        for name, want in {
            "v_add_f32 dependent": 1, "v_add_f32 independent": 1, "v_dual mul_f32::add_f32 independent": 1,
            "v_exp_f32>v_add_f32 dependent": 2, "v_readfirstlane_b32>s_add_u32>v_mov_b32": 3,
            "v_wmma_f32_16x16x16_f16+8": 9, "s_nop_15": 1, "v_add_f32x17 done": 17, "barrier, 8 waves": 1,
            "ds_load_b32, stride 32": 1, "ds_load_b128>wait": 2, "chase vector, 64 KiB": 2, "chase scalar, 4 KiB": 2,
        }.items():
            with self.subTest(name=name):
                self.assertEqual(rows[name]["value"], want)
                self.assertEqual((rows[name]["low"], rows[name]["high"]), (want, want))
                self.assertEqual(rows[name]["unit"], "cycles")
        self.assertEqual([len(passes) for passes in rows["v_add_f32 dependent"]["clocks"].values()], [3, 3, 3])

    def test_chains_do_not_depend_on_the_pass_before(self) -> None:
        """Published of gfx1100: 14 dependent additions are in flight, later ones issue every 5 cycles; 16 execute in 108."""
        report = self.measure("--device", "sim:gfx1100", "--only", r"^v_add_f32x\d+ (issued|done)$")
        rows = {row["name"]: row for row in report["rows"]}
        for row in rows.values():
            self.assertEqual(row["low"], row["high"], row["name"])
        self.assertEqual(rows["v_add_f32x14 issued"]["value"], 14)
        self.assertEqual(rows["v_add_f32x24 issued"]["value"] - rows["v_add_f32x16 issued"]["value"], 8 * 5)
        self.assertAlmostEqual(rows["v_add_f32x16 done"]["value"] - rows["v_add_f32x1 done"]["value"], 108, delta=1)
        self.assertAlmostEqual(rows["v_add_f32x20 done"]["value"] - rows["v_add_f32x1 done"]["value"], 128, delta=1)

    def test_only_and_labels(self) -> None:
        report = self.measure("--device", "sim:gfx1201", "--only", "^v_wmma_i32.*iu8 ", "--passes", "1", environment=OFF)
        self.assertEqual([row["name"] for row in report["rows"]],
                         ["v_wmma_i32_16x16x16_iu8 dependent", "v_wmma_i32_16x16x16_iu8 independent"])
        self.assertEqual((report["gfx"], report["simulated"]), ("gfx1201", True))
        self.assertIn("sim gfx1201", report["device"])
        self.assertIn("sim gfx1201", report["text"])

    def test_help_says_what_the_names_mean(self) -> None:
        text = nw("--help").stdout
        for part in ("--device", "--only", "--json", "--list", "--passes", "dependent", "a>b"):
            self.assertIn(part, text)

    def test_fit_names_what_is_wrong(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            card = Path(folder, "card.json")
            rows = {"schema": "nibblewave.micro.v1", "device": "x", "gfx": "gfx1151", "simulated": False, "bytes": 1, "rows": []}
            for content, arguments, said in (
                (None, [], [str(card)]),
                ("{", [], [str(card)]),
                (json.dumps({"schema": "nibblewave.profile.v1"}), [], ["nibblewave.profile.v1", "nw micro --json"]),
                (json.dumps(rows | {"gfx": "gfx900"}), [], ["gfx900"]),
                (json.dumps(rows), ["--part", "9999 XT"], ["9999 XT", "8060S"]),
                (json.dumps(rows), ["--part", "7600"], ["7600", "gfx1151", "gfx1102"]),
                (json.dumps(rows), ["--profile", "/nowhere/p.json"], ["/nowhere/p.json"]),
            ):
                with self.subTest(content=content, arguments=arguments):
                    card.unlink(missing_ok=True)
                    if content is not None:
                        card.write_text(content)
                    done = nw("--fit", str(card), *arguments)
                    self.assertEqual(done.returncode, 2)
                    for part in said:
                        self.assertIn(part, done.stderr)

    def test_fit_finds_the_constants_again(self) -> None:
        """A model with other constants plays the card; the fit starts from our constants and must find the card's."""
        changed = {"l0_latency": 120, "l2_latency": 301, "scalar_latency": 60, "lds_latency": 40, "valu_latency": 7,
                   "trans_interval": 5, "trans_latency": 12, "wmma_f16_interval": 36, "wmma_bank_clash": 6,
                   "scc_to_branch": 12, "branch_taken": 11, "l0_bytes": 64, "valu_to_scalar": 11}
        facts = {"mall_latency": 171.5, "launch_overhead": 5}
        rows = (r"^(chase (vector, (16 KiB|1 MiB|16 MiB)|scalar, 8 KiB)|ds_load_b32>wait|v_add_f32x4 done|v_exp_f32 \w+"
                r"|v_wmma_f32_16x16x16_f16(:one_bank| independent)|s_cmp.*not_taken|s_branch|global_load_b128, stride 4"
                r"|v_readfirstlane_b32>s_add_u32>v_mov_b32|s_add_u32 dependent|launch.*)$")
        with tempfile.TemporaryDirectory() as folder:
            card, theirs, found = (str(Path(folder, name)) for name in ("card.json", "theirs.json", "found.json"))
            Path(theirs).write_text(json.dumps(
                {"schema": "nibblewave.profile.v1", "part": "8060S", "constants": changed, "facts": facts}))
            done = nw("--device", "sim:gfx1151", "--only", rows, "--json", card, environment={"HIPSIM_PROFILE": theirs})
            self.assertEqual(done.returncode, 0, done.stderr)
            done = nw("--fit", card, "--profile", found)
            self.assertEqual(done.returncode, 0, done.stderr)
            profile = json.loads(Path(found).read_text())
            for name, value in changed.items():
                with self.subTest(name=name):
                    self.assertEqual(profile["constants"][name], value, done.stdout)
            for name, value in facts.items():
                with self.subTest(name=name):
                    self.assertAlmostEqual(profile["facts"][name] / value, 1, delta=0.005, msg=done.stdout)
            self.assertEqual(profile["constants"]["salu_latency"], 2)  # measured, and not changed
            self.assertNotIn("f64_latency", profile["constants"])      # not measured
            again = nw("--device", "sim:gfx1151", "--only", "^v_exp_f32 ind", environment={"HIPSIM_PROFILE": found})
            self.assertRegex(again.stdout, r"v_exp_f32 independent +5\.00 cycles")

    def test_fit_finds_queues_starts_and_launches_again(self) -> None:
        """As above, of what the rows about issue, workgroups, launches and copies determine."""
        self.found_again("8060S", "gfx1151", {
            "valu_sgpr_read": 8, "salu_execution": 6, "salu_move_execution": 4, "dot_bf16_interval": 3, "dot_pair_interval": 2,
            "getreg_latency": 10,
            "vcc_latency": 3, "cache_maintenance": 9, "atomic_latency": 60, "address_lanes": 16, "atomic_lanes": 4,
            "lds_backlog": 128, "vmem_backlog": 32, "valu_queue": 10, "trans_queue": 3, "wmma_queue": 6, "instruction_miss": 120,
            "group_launch": 4, "wave_launch": 2, "place_refill": 160, "utcl1_latency": 100,
        }, {"launch_overhead": 2, "launch_gap": 2.2, "packet_interval": 1.5, "graph_gap": 2.5, "graph_launch": 9, "copy_overhead": 11,
            "link_gb_per_s": 60, "link_both_gb_per_s": 70, "copy_gb_per_s": 180})  # fmt: skip
        self.found_again("8060S", "gfx1151", {"l0_misses": 160}, {"l2_channels": 5, "shader_arrays": 3})
        self.found_again("9070 XT", "gfx1201", {"scalar_trans_interval": 3, "cache_maintenance": 20, "group_launch": 5},
                         {"graph_launch": 4})  # fmt: skip

    def found_again(self, part: str, gfx: str, constants: dict[str, float], facts: dict[str, float]) -> None:
        """The fit to the rows of a model with these constants, by the rows that determine them."""
        told = {line.split()[0]: line.partition(" <- ")[2] for line in nw("--constants", "--part", part).stdout.splitlines()[1:]}
        rows = "^(" + "|".join(re.escape(told[name]) for name in [*constants, *facts]) + ")$"
        with tempfile.TemporaryDirectory() as folder:
            card, theirs, found = (str(Path(folder, name)) for name in ("card.json", "theirs.json", "found.json"))
            Path(theirs).write_text(json.dumps(
                {"schema": "nibblewave.profile.v1", "part": part, "constants": constants, "facts": facts}))
            done = nw("--device", f"sim:{gfx}", "--only", rows, "--json", card, environment={"HIPSIM_PROFILE": theirs})
            self.assertEqual(done.returncode, 0, done.stderr)
            done = nw("--fit", card, "--part", part, "--profile", found)
            self.assertEqual(done.returncode, 0, done.stderr)
            profile = json.loads(Path(found).read_text())
            for section, wanted in (("constants", constants), ("facts", facts)):
                for name, value in wanted.items():
                    with self.subTest(name=name):
                        close = 1 if value >= 100 else 0.005 * value  # of hundreds one more need not show
                        self.assertAlmostEqual(profile[section].get(name, 0), value, delta=close, msg=done.stdout)

    def test_each_constant_has_a_row_or_a_reason(self) -> None:
        for part, gfx in (("7900 XTX", "gfx1100"), ("8060S", "gfx1151"), ("9070 XT", "gfx1201"), ("780M", "gfx1103")):
            listed = names(gfx)
            for line in nw("--constants", "--part", part).stdout.splitlines()[1:]:
                with self.subTest(part=part, constant=line.split()[0]):
                    row, why = line.partition(" <- ")[2], line.partition(" -- ")[2]
                    self.assertTrue(row in listed or len(why) > 10, line)

    def test_part_needs_what_it_is_for(self) -> None:
        done = nw("--device", "sim:gfx1151", "--part", "8060S", "--only", "^clock$")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--constants", done.stderr)

    def test_fit_without_rows_keeps_everything(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            card = Path(folder, "card.json")
            card.write_text(json.dumps({"schema": "nibblewave.micro.v1", "device": "AMD Radeon RX 7800 XT", "gfx": "gfx1101",
                                        "simulated": False, "bytes": 1 << 26, "rows": []}))
            done = nw("--fit", str(card))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("7800 XT", done.stdout)
            self.assertIn("no such row", done.stdout)
            profile = json.loads(Path(folder, "card.profile.json").read_text())
            self.assertEqual((profile["part"], profile["constants"], profile["facts"]), ("7800 XT", {}, {}))

    def test_bad_input_is_named(self) -> None:
        for arguments, said in (
            (["--only", "("], ["--only (", "regular expression"]),
            (["--only", "v_no_such"], ["v_no_such", "--list"]),
            (["--passes", "33", "--only", "clock"], ["33 passes", "1 to 32"]),
            (["--passes", "0", "--only", "clock"], ["0 passes"]),
            (["--json", "/nowhere/x.json", "--only", "^clock$"], ["/nowhere/x.json"]),
            (["--mib", "0"], ["--mib"]),
            (["--device", "sim:gfx900"], ["gfx900"]),
        ):
            with self.subTest(arguments=arguments):
                done = nw("--device", "sim:gfx1151", *arguments) if "--device" not in arguments else nw(*arguments)
                self.assertNotEqual(done.returncode, 0)
                for part in said:
                    self.assertIn(part, done.stderr)


if __name__ == "__main__":
    unittest.main()
