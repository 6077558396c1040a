# SPDX-License-Identifier: MIT
"""nw time: its report of a launch, agreement with HIP, and its refusals."""

from __future__ import annotations

import json
import tempfile
import unittest
from pathlib import Path

from command import DECODE, DECODE_ARGS, SUMS, SUMS_LAUNCH, hip_decode, nw


class Time(unittest.TestCase):
    def said(self, *arguments: str | Path) -> str:
        done = nw("time", *arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_hip_gives_the_same_times_for_the_same_launches(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            stats = Path(folder, "stats.jsonl")
            done = hip_decode(2, HIPSIM_TIMING="on", HIPSIM_STATS=str(stats))
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            first, second = map(json.loads, stats.read_text().splitlines())
        said = json.loads(self.said(DECODE, "--grid", "8", "--repeat", "2", "--json", "--args", *DECODE_ARGS))
        self.assertEqual(said.pop("times_us"), [first["time_us"], second["time_us"]])
        said.pop("advice")
        self.assertNotEqual(first["time_us"], second["time_us"])  # the caches are warm then
        when = {key: [line.pop(key) for line in (first, second)] for key in ("stream", "start_us", "end_us")}
        self.assertEqual(len(set(when["stream"])), 1)
        self.assertGreater(when["start_us"][1], when["end_us"][0])
        self.assertEqual(said, second)

    def test_everything_is_labelled_and_named(self) -> None:
        short = self.said(SUMS, *SUMS_LAUNCH)
        self.assertRegex(short, r"(?m)^DRAM +[\d.]+ GB/s, \d+ % of what it sustains: ")
        for word in ("cycles ", "utilization ", "caches ", "instructions ", "by default "):  # for experts
            self.assertNotIn(f"\n{word}", short)
        text = self.said(SUMS, *SUMS_LAUNCH, "--stats", "-v")
        self.assertTrue(text.startswith("sums on 8060S (gfx1151), grid 4,1,1, block 128,1,1\nModelled (sim), not measured"), text)
        for word in ("time ", "cycles ", "limiter ", "occupancy ", "utilization ", "LDS ", "stalls ", "wait_load ",
                     "caches ", "DRAM ", "instructions ", "by default "):
            self.assertIn(f"\n{word}", text.replace("\n" + " " * 14, "\n"))
        self.assertIn("4, all of them timed", text)

    def test_instructions_without_a_class_of_cost_are_listed(self) -> None:
        launch = [DECODE, "--grid", "8", "--args", *DECODE_ARGS]
        unknown = json.loads(self.said(*launch, "--json"))["unknown_classes"]
        line = next(line for line in self.said(*launch, "-v").splitlines() if line.startswith("by default"))
        for mnemonic in unknown:
            self.assertIn(mnemonic, line)
        self.assertEqual(unknown == [], "no instruction" in line)

    def test_error_bars(self) -> None:
        launch = [DECODE, "--grid", "8", "--repeat", "2", "--args", *DECODE_ARGS]
        plain, drawn = (json.loads(self.said(*more, "--json", *launch)) for more in ([], ["--uncertainty"]))
        self.assertEqual(len(drawn["draws_us"]), 5)
        self.assertEqual(drawn["time_low_us"], min(drawn["draws_us"] + [drawn["time_us"]]))
        self.assertEqual(drawn["time_high_us"], max(drawn["draws_us"] + [drawn["time_us"]]))
        for key in ("time_low_us", "time_high_us", "draws_us"):
            del drawn[key]
        self.assertEqual(drawn, plain)  # a replay changes nothing
        self.assertRegex(self.said("--uncertainty", *launch), r"(?m)^ +[\d.]+ to [\d.]+ us in 5 draws of the constants$")

    def test_hip_draws_the_same(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            stats = Path(folder, "stats.jsonl")
            hip_decode(1, HIPSIM_TIMING="on", HIPSIM_STATS=str(stats), HIPSIM_UNCERTAINTY="5", HIPSIM_COLD="weights", HIPSIM_WARM="code")
            (line,) = map(json.loads, stats.read_text().splitlines())
        said = json.loads(self.said("--uncertainty", "--cold", "weights", "--warm", "code", "--json", DECODE, "--grid", "8", "--args", *DECODE_ARGS))
        self.assertEqual((said["draws_us"], said["time_us"]), (line["draws_us"], line["time_us"]))

    def test_a_fair_comparison_has_cold_weights_and_warm_code(self) -> None:
        launch = [DECODE, "--grid", "8", "--json", "--args", *DECODE_ARGS]
        first, fair, again = (json.loads(self.said(*more, *launch)) for more in
                              ([], ["--cold", "weights", "--warm", "code"], ["--cold", "weights", "--warm", "code", "--repeat", "3"]))
        self.assertEqual((fair["cycles"], fair["dram_read"]), (again["cycles"], again["dram_read"]))
        self.assertLess(fair["cycles"], first["cycles"])
        self.assertRegex(first["note"], r"^cold code: \d+ % of the waves' cycles")
        self.assertNotIn("note", fair)
        self.assertIn("--warm code leaves this out", self.said(DECODE, "--grid", "8", "--args", *DECODE_ARGS))

    def test_slots_are_said(self) -> None:
        launch = [SUMS, *SUMS_LAUNCH]
        insts = json.loads(self.said(*launch, "--json"))["insts"]
        slots = sum(insts[key] for key in ("valu", "vopd", "trans", "wmma"))
        self.assertIn(f"\nslots         {slots} of the VALU\n", self.said(*launch, "--stats"))
        self.assertIn("one VALU, VOPD (a pair is one), TRANS or WMMA", nw("time", "--help").stdout)

    def test_a_large_grid_is_sampled_and_says_so(self) -> None:
        launch = [SUMS, "--kernel", "nothing", "--grid", "50000"]
        sampled, exact = (json.loads(self.said(*launch, "--json", *more)) for more in ([], ["--exact"]))
        self.assertLess(sampled["groups_timed"], 50000)
        self.assertEqual(exact["groups_timed"], 50000)
        self.assertEqual(exact["sampling_error"], 0)
        self.assertLess(abs(sampled["cycles"] / exact["cycles"] - 1), 0.1)
        self.assertIn("sampling error", self.said(*launch))

    def test_fills(self) -> None:
        """A kernel that counts the first dword's low byte down in a loop of three instructions."""

        def count(fill: str, *more: str) -> int:
            text = self.said(SUMS, "--kernel", "spin", "--json", *more, "--args", f"buf:1M{fill}")
            loops, rest = divmod(json.loads(text)["insts"]["total"] - 7, 3)
            self.assertEqual(rest, 0)
            return loops

        self.assertEqual([count(fill) for fill in ("", ":zero", ":5", ":0x1fe")], [0, 0, 5, 254])
        for fill in ("random", "f32", "f16", "bf16"):
            counts = [count(f":{fill}", "--seed", str(seed)) for seed in range(4)]
            self.assertGreater(len(set(counts)), 1, fill)
            self.assertEqual(counts[1], count(f":{fill}"))

    def test_other_parts_and_profiles(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            profile = Path(folder, "card.json")
            profile.write_text(json.dumps({"schema": "nibblewave.profile.v1", "part": "8060S", "constants": {},
                                           "facts": {"launch_overhead": 100}}))
            default, slower = (json.loads(self.said(SUMS, *SUMS_LAUNCH, "--json", *more))
                               for more in ([], ["--profile", str(profile)]))
        self.assertGreater(slower["time_us"], default["time_us"] + 90)

    def test_what_is_wrong_is_named_with_the_remedy(self) -> None:
        good = ["null", "null", "u32:1", "f16:0"]
        for arguments, words in [
            (["/no/such/file.hsaco"], ["/no/such/file.hsaco: No such file"]),
            ([SUMS.parent], ["is a directory"]),
            ([SUMS], ["3 kernels", "--kernel", "sums, nothing, spin"]),
            ([SUMS, "--kernel", "nope"], ["--kernel nope", "sums, nothing"]),
            ([SUMS, "--kernel", "sums", "--args", "u32:1"],
             ["takes 4 arguments, 1 are given", "out (8 bytes, global_buffer)", "n (4 bytes, by_value)"]),
            ([SUMS, "--kernel", "sums", "--args", "u32:1", *good[1:]], ["u32:1", "'out'", "(8 bytes, ", "4 bytes are given: use buf, npy, null"]),
            ([SUMS, "--kernel", "sums", "--args", *good[:2], "u32:-1", "f16:0"], ["-1", "must be 0 to 4294967295"]),
            ([SUMS, "--kernel", "sums", "--args", *good[:2], "i32:2147483648", "f16:0"], ["2147483648", "2147483647"]),
            ([SUMS, "--kernel", "sums", "--args", *good[:3], "f16:x"], ["x is not a number"]),
            ([SUMS, "--kernel", "sums", "--args", *good[:3], "foo:1"], ["foo", "bf16"]),
            ([SUMS, "--kernel", "sums", "--args", *good[:3], "hex:0"], ["two hexadecimal digits"]),
            ([SUMS, "--kernel", "sums", "--args", "buf:0", *good[1:]], ["buf:0", "must be 1 byte to"]),
            ([SUMS, "--kernel", "sums", "--args", "buf:1K:blue", *good[1:]], ["blue", "random"]),
            ([SUMS, "--kernel", "nothing", "--grid", "1,2,3,4"], ["--grid 1,2,3,4", "one to three"]),
            ([SUMS, "--kernel", "nothing", "--grid", "0"], ["--grid 0", "from 1"]),
            ([SUMS, "--kernel", "nothing", "--grid", "65536,65536"], ["2^32"]),
            ([SUMS, "--kernel", "nothing", "--block", "65"], ["--block 65", "at most 64"]),
            ([SUMS, "--kernel", "nothing", "--part", "9999X"], ["9999X", '"8060S" (gfx1151)', '"7900 XTX" (gfx1100)']),
            ([SUMS, "--kernel", "nothing", "--part", "7600"], ["is a gfx1102, but the code is for gfx1151"]),
            ([SUMS, "--kernel", "nothing", "--gfx", "gfx906"], ["gfx906", "gfx1100", "gfx1201"]),
            ([DECODE, "--gfx", "gfx1100"], ["gfx1151", "gfx1100"]),
            ([SUMS, "--kernel", "nothing", "--profile", "/no/profile"], ["/no/profile"]),
            ([SUMS, "--kernel", "nothing", "--trace", "/no/folder/trace"], ["--trace: /no/folder/trace: can't be written"]),
            ([SUMS, "--kernel", "nothing", "--issue-log", "/no/folder/log"], ["--issue-log: /no/folder/log: can't be written"]),
            ([SUMS, "--kernel", "sums", "--args", *good], ["illegal address", "null pointer"]),
            (["CMakeCache.txt"], ["CMakeCache.txt: not an ELF file"]),
            ([SUMS, "--kernel", "spin", "--args", "buf:4:200", "--max-insts", "100"], ["endless", "100", "kernel spin"]),
        ]:
            with self.subTest(arguments=arguments):
                done = nw("time", *arguments)
                self.assertNotEqual(done.returncode, 0)
                self.assertEqual(done.stdout, "")
                for word in words:
                    self.assertIn(word, done.stderr)

    def test_assembly_that_is_wrong_is_shown(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder, "wrong.s")
            source.write_text("v_no_such_thing v0\n")
            done = nw("time", source)
            self.assertIn("no .amdgcn_target: choose --gfx", done.stderr)
            done = nw("time", source, "--gfx", "gfx1100")
            self.assertIn("can't be assembled for gfx1100", done.stderr)
            self.assertIn("wrong.s:1:1", done.stderr)


if __name__ == "__main__":
    unittest.main()
