# SPDX-License-Identifier: MIT
"""nw atlas: rows of runs on the model, rows of traces, and the ranking of both."""

from __future__ import annotations

import functools
import hashlib
import json
import subprocess
import tempfile
import unittest
from pathlib import Path

from command import BUILD, nw, run

GFX = "gfx1151"
HSACO = BUILD / "hsaco"
SHAPES = """model,layer,N,K,count,kind,experts,topk
Llama-3.1-8B,o,256,512,3,dense,,
Llama-3.1-8B,down,128,1024,2,dense,,
Llama-3.1-8B,k,64,512,0,dense,,
Qwen3-30B-A3B,o,256,512,4,dense,,
Qwen3-30B-A3B,gate_up,192,512,4,moe,8,2
Qwen3-30B-A3B,down,64,512,4,moe,8,2
Qwen3-4B,o,64,512,1,dense,,
"""
V3 = ('"Kind","Agent_Id","Queue_Id","Stream_Id","Thread_Id","Dispatch_Id","Kernel_Id","Kernel_Name","Correlation_Id",'
      '"Start_Timestamp","End_Timestamp","LDS_Block_Size","Scratch_Size","VGPR_Count","Accum_VGPR_Count","SGPR_Count",'
      '"Workgroup_Size_X","Workgroup_Size_Y","Workgroup_Size_Z","Grid_Size_X","Grid_Size_Y","Grid_Size_Z"\n')  # fmt: skip
OURS = "gguf_decode_q4_K_m1"


@functools.cache
def manifest() -> list[dict]:
    return json.loads((HSACO / "manifest.json").read_text())["kernels"]


def simd_cycles(part: dict[str, float], unit: str) -> float:
    """Cycles of all SIMDs in a microsecond of which this unit is always busy."""
    return 4 * part["wgps"] * part["wmma_mhz" if unit == "wmma" else "shader_mhz"]


@functools.cache
def kernels() -> dict[str, dict]:
    return {row["symbol"]: row for row in manifest() if row["gfx"] == GFX}


def v3(name: str, start: int, end: int, grid: int = 4096) -> str:
    return f'"KERNEL_DISPATCH","Agent 1",1,0,70,1,33,"{name}",1,{start},{end},1024,0,96,0,128,256,1,1,{grid},1,1\n'


class Folder(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, name: str, text: str | bytes) -> Path:
        path = self.folder / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def fails(self, done: subprocess.CompletedProcess[str], *expect: str) -> None:
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        for text in expect:
            self.assertIn(text, done.stderr)


