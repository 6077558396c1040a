# SPDX-License-Identifier: MIT
"""HIPSIM_TRACE and HIPSIM_ISSUE_LOG, and nw time's options for the same files."""

from __future__ import annotations

import collections
import csv
import json
import tempfile
import unittest
from pathlib import Path

from command import DECODE, DECODE_ARGS, LOG_HEADER, SUMS, SUMS_LAUNCH, hip_decode, nw


def cycles(microseconds: float) -> int:
    return round(microseconds * 1000)


class Files(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.trace, self.log, self.stats = (Path(folder.name, name) for name in ("trace.json", "log.csv", "stats.jsonl"))

    def hip(self, launches: int = 1, complaint: str = "", **environment: str) -> None:
        done = hip_decode(launches, HIPSIM_STATS=str(self.stats), **environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(complaint, done.stderr)
        self.assertEqual(complaint == "", done.stderr == "")

    def lines(self) -> list[dict]:
        return [json.loads(line) for line in self.stats.read_text().splitlines()]

    def slices(self, category: str) -> list[dict]:
        return [e for e in json.loads(self.trace.read_text())["traceEvents"] if e.get("cat") == category]


class IssueLog(Files):
    def rows(self) -> list[dict[str, str]]:
        self.assertEqual(self.log.read_text().partition("\n")[0], LOG_HEADER)
        with self.log.open() as file:
            return list(csv.DictReader(file))

    def test_each_instruction_of_each_wave_has_its_row_in_order(self) -> None:
        self.hip(launches=2, HIPSIM_TIMING="exact", HIPSIM_ISSUE_LOG=str(self.log))
        rows = self.rows()
        for dispatch, line in enumerate(self.lines()):
            mine = [row for row in rows if row["dispatch"] == str(dispatch)]
            self.assertEqual(len(mine), line["insts"]["total"])
            issues = [int(row["issue_cycle"]) for row in mine]
            self.assertEqual(issues, sorted(issues))
            self.assertLessEqual(max(int(row["done_cycle"]) for row in mine), line["cycles"])
            self.assertEqual({int(row["workgroup"]) for row in mine}, set(range(8)))
            self.assertEqual({int(row["wave"]) for row in mine}, set(range(8)))
            self.assertLessEqual({row["stall_reason"] for row in mine}, set(line["stalls"]) | {"none"})
            self.assertTrue(any("v_dual_" in row["mnemonic"] and " :: " in row["mnemonic"] for row in mine))

    def test_a_wave_of_a_small_kernel(self) -> None:
        done = nw("time", SUMS, *SUMS_LAUNCH, "--issue-log", self.log)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        mine = [row for row in self.rows() if (row["workgroup"], row["wave"]) == ("3", "2")]
        self.assertEqual(len({row["simd"] for row in mine}), 1)
        head, loop, tail = mine[:7], mine[7:77], mine[77:]
        self.assertEqual([row["pc"] for row in head], ["0x0", "0x8", "0x10", "0x14", "0x18", "0x20", "0x24"])
        self.assertEqual([row["mnemonic"] for row in loop], [
            "global_load_b32", "v_add_nc_u32", "s_sub_u32", "s_waitcnt", "v_add_nc_u32", "s_cmp_lg_u32", "s_cbranch_scc1",
        ] * 10)
        self.assertEqual([row["mnemonic"] for row in tail], ["s_barrier", "global_store_b32", "s_endpgm"])
        for load, wait in zip(loop[0::7], loop[3::7]):  # a load's data is there when its wait ends
            self.assertEqual(wait["stall_reason"], "wait_load")
            self.assertEqual(wait["issue_cycle"], load["done_cycle"])


class Trace(Files):
    def check_nesting(self, events: list[dict]) -> None:
        tracks = collections.defaultdict(list)
        for e in events:
            if e["ph"] == "X":
                tracks[e["pid"], e["tid"]].append((cycles(e["ts"]), cycles(e["dur"])))
        self.assertEqual(len({tid for _, tid in tracks}), len(tracks))  # as Perfetto requires
        for track in tracks.values():
            ends: list[int] = []
            for at, long in sorted(track, key=lambda s: (s[0], -s[1])):
                while ends and ends[-1] <= at:
                    ends.pop()
                if ends:
                    self.assertLessEqual(at + long, ends[-1])
                ends.append(at + long)

    def check_arrows(self, events: list[dict], arrows: int) -> None:
        ends = collections.defaultdict(list)
        for e in events:
            if e["ph"] in "sf":
                ends[e["id"]].append(e)
        self.assertEqual(len(ends), arrows)
        waves = collections.defaultdict(list)
        for e in events:
            if e.get("cat") == "wave":
                waves[e["pid"], e["tid"]].append((cycles(e["ts"]), cycles(e["ts"]) + cycles(e["dur"])))
        for pair in ends.values():
            self.assertEqual([e["ph"] for e in pair], ["s", "f"])
            self.assertLessEqual(pair[0]["ts"], pair[1]["ts"])
            self.assertIn(pair[0]["name"], ("L0", "GL1", "L2", "MALL", "DRAM"))
            track = pair[0]["pid"], pair[0]["tid"]
            self.assertEqual((pair[1]["pid"], pair[1]["tid"]), track)
            inside = [w for w in waves[track] if w[0] <= cycles(pair[0]["ts"]) and cycles(pair[1]["ts"]) < w[1]]
            self.assertEqual(len(inside), 1)  # both ends in the same wave

    def test_launches_waves_instructions_and_requests(self) -> None:
        self.hip(launches=2, HIPSIM_TRACE=str(self.trace), HIPSIM_ISSUE_LOG=str(self.log))
        whole = json.loads(self.trace.read_text())
        events = whole["traceEvents"]
        self.assertIn("1 ns is 1 cycle", whole["otherData"]["time_unit"])
        self.assertEqual((whole["otherData"]["launches"], whole["otherData"]["instructions_left_out"]), (2, 0))
        self.check_nesting(events)
        lines = self.lines()
        launches = self.slices("launch")
        self.assertEqual([cycles(e["dur"]) for e in launches], [line["cycles"] for line in lines])
        self.assertGreater(launches[1]["ts"], launches[0]["ts"] + launches[0]["dur"])
        self.assertEqual(len(self.slices("wave")), 2 * 8 * 8)
        instructions = self.slices("instruction")
        self.assertEqual(len(instructions), sum(line["insts"]["total"] for line in lines))
        went = [e for e in instructions if "answered_by" in e["args"]]
        self.assertGreater(len(went), 100)
        self.check_arrows(events, len(went))
        self.assertLessEqual({"L0", "DRAM"}, {e["args"]["answered_by"] for e in went})
        stalled = sum(e["args"].get("stalled", 0) for e in instructions)
        self.assertEqual(stalled, sum(cycles(e["dur"]) for e in self.slices("stall")))
        self.assertEqual(stalled, sum(sum(line["stalls"].values()) for line in lines))

    def test_streams_stand_side_by_side(self) -> None:
        self.hip(launches=2, HIPSIM_TRACE=str(self.trace))
        lines, commands = self.lines(), self.slices("command")
        kernels = [e for e in commands if e["name"] == lines[0]["kernel"]]
        self.assertEqual([(e["args"]["start_us"], e["args"]["end_us"]) for e in kernels],
                         [(round(line["start_us"], 3), round(line["end_us"], 3)) for line in lines])
        self.assertIn("fill", {e["name"] for e in commands})
        self.assertEqual(len({e["tid"] for e in kernels}), 1)
        names = {e["tid"]: e["args"]["name"] for e in json.loads(self.trace.read_text())["traceEvents"]
                 if e["name"] == "thread_name"}
        self.assertEqual(names[kernels[0]["tid"]], f"stream {lines[0]['stream']}")

    def test_counters(self) -> None:
        self.hip(HIPSIM_TRACE=str(self.trace))
        events = json.loads(self.trace.read_text())["traceEvents"]
        series = collections.defaultdict(list)
        step = {}
        for e in events:
            if e["ph"] == "C":
                series[e["name"]].append(e["args"]["value"])
                step[e["name"]] = cycles(e["ts"]) / max(1, len(series[e["name"]]) - 1)
        self.assertEqual(set(series), {"waves resident", "bytes in flight", "DRAM GB/s, by arrival"})
        for values in series.values():
            self.assertGreater(max(values), 0)
            self.assertEqual(values[-1], 0)
        self.assertLessEqual(max(series["waves resident"]), 64)
        line, shader_ghz = self.lines()[0], 2.9
        moved = sum(series["DRAM GB/s, by arrival"]) * step["DRAM GB/s, by arrival"] / shader_ghz
        code = 4096  # the instructions' own, at most
        self.assertLessEqual(line["dram_read"] + line["dram_write"] - code, moved)
        self.assertLessEqual(moved, 1.001 * (line["dram_read"] + line["dram_write"]))

    def test_a_file_without_launches_is_whole(self) -> None:
        done = nw("time", SUMS, "--kernel", "nope", "--trace", self.trace)
        self.assertNotEqual(done.returncode, 0)
        self.assertFalse(self.trace.exists())
        done = nw("time", SUMS, "--kernel", "sums", "--args", "null", "null", "u32:1", "f16:0", "--trace", self.trace)
        self.assertIn("illegal address", done.stderr)
        self.assertEqual(json.loads(self.trace.read_text())["traceEvents"], [])

    def test_its_size_has_a_limit_that_is_said(self) -> None:
        done = nw("time", SUMS, "--kernel", "sums", "--grid", "2", "--args", "buf:1K", "buf:64M", "u32:6000", "f16:0",
                  "--trace", self.trace)
        self.assertEqual(done.returncode, 0)
        said = f"{self.trace}: launch 0 (sums): "
        self.assertIn(said, done.stderr)
        whole = json.loads(self.trace.read_text())
        left_out = whole["otherData"]["instructions_left_out"]
        self.assertIn(f"{left_out} instructions are left out", done.stderr)
        events = whole["traceEvents"]
        self.assertLess(len(events), 300_000)
        drawn = sum(e.get("cat") == "instruction" for e in events)
        self.assertEqual(drawn + left_out, 8 * (7 + 6000 * 7 + 3))
        self.check_nesting(events)


class Environment(Files):
    def test_asking_for_a_file_turns_timing_on(self) -> None:
        self.hip(HIPSIM_ISSUE_LOG=str(self.log))
        self.assertGreater(self.lines()[0]["cycles"], 0)

    def test_without_timing_or_where_it_cannot_be_written_there_is_no_device(self) -> None:
        for variable in ("HIPSIM_TRACE", "HIPSIM_ISSUE_LOG"):
            for path, more, why in ((str(self.trace), {"HIPSIM_TIMING": "off"}, "launches aren't timed under HIPSIM_TIMING=off"),
                                    ("/no/such/folder/file", {}, "No such file or directory")):  # fmt: skip
                done = hip_decode(1, **{variable: path}, **more)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(f"hipsim: no device: {variable}={path}: {why}", done.stderr)
        self.assertFalse(self.trace.exists())

    def test_a_full_disk_is_said_once(self) -> None:
        if not Path("/dev/full").exists():
            self.skipTest("no /dev/full")
        for variable in ("HIPSIM_TRACE", "HIPSIM_ISSUE_LOG"):
            done = hip_decode(2, **{variable: "/dev/full"})
            self.assertEqual(done.returncode, 0)
            self.assertEqual(done.stderr, f"hipsim: {variable}=/dev/full: No space left on device: it ends here\n")


if __name__ == "__main__":
    unittest.main()