class Runs(Folder):
    def setUp(self) -> None:
        super().setUp()
        self.shapes = self.write("shapes.csv", SHAPES)

    def atlas(self, *arguments: str | Path, device: str = f"sim:{GFX}") -> subprocess.CompletedProcess[str]:
        command = [BUILD / "bin/nw", "atlas", "--suite", "gguf", "--shapes", self.shapes, *arguments]
        return run(command, NIBBLEWAVE_DEVICE=device)

    def rows(self, *arguments: str | Path) -> list[dict]:
        done = self.atlas("--json", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def test_a_row(self) -> None:
        rows = self.rows("--model", "Llama-3.1-8B", "--type", "q4_K", "--m", "1,16")
        self.assertEqual([(r["workload"]["layer"], r["workload"]["op"], r["workload"]["m"]) for r in rows],
                         [(layer, op, m) for layer in ("o", "down") for m in (1, 16) for op in ("activations", "product")])
        for row in rows:
            work, metrics, facts = row["workload"], row["metrics"], row["code_object"]
            self.assertEqual((row["schema"], row["source"], row["device"], row["gfx"], row["part"]),
                             ("nibblewave.atlas.v1", "suite gguf", "sim", GFX, "8060S"))
            self.assertEqual((row["device_name"], row["part_assumed"]), (f"sim {GFX}", False))
            self.assertEqual((work["model"], work["type"], work["count"]), ("Llama-3.1-8B", "q4_K", 3 if work["layer"] == "o" else 2))
            self.assertEqual(work["phase"], "decode" if work["m"] == 1 else "verify")
            self.assertEqual(facts["md5"], hashlib.md5((HSACO / facts["file"]).read_bytes()).hexdigest())
            kernel = kernels()[row["kernel"]]
            self.assertEqual((facts["kernel"], facts["sgprs"], facts["lds_bytes"], facts["workgroup"], facts["scratch_bytes"]),
                             (kernel["symbol"], kernel["sgprs"], kernel["lds_bytes"], kernel["block"][0], 0))
            self.assertEqual(sum(n for name, n in facts["mix"].items() if name != "total"), facts["mix"]["total"])
            self.assertEqual(row["launch"]["lds_bytes"], facts["lds_bytes"] + facts["dynamic_lds_bytes"])
            self.assertEqual(facts["limiter_of"], "launch (sim)")
            self.assertGreater(metrics["time_us"], metrics["bounds_us"]["launch"])
            self.assertAlmostEqual(metrics["share_of_bound"], metrics["bound_us"] / metrics["time_us"])
        expect = [("quantize_q8_", "m1 k512"), ("gguf_decode_q4_K_m1", "m1 n256 k512"),
                  ("gguf_halves_", "m16 k512"), ("gguf_mid_q4_K_", "m16 n256 k512")]  # fmt: skip
        for row, (kernel, bucket) in zip(rows[:4], expect):
            self.assertTrue(row["kernel"].startswith(kernel), row["kernel"])
            self.assertEqual(row["workload"]["shape_bucket"], bucket)

    def test_error_bars(self) -> None:
        arguments = ("--model", "Llama-3.1-8B", "--type", "q4_K", "--only", " o .* m1 ", "--m", "1")
        plain, drawn = self.rows(*arguments), self.rows(*arguments, "--uncertainty")
        for before, row in zip(plain, drawn, strict=True):
            metrics = row["metrics"]
            self.assertEqual((metrics["time_us"], len(metrics["draws_us"])), (before["metrics"]["time_us"], 5))
            self.assertTrue(metrics["time_low_us"] < metrics["time_us"] < metrics["time_high_us"], metrics)
        (table,) = [line for line in self.atlas(*arguments, "--uncertainty").stdout.splitlines() if line.startswith("layer")]
        self.assertTrue(table.endswith("low us  high us"), table)

    def test_what_a_bound_is(self) -> None:
        told = json.loads(nw("constants", "--json", "--part", "8060S").stdout)["constants"]
        part = {row["name"]: row["value"] for row in told}
        for m, unit, cycles in [(1, "dot4", 256 * 512 / 128), (16, "wmma", 256 * 512 / 256 * part["wmma_f16_interval"]),
                                (17, "wmma", 2 * 256 * 512 / 256 * part["wmma_f16_interval"])]:  # fmt: skip
            with self.subTest(m=m):
                activations, product = self.rows("--only", " o .* q4_K", "--model", "Llama-3.1-8B", "--m", str(m))
                metrics, parts = product["metrics"], product["metrics"]["bounds_us"]
                self.assertEqual(list(parts), ["launch", "memory", unit])
                self.assertEqual(metrics["bytes"], 256 * 512 // 256 * 144)
                self.assertAlmostEqual(parts["memory"], metrics["bytes"] / (1000 * part["dram_gb_per_s"] * part["dram_efficiency"]))
                self.assertAlmostEqual(parts[unit], cycles / simd_cycles(part, unit))
                self.assertAlmostEqual(metrics["bound_us"], part["launch_overhead"] + max(parts["memory"], parts[unit]))
                self.assertEqual(metrics["bound"], "memory" if parts["memory"] > parts[unit] else unit)
                self.assertAlmostEqual(metrics["tflops"], 2 * m * 256 * 512 / metrics["time_us"] / 1e6)
                self.assertEqual((activations["metrics"]["bound"], activations["metrics"]["bound_us"]), ("launch", part["launch_overhead"]))
                self.assertNotIn("share_of_layers", metrics)  # a layer is left out

    def test_experts(self) -> None:
        arguments = ("--model", "Qwen3-30B-A3B", "--type", "q4_K", "--only", " (down|gate_up) ")
        rows = self.rows(*arguments, "--m", "1,8,100")
        launches = {m: [(r["workload"]["layer"], r["workload"]["op"], r["kernel"]) for r in rows if r["workload"]["m"] == m]
                    for m in (1, 8, 100)}  # fmt: skip
        blocks = [("activations", "gguf_halves_f32"), ("lists", "moe_align")]
        expect = {1: [("activations", "quantize_q8_f32"), ("product", "gguf_moe_decode_q4_K")],
                  8: [*blocks, ("product", "gguf_moe_mid_q4_K_b16")],
                  100: [*blocks, ("product", "gguf_moe_prefill_q4_K_64x128")]}  # fmt: skip
        for m, found in launches.items():
            self.assertEqual(found, [(layer, op, kernel) for layer in ("gate_up", "down") for op, kernel in expect[m]])
        told = json.loads(nw("constants", "--json", "--part", "8060S").stdout)["constants"]
        part = {row["name"]: row["value"] for row in told}
        for r in rows:
            w, metrics = r["workload"], r["metrics"]
            self.assertEqual((w["experts"], w["top_k"], w["count"]), (8, 2, 8 if w["layer"] == "gate_up" else 4))
            self.assertEqual(w["experts_met"], 2 if w["m"] == 1 else 8 if w["m"] == 100 else w["experts_met"])
            self.assertEqual(r["launch"]["lds_bytes"], r["code_object"]["lds_bytes"] + r["code_object"]["dynamic_lds_bytes"])
            self.assertEqual(r["code_object"]["scratch_bytes"], 0)
            if w["op"] != "product":
                continue
            n, k = (96, 512) if w["layer"] == "gate_up" else (64, 512)  # gate and up separately
            self.assertEqual((w["n"], w["k"]), (n, k))
            self.assertEqual(metrics["bytes"], w["experts_met"] * n * k // 256 * 144)
            self.assertAlmostEqual(metrics["tflops"], 2 * 2 * w["m"] * n * k / metrics["time_us"] / 1e6)
            unit = "dot4" if w["m"] == 1 else "wmma"
            cycles_per_us = simd_cycles(part, unit)
            self.assertEqual(list(metrics["bounds_us"]), ["launch", "memory", unit])
            if unit == "dot4":
                self.assertAlmostEqual(metrics["bounds_us"][unit], 2 * n * k / 128 / cycles_per_us)
            else:  # at least all slots in full tiles of 16, at most 15 more for an expert
                tile = n * k / 256 * part["wmma_f16_interval"] / cycles_per_us
                self.assertGreaterEqual(metrics["bounds_us"][unit], 2 * w["m"] / 16 * tile * 0.999)
                self.assertLessEqual(metrics["bounds_us"][unit], (2 * w["m"] + 15 * 8) / 16 * tile * 1.001)
        self.assertEqual(self.rows(*arguments, "--m", "8"), [r for r in rows if r["workload"]["m"] == 8])
        self.assertIn("down, lists", self.atlas(*arguments, "--m", "8").stdout)

    def test_shares_of_the_layers(self) -> None:
        rows = self.rows("--type", "q4_K,q8_0", "--m", "1,2")
        self.assertEqual({r["workload"]["model"] for r in rows}, {"Llama-3.1-8B", "Qwen3-30B-A3B"})
        self.assertNotIn("k", {r["workload"]["layer"] for r in rows})  # count 0: in no sum
        sums: dict[tuple, float] = {}
        times: dict[tuple, set[float]] = {}
        for r in rows:
            w = r["workload"]
            key = (w["model"], w["type"], w["m"])
            sums[key] = sums.get(key, 0) + r["metrics"]["share_of_layers"]
            self.assertAlmostEqual(r["metrics"]["share_of_layers"], w["count"] * r["metrics"]["time_us"] / r["metrics"]["layers_us"])
            times.setdefault((w["layer"], w["op"], w["type"], w["m"]), set()).add(r["metrics"]["time_us"])
        self.assertEqual(len(sums), 8)
        for share in sums.values():
            self.assertAlmostEqual(share, 1)
        self.assertEqual(len(times[("o", "product", "q4_K", 1)]), 1)  # two models, one shape, one run

    def test_runs_repeat(self) -> None:
        arguments = ("--model", "Qwen3-30B-A3B", "--type", "q6_K", "--m", "2")
        self.assertEqual(self.rows(*arguments), self.rows(*arguments))

    def test_a_file_and_a_table(self) -> None:
        out = self.folder / "rows.jsonl"
        done = self.atlas("--model", "Llama-3.1-8B", "--type", "q4_0", "--m", "1", "-o", out)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(len(out.read_text().splitlines()), 4)
        self.assertIn(f"Llama-3.1-8B, q4_0, m = 1 (decode), 8060S, {GFX}, sim: modelled time, not measured", done.stdout)
        self.assertEqual(nw("atlas", "report", out).stdout, done.stdout)

    def test_what_has_no_kernel_is_said(self) -> None:
        done = self.atlas("--type", "q4_K", "--m", "1", "--json", device="sim:gfx1151")
        self.assertEqual(done.stderr, "")
        self.shapes.write_text(SHAPES.replace(",512,", ",480,"))
        done = self.atlas("--model", "Llama-3.1-8B", "--type", "q4_K", "--m", "1", "--json")
        self.assertEqual(done.returncode, 0)
        self.assertIn("nw: q4_K at rows of 480 weights: skipped, no kernel on gfx1151", done.stderr)
        self.assertNotIn("share_of_layers", done.stdout)
        self.fails(self.atlas("--model", "Qwen3-30B-A3B", "--type", "q4_K", "--m", "1"), "no product of suite gguf matches")

    def test_wrong_words(self) -> None:
        self.fails(self.atlas("--model", "Llama"), "--model Llama: the suite gguf has Qwen3.6-27B, Llama-3.1-8B, Qwen3-30B-A3B")
        self.fails(self.atlas("--only", "("), "--only (: not a regular expression")
        self.shapes.write_text(SHAPES.replace("moe,8,2", "moe,8,9"))
        self.fails(self.atlas(), f"{self.shapes}:6: topk = 9: must be at most experts = 8")
        self.fails(self.atlas(device="sim:gfx900"), "device sim:gfx900: the simulated targets are")
        self.fails(self.atlas("-o", self.folder / "no/such/file"), "-o: ", "can't be written")
        self.fails(self.atlas("--rocprof", self.shapes), "give --suite gguf")
        self.fails(nw("atlas"), "give --suite gguf")
        self.assertNotEqual(nw("atlas", "--suite", "w4a16").returncode, 0)
        self.assertNotEqual(nw("atlas", "--suite", "gguf", "--gfx", GFX).returncode, 0)  # of --rocprof


class AttentionRuns(Folder):
    def atlas(self, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        return run([BUILD / "bin/nw", "atlas", "--suite", "attention", *arguments], NIBBLEWAVE_DEVICE=f"sim:{GFX}")

    def test_rows(self) -> None:
        done = self.atlas("--model", "Qwen3-0.6B", "--m", "1,1536", "--only", " f16 ", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        score = "attn_score_canonical_f16_d128"
        self.assertEqual([(r["workload"]["m"], r["workload"]["k"], r["workload"]["op"], r["kernel"]) for r in rows],
                         [(1, 4096, "decode", "attn_decode_f16_d128"), (1536, 1536, "forward", "attn_forward_f16_d128"),
                          (1536, 1536, "mean", "attn_mean_f16"), (1536, 1536, "score", score),
                          (1536, 1536, "select", "attn_select_peak"), (1536, 1536, "forward, lists", "attn_forward_f16_d128")])  # fmt: skip
        told = json.loads(nw("constants", "--json", "--part", "8060S").stdout)["constants"]
        part = {row["name"]: row["value"] for row in told}
        for row in rows:
            work, metrics, facts = row["workload"], row["metrics"], row["code_object"]
            self.assertEqual((row["source"], row["gfx"], work["model"], work["type"], work["count"], work["h"], work["hk"], work["d"]),
                             ("suite attention", GFX, "Qwen3-0.6B", "f16", 28, 16, 8, 128))  # fmt: skip
            self.assertEqual((facts["kernel"], facts["limiter_of"]), (row["kernel"], "launch (sim)"))
            self.assertEqual(row["launch"]["lds_bytes"], facts["lds_bytes"] + facts["dynamic_lds_bytes"])
            self.assertGreater(metrics["time_us"], metrics["bounds_us"]["launch"])
            self.assertAlmostEqual(metrics["share_of_bound"], metrics["bound_us"] / metrics["time_us"])
        decode, forward, mean, _, _, listed = rows
        self.assertEqual(decode["metrics"]["bytes"], 2 * 2 * (16 + 4096 * 8) * 128)
        self.assertEqual(mean["metrics"]["bytes"], 2 * (1536 + 12) * 8 * 128)
        flop = 4 * 16 * 128 * 1536 * 1537 / 2
        self.assertAlmostEqual(forward["metrics"]["tflops"], flop / forward["metrics"]["time_us"] / 1e6)
        cycles = flop / (2 * 16**3) * part["wmma_f16_interval"]
        self.assertAlmostEqual(forward["metrics"]["bounds_us"]["wmma"], cycles / simd_cycles(part, "wmma"))
        self.assertTrue(0.5 < listed["workload"]["density"] < 1, listed["workload"]["density"])  # 2 + 4 of 12 blocks are forced, all for the last two
        self.assertAlmostEqual(listed["metrics"]["bounds_us"]["wmma"],
                               listed["workload"]["density"] * forward["metrics"]["bounds_us"]["wmma"])  # fmt: skip

    def test_a_table_and_wrong_words(self) -> None:
        out = self.folder / "rows.jsonl"
        done = self.atlas("--model", "Qwen3.6-27B", "--m", "1", "--only", " bf16 ", "-o", out)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn(f"Qwen3.6-27B, bf16, m = 1 (decode), 8060S, {GFX}, sim: modelled time, not measured", done.stdout)
        self.assertIn("attn_decode_bf16_d256", done.stdout)
        self.assertEqual(nw("atlas", "report", out).stdout, done.stdout)
        self.fails(self.atlas("--model", "Llama"), "--model Llama: the suite attention has Qwen3-0.6B, Qwen3.6-27B")
        self.fails(self.atlas("--only", "nothing"), "no attention of suite attention matches --m 1,2048 --only 'nothing'")


class Traces(Folder):
    def setUp(self) -> None:
        super().setUp()
        self.hsaco = self.folder / "hsaco"  # of one kernel: read in no time
        self.hsaco.mkdir()
        (self.hsaco / GFX).symlink_to(HSACO / GFX)
        self.write("hsaco/manifest.json", json.dumps({"kernels": [kernels()[OURS]]}))

    def trace(self, text: str | bytes, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        return nw("atlas", "--rocprof", self.write("t.csv", text), "--hsaco", self.hsaco, *arguments)

    def rows(self, text: str | bytes) -> list[dict]:
        done = self.trace(text, "--json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return [json.loads(line) for line in done.stdout.splitlines()]

    def test_ours_and_others(self) -> None:
        other = "void mul_mat_q<(ggml_type)12, 32>(char const*, int)"
        ours, others = sorted(self.rows(V3 + v3(OURS, 1000, 4000) + v3(other, 4000, 5000) + v3(OURS, 5000, 10000, 512)),
                              key=lambda row: row["kernel"] != OURS)  # fmt: skip
        self.assertEqual((ours["schema"], ours["source"], ours["device"], ours["gfx"], ours["part"]),
                         ("nibblewave.atlas.v1", "rocprof", "card", GFX, None))
        self.assertEqual(ours["metrics"], {"time_us": 4, "min_us": 3, "max_us": 5, "calls": 2, "total_us": 8, "trace_us": 9,
                                           "share_of_trace": 8 / 9})  # fmt: skip
        self.assertEqual(ours["trace"], {"file": "t.csv", "grids": 2, "workgroup_x": 256, "vgprs": 96, "sgprs": 128,
                                         "lds_bytes": 1024, "scratch_bytes": 0})  # fmt: skip
        work = ours["workload"]
        self.assertEqual((work["family"], work["type"], work["m"], work["phase"]), ("gguf_decode", "q4_K", 1, "decode"))
        for unknown in ("model", "layer", "n", "k", "shape_bucket", "count"):
            self.assertNotIn(unknown, work)
        self.assertFalse({"bound_us", "gb_per_s", "share_of_bound"} & set(ours["metrics"]))
        facts = ours["code_object"]
        self.assertEqual(facts["md5"], hashlib.md5((HSACO / GFX / f"{OURS}.hsaco").read_bytes()).hexdigest())
        self.assertEqual((facts["dynamic_lds_bytes"], facts["limiter_of"]), (None, "main loop (static count)"))
        self.assertEqual((others["kernel"], others["workload"], others["code_object"]), (other, {}, None))
        self.assertEqual(others["note"], "not a nibblewave kernel: no facts")
        self.assertEqual(others["metrics"]["share_of_trace"], 1 / 9)

    def test_attention(self) -> None:
        names = ["attn_forward_f16_d128", "attn_decode_f16_d128", "attn_mean_f16", "attn_score_canonical_f16_d128", "attn_select_peak"]
        self.write("hsaco/manifest.json", json.dumps({"kernels": [kernels()[name] for name in names]}))
        rows = {row["kernel"]: row for row in self.rows(V3 + "".join(v3(name, 1000, 4000) for name in names))}
        for name in names:
            self.assertEqual((rows[name]["workload"]["family"], rows[name]["metrics"]["time_us"]), (kernels()[name]["family"], 3))
            self.assertEqual(rows[name]["code_object"]["scratch_bytes"], 0)
        self.assertEqual(rows[names[0]]["workload"]["params"]["d"], "128")

    def test_older_profilers(self) -> None:
        before = ('"Kind","Agent_Id","Queue_Id","Kernel_Id","Kernel_Name","Correlation_Id","Start_Timestamp","End_Timestamp",'
                  '"Private_Segment_Size","Group_Segment_Size","Workgroup_Size_X","Workgroup_Size_Y","Workgroup_Size_Z",'
                  f'"Grid_Size_X","Grid_Size_Y","Grid_Size_Z"\n"KERNEL_DISPATCH",1,1,15,"{OURS}",0,10,30,0,512,256,1,1,1024,1,1\n')
        second = ("Dispatch_ID,GPU_ID,Queue_ID,PID,TID,Grid_Size,Workgroup_Size,LDS_Per_Workgroup,Scratch_Per_Workitem,Arch_VGPR,"
                  "Accum_VGPR,SGPR,Wave_Size,Kernel_Name,Start_Timestamp,End_Timestamp,Correlation_ID\n"
                  f'1,1,1,2,2,1024,256,512,0,96,0,128,32,"{OURS}.kd",10,30,1\n')
        first = ("Index,KernelName,gpu-id,queue-id,queue-index,pid,tid,grd,wgr,lds,scr,arch_vgpr,accum_vgpr,sgpr,wave_size,sig,obj,"
                 f'DispatchNs,BeginNs,EndNs,CompleteNs\r\n\r\n0,"{OURS} [clone .kd]",0,0,0,2,2,1024,256,512,0,96,0,128,32,0x0,0x7,1,10,30,40\r\n')
        for text, vgprs in [(before, None), (second, 96), (first, 96)]:
            with self.subTest(text[:30]):
                (row,) = self.rows(text)
                self.assertEqual((row["kernel"], row["metrics"]["total_us"]), (OURS, 0.02))
                self.assertEqual((row["trace"]["vgprs"], row["trace"]["lds_bytes"], row["trace"]["workgroup_x"]), (vgprs, 512, 256))
                self.assertIsNotNone(row["code_object"])

    def test_cells(self) -> None:
        text = "\ufeff" + V3 + v3('a<""b"">, c\nd', 1, 2) + v3("KERNEL", 1, 3).replace("\n", "\r\n") + "\n"
        text += v3("copy", 1, 9).replace("KERNEL_DISPATCH", "MEMORY_COPY") + v3("last", 1, 2).rstrip("\n")
        self.assertEqual([row["kernel"] for row in self.rows(text)], ["KERNEL", 'a<"b">, c\nd', "last"])
        (row,) = self.rows(V3.encode() + v3("\0@", 1, 2).encode().replace(b"@", b"\xff"))
        self.assertEqual(row["kernel"], "\0\ufffd")

    def test_bad_traces(self) -> None:
        long_line = v3("x" * 100_000, 1, 2)
        for text, expect in [
            ("", "t.csv: is empty"),
            (V3, "t.csv: has no kernel dispatch"),
            (V3 + v3("copy", 1, 9).replace("KERNEL_DISPATCH", "MEMORY_COPY"), "t.csv: has no kernel dispatch"),
            (V3 + v3("a", 9, 8), "t.csv:2: End_Timestamp = 8 is before Start_Timestamp = 9"),
            (V3 + v3("a", 1, 2) + v3("a\nb", 1, 2) + v3("a", 5, 2), "t.csv:5: End_Timestamp = 2 is before"),
            (V3 + v3("a", 1, 2).replace(",2,", ",2.5,", 1), "t.csv:2: End_Timestamp = '2.5': must be a whole number"),
            (V3 + v3("a", -1, 2), "t.csv:2: Start_Timestamp = '-1': must be"),
            (V3 + v3("a", 1, 2**64), "must be a whole number of nanoseconds"),
            (V3 + 2 * v3("a", 0, 2**64 - 1), "t.csv:3: the times add up to more than 2^64 ns"),
            (V3 + v3("", 1, 2), "t.csv:2: Kernel_Name is empty"),
            (V3 + v3("a", 1, 2)[:59], "t.csv:2: 14 cells, the header has 22: the line is truncated"),
            (V3 + v3("a", 1, 2).replace('"a"', "f(int, int)"), "t.csv:2: 23 cells, the header has 22"),
            (V3 + long_line[:5000], "t.csv:2: a quote is not closed"),
            (V3 + v3("a", 1, 2).replace('"a"', '"a"b'), "t.csv:2: 'b' follows a quoted cell"),
            (V3.replace("End_Timestamp", "End") + v3("a", 1, 2), "t.csv:1: no column End_Timestamp (or EndNs)"),
            ('"Name","Calls","TotalDurationNs","AverageNs","Percentage"\n"a",1,2,3,4\n', "this is the summary that --stats writes"),
            (b"\x7fELF\x02\x01\0\0" * 50, "t.csv:1: no column Kernel_Name (or KernelName)"),
            ("{}" * 100_000, "t.csv:1: no column Kernel_Name"),
        ]:
            with self.subTest(expect):
                self.fails(self.trace(text), expect)

    def test_a_large_trace(self) -> None:
        lines = 200_000
        done = self.trace(V3 + "".join(v3(f"k{i % 50}", i, i + 7) for i in range(lines)), "--json")
        self.assertEqual(done.returncode, 0)
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual((len(rows), sum(row["metrics"]["calls"] for row in rows)), (50, lines))
        self.assertAlmostEqual(sum(row["metrics"]["share_of_trace"] for row in rows), 1)

    def test_whose_kernels(self) -> None:
        path = self.write("ours.csv", V3 + v3(OURS, 1, 2))
        one = nw("atlas", "--rocprof", path, "--hsaco", HSACO / GFX, "--json", "--part", "8060S")
        self.assertEqual((one.returncode, json.loads(one.stdout)["part"]), (0, "8060S"))
        self.assertEqual(json.loads(nw("atlas", "--rocprof", path, "--gfx", GFX, "--json").stdout)["kernel"], OURS)
        if len({row["gfx"] for row in manifest()}) > 1:
            self.fails(nw("atlas", "--rocprof", path), "--gfx (none): a trace does not name its GPU", GFX)
        self.fails(self.trace("", "--gfx", "gfx900"), "--gfx gfx900: a trace does not name its GPU", f"has {GFX}")
        self.fails(nw("atlas", "--rocprof", path, "--hsaco", self.folder), "manifest.json: can't be read")
        self.fails(self.trace("", "--part", "7900 XTX"), "--part 7900 XTX: is a gfx1100, but the code objects are for gfx1151")
        self.fails(nw("atlas", "--rocprof", self.folder / "none.csv", "--hsaco", self.hsaco), "none.csv")
        (self.hsaco / GFX).unlink()
        done = nw("atlas", "--rocprof", path, "--hsaco", self.hsaco, "--json")
        self.assertEqual((json.loads(done.stdout)["note"], done.stderr), ("its code object is missing: no facts", ""))


class Reports(Folder):
    def row(self, us: float = 20, **more: object) -> dict:
        work = {"phase": "decode", "model": "M", "layer": "o", "op": "product", "type": "q4_K", "m": 1, "n": 64, "k": 512, "count": 10}
        out = {"schema": "nibblewave.atlas.v1", "source": "suite gguf", "device": "sim", "device_name": "sim gfx1100", "part": "7900 XTX",
               "gfx": "gfx1100", "kernel": "fast", "workload": work, "metrics": {"time_us": us, "bound_us": 15, "bound": "memory"},
               "code_object": {"limiter": "dram", "vgprs": 96, "waves_per_simd": 16}}  # fmt: skip
        for key, value in more.items():
            place, _, name = key.partition("__")
            out[place] = (out[place] | {name: value}) if name else value
        return out

    def report(self, *rows: dict, also: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
        path = self.write("rows.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
        return nw("atlas", "report", path, *also)

    def groups(self, *rows: dict) -> list[dict]:
        done = self.report(*rows, also=("--json",))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)["groups"]

    def test_a_ranking(self) -> None:
        (group,) = self.groups(self.row(), self.row(us=50, workload__layer="down", workload__count=16, metrics__bound_us=40),
                               self.row(us=99), self.row(us=20))  # fmt: skip
        down, o = group["rows"]
        self.assertEqual((group["total_us"], group["gain_us"], group["device"]), (1000, 210, "sim"))
        self.assertEqual((down["layer"], down["share"], down["gain_us"], down["gain_share"], down["share_of_bound"]),
                         ("down", 0.8, 160, 0.16, 0.8))
        self.assertEqual((o["total_us"], o["share"], o["gain_share"], o["limiter"]), (200, 0.2, 0.05, "dram"))
        text = self.report(self.row()).stdout
        self.assertIn("M, q4_K, m = 1 (decode), 7900 XTX, gfx1100, sim: modelled time, not measured", text)
        self.assertRegex(text, r"o +fast +memory +dram +64x512 +10 +20.00 +200.00 +100.0 % +75.0 % +50.00 +25.0 % +96 +16\n")
        self.assertIn("200.00 us in total; 150.00 us at the bounds, 25.0 % less", text)

    def test_nothing_is_faster_than_its_bound_by_a_negative_gain(self) -> None:
        (group,) = self.groups(self.row(us=10))
        self.assertEqual((group["rows"][0]["gain_us"], group["rows"][0]["share_of_bound"]), (0, 1.5))

    def test_model_and_card_of_a_launch(self) -> None:
        card = {"device": "card", "device_name": "Radeon"}
        sim, other = self.groups(self.row(), self.row(us=25, **card), self.row(us=7, workload__layer="down", **card))
        self.assertEqual((sim["rows"][0]["card_us"], other["rows"][0]["sim_us"], other["device"]), (25, 20, "card"))
        self.assertNotIn("sim_us", other["rows"][1])
        text = self.report(self.row(), self.row(us=25, **card)).stdout
        self.assertIn("card us", text)
        self.assertIn("card Radeon", text)
        self.assertTrue(text.startswith("Where the time goes"))

    def test_a_trace_beside_the_model(self) -> None:
        path = self.write("t.csv", V3 + v3(OURS, 0, 3000) + v3("<b>other</b>", 0, 1000))
        rows = nw("atlas", "--rocprof", path, "--gfx", GFX, "--json").stdout
        trace = self.write("trace.jsonl", rows)
        sim = self.write("sim.jsonl", json.dumps(self.row(kernel=OURS, gfx=GFX)) + "\n\n")
        page = self.folder / "page.html"
        done = nw("atlas", "report", sim, trace, "--html", page)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, OURS + r" +\w+ +yes +1 +3.00 +3.00 +3.00 +3.00 +75.0 % .* 75-75 %\n")
        self.assertRegex(done.stdout, r"<b>other</b> +- +not a nibblewave kernel: no facts +1 ")
        self.assertIn("4.00 us in all dispatches, 75.0 % of it in kernels of this build", done.stdout)
        self.assertIn("&lt;b&gt;other&lt;/b&gt;", page.read_text())
        self.assertNotIn("<b>other", page.read_text())

    def test_bad_lines_are_named(self) -> None:
        good = json.dumps(self.row()) + "\n"
        for text, expect in [
            ("", "rows.jsonl: has no rows"),
            (good + "no json\n", "rows.jsonl:2: 'no json' is not a JSON object"),
            (good + "\n[1]\n", "rows.jsonl:3: '[1]' is not a JSON object"),
            ("[" * 200_000, "rows.jsonl:1: "),
            (good + '{"schema": "nibblewave.atlas.v2"}\n', "rows.jsonl:2: its schema is 'nibblewave.atlas.v2': must be nibblewave.atlas.v1"),
            ("{}\n", "rows.jsonl:1: its schema is ''"),
            (json.dumps(self.row(metrics__time_us="fast")), 'rows.jsonl:1: /metrics/time_us is "fast": must be a number'),
            (json.dumps(self.row(metrics__time_us=-1)), "rows.jsonl:1: /metrics/time_us is -1"),
            (json.dumps(self.row(metrics__time_us=None)), "rows.jsonl:1: /metrics/time_us is missing"),
            (json.dumps(self.row(device="gpu")), "rows.jsonl:1: /device is 'gpu': must be sim or card"),
            (json.dumps(self.row(workload=3)), "rows.jsonl:1: /workload/model is missing"),
            (json.dumps(self.row(workload__m=1e300)), "rows.jsonl:1: /workload/m is 1e+300: must be at most"),
            (json.dumps(self.row(kernel=["x"])), 'rows.jsonl:1: /kernel is ["x"]: must be a string'),
        ]:
            with self.subTest(expect):
                self.fails(nw("atlas", "report", self.write("rows.jsonl", text)), expect)
        self.fails(nw("atlas", "report", self.folder / "none"), "none")


if __name__ == "__main__":
    unittest.main()
