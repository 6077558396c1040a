# SPDX-License-Identifier: MIT
"""nw info and nw diff: every kernel of the build goes through; what JSON and the page hold; what a changed line shows."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import unittest
from html.parser import HTMLParser
from pathlib import Path

SOURCE = Path(os.environ["NW_SOURCE_DIR"])
BUILD = Path(os.environ["NW_BUILD_DIR"])
sys.path[:0] = [str(SOURCE / "tests/nw"), str(SOURCE / "tests/lint")]

from command import nw  # noqa: E402
from kernel_text import kernel  # noqa: E402

SUMS = """        s_load_b64      s[4:5], s[0:1], 0x0
        v_lshlrev_b32   v1, 2, v0
        v_mov_b32       v2, 0
        s_mov_b32       s6, 0
        s_waitcnt       lgkmcnt(0)
L_main:
        global_load_b32 v3, v1, s[4:5]
        s_waitcnt       vmcnt(0)
        {body}
        s_add_u32       s6, s6, 1
        s_cmp_lt_u32    s6, 8
        s_cbranch_scc1  L_main
        global_store_b32 v1, v2, s[4:5]
        s_endpgm"""
CLASSES = ["valu", "vopd", "trans", "wmma", "salu", "smem", "vmem_load", "vmem_store", "lds", "branch", "wait", "other"]
VOID = {"meta", "br"}


class Elements(HTMLParser):
    """Every element is closed, in order; ids, references and what is loaded from elsewhere."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.wrong: list[str] = []
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attributes:
            if name == "id":
                self.ids.append(value or "")
            elif name in ("href", "src"):
                self.links.append(value or "")

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


class Case(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def source(self, name: str = "sums.s", body: str = "v_add_f32 v2, v2, v3") -> Path:
        path = self.folder / name
        path.write_text(kernel("sums", SUMS.format(body=body), 256))
        return path

    def json(self, *arguments: str | Path) -> dict | list:
        done = nw(*arguments, "--json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)

    def kernel(self, *arguments: str | Path) -> dict:
        (file,) = self.json("info", *arguments)
        (kernel,) = file["kernels"]
        return kernel


class Collection(unittest.TestCase):
    def test_all_kernels_of_a_target_and_some_of_each_go_through(self) -> None:
        folders = sorted(folder for folder in (BUILD / "hsaco").glob("*") if folder.is_dir())
        count, begin = 0, time.monotonic()
        for folder in folders:
            files = sorted(folder.glob("*.hsaco"))[:: 1 if folder.name == "gfx1151" else 10]
            count += len(files)
            with tempfile.TemporaryFile() as out:
                done = subprocess.run([BUILD / "bin/nw", "info", "--json", *files], stdout=out, stderr=subprocess.PIPE, text=True)
                self.assertEqual((done.returncode, done.stderr), (0, ""), folder)
        self.assertGreater(count, 800)
        print(f"{count} kernels in {time.monotonic() - begin:.1f} s")

    def test_what_the_manifest_says_of_occupancy(self) -> None:
        rows = [row for row in json.loads((BUILD / "hsaco/manifest.json").read_text())["kernels"] if row["gfx"] == "gfx1151"][::7]
        done = nw("info", "--json", *(BUILD / "hsaco" / row["file"] for row in rows))
        for row, file in zip(rows, json.loads(done.stdout), strict=True):
            (kernel,) = file["kernels"]
            self.assertEqual((kernel["kernel"], kernel["occupancy"]["waves"]), (row["symbol"], row["waves_per_simd"]))
            self.assertLessEqual(kernel["live"]["peak_vgprs"], kernel["registers"]["vgprs_allocated"], row["symbol"])
            self.assertLessEqual(kernel["registers"]["vgprs_used"], kernel["registers"]["vgprs_allocated"], row["symbol"])


class Command(Case):
    def test_json(self) -> None:
        (file,) = self.json("info", self.source())
        self.assertEqual((file["gfx"], file["part"], file["model"]), ("gfx1151", "8060S", "sim"))
        (k,) = file["kernels"]
        self.assertEqual((k["kernel"], k["wave_size"], k["max_workgroup"], k["has_metadata"]), ("sums", 32, 256, True))
        self.assertEqual(k["registers"], {"vgprs_allocated": 8, "vgprs_used": 4, "sgprs_declared": 32, "sgprs_used": 7})
        self.assertEqual(list(k["mix"]), [*CLASSES, "total"])
        self.assertEqual(k["mix"]["total"], k["instructions"])
        self.assertEqual(sum(k["mix"][name] for name in CLASSES), k["instructions"])
        self.assertEqual((k["occupancy"]["waves"], k["occupancy"]["limiter"]), (16, "most"))
        self.assertIsNone(k["occupancy"]["next_by_vgprs"])
        self.assertEqual(k["live"]["peak_vgprs"], 3)
        self.assertEqual(len(k["code"]), k["instructions"])
        for row in k["code"]:
            self.assertEqual(sorted(row), sorted(["line", "place", "offset", "instruction", "block", "class", "live_vgprs", "live_sgprs"]))
            self.assertIn(row["class"], CLASSES)
        self.assertEqual([row["line"] for row in k["code"]][:2], [7, 8])
        self.assertEqual([block["next"] for block in k["blocks"]], [[1], [1, 2], []])

    def test_a_loop(self) -> None:
        (loop,) = self.kernel(self.source())["loops"]
        self.assertEqual((loop["head"], loop["blocks"], loop["latches"], loop["trips"]), (1, [1], [1], 8))
        self.assertEqual((loop["first"]["line"], loop["last"]["line"]), (13, 18))
        self.assertEqual((loop["bytes"]["global_load"], loop["flops"], loop["intensity"]), (128, 32, 0.25))
        cycles = loop["cycles"]
        self.assertEqual((cycles["model"], cycles["waves"]), ("sim", 16))
        units = cycles["units"]
        self.assertEqual([(units[u]["cycles"], units[u]["simds"], units[u]["all_waves"]) for u in ("valu", "salu", "vmem")],
                         [(1, 1, 16), (2, 1, 32), (1, 2, 32)])  # fmt: skip
        self.assertEqual(units["issue"]["simds"], 0)
        self.assertEqual(cycles["bound_cycles"], max(unit["all_waves"] for unit in units.values()))
        self.assertEqual(units[cycles["bound"]]["all_waves"], cycles["bound_cycles"])

    def test_pairs_that_are_missed_name_both_lines(self) -> None:
        k = self.kernel(self.source(body="v_mov_b32 v2, v3\n        v_mov_b32 v5, v7"))
        before, missed = k["missed_pairs"]
        self.assertEqual((before["rule"], before["first"]["line"], before["second"]["line"]), ("none", 8, 9))
        self.assertEqual((missed["rule"], missed["first"]["line"], missed["second"]["line"]), ("src0_bank", 15, 16))
        self.assertEqual(k["loops"][0]["pairs"]["missed"]["src0_bank"], 1)

    def test_text(self) -> None:
        done = nw("info", self.source())
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for part in ("sums (gfx1151, 8060S) [sim", "8 VGPRs allocated, 4 used", "16 waves per SIMD", "the most there are", "loop 0,",
                     "8 trips", "bound", "sums.s:13", "128 B read"):  # fmt: skip
            self.assertIn(part, done.stdout)
        wide = [line for line in done.stdout.splitlines() if len(line) > 120]
        self.assertEqual(wide, [])

    def test_options(self) -> None:
        path = self.source()
        self.assertEqual(self.kernel(path, "--workgroup", "96")["occupancy"]["workgroup"], 96)
        self.assertEqual(self.kernel(path, "--lds", "40960")["occupancy"]["limiter"], "lds")
        self.assertEqual(self.kernel(path, "--kernel", "sums")["kernel"], "sums")
        self.assertEqual(self.json("info", path, "--part", "8060S")[0]["part"], "8060S")

    def test_the_page(self) -> None:
        page = self.folder / "page.html"
        done = nw("info", self.source(), "--html", page)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.judge(page.read_text())
        self.assertIn("loop 0", page.read_text())

    def judge(self, text: str) -> None:
        elements = Elements(text)
        self.assertEqual((elements.wrong, elements.open), ([], []))
        self.assertIn("svg", elements.tags)
        self.assertNotIn("script", elements.tags)
        self.assertEqual(len(elements.ids), len(set(elements.ids)))
        self.assertEqual({link for link in elements.links if link[1:] not in elements.ids or not link.startswith("#")}, set())
        self.assertNotIn("http", text)
        self.assertIn("prefers-color-scheme: dark", text)

    def test_the_page_of_much_code(self) -> None:
        parts = []
        for n in range(200):
            parts += [f"s_cmp_eq_u32 s4, {n % 60}", f"s_cbranch_scc1 L_{n * 7 % 200}"] + ["v_add_f32 v2, v2, v3"] * 23 + [f"L_{n}:"]
        page = self.folder / "page.html"
        begin = time.monotonic()
        done = nw("info", self.source(body="\n        ".join(parts)), "--html", page)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertLess(time.monotonic() - begin, 60)
        self.judge(page.read_text())
        self.assertLess(page.stat().st_size, 5 << 20)

    def test_unusable_files(self) -> None:
        empty, text, wrong, other = (self.folder / name for name in ("empty.hsaco", "text.hsaco", "wrong.s", "other.s"))
        empty.write_bytes(b"")
        text.write_text("hello")
        wrong.write_text('.amdgcn_target "amdgcn-amd-amdhsa--gfx1151"\nv_nonsense v0\n')
        other.write_text("v_nop\n")
        for path in (empty, text, wrong, other, self.folder / "missing.s", self.folder):
            for command in (["info", path], ["diff", path, self.source()], ["diff", self.source(), path]):
                done = nw(*command)
                self.assertEqual((done.returncode, done.stdout), (2, ""), command)
                self.assertIn(str(path), done.stderr)

    def test_unusable_options(self) -> None:
        path = self.source()
        for options, part in [(["--kernel", "nobody"], "--kernel nobody: "), (["--gfx", "gfx9"], "--gfx gfx9: "),
                              (["--part", "7900 XTX"], "choose a part of that gfx"), (["--part", "?"], "--part ?: "),
                              (["--workgroup", "512"], "at most 256"), (["--html", str(self.folder / "no/page")], "--html: ")]:  # fmt: skip
            done = nw("info", path, *options)
            self.assertEqual((done.returncode, done.stdout), (2, ""), options)
            self.assertIn(part, done.stderr)

    def test_code_that_goes_astray_is_shown(self) -> None:
        for body in ("s_endpgm", "s_setpc_b64 s[4:5]", ".long 0xffffffff", "s_branch 0x7000"):
            k = self.kernel(self.source(body=body))
            self.assertEqual(k["mix"]["total"], len(k["code"]), body)

    def test_without_metadata_or_lines(self) -> None:
        path = self.source()
        path.write_text(path.read_text().split("        .amdgpu_metadata")[0])
        k = self.kernel(path)
        self.assertEqual((k["has_metadata"], k["registers"]["sgprs_declared"]), (False, None))
        plain = self.folder / "plain.hsaco"
        clang = os.environ["NW_CLANG"]
        subprocess.run([clang, "-target", "amdgcn-amd-amdhsa", "-mcpu=gfx1151", "-x", "assembler", path, "-o", plain], check=True)
        k = self.kernel(plain)
        self.assertEqual((k["code"][0]["line"], k["code"][1]["place"]), (0, "+0x8"))
        self.assertIn("at most 3 VGPRs, at +0x18: global_load_b32", nw("info", plain).stdout)


class Diff(Case):
    def test_the_same(self) -> None:
        both = self.json("diff", self.source(), self.source())
        self.assertEqual([block["changed"] for block in both["blocks"]], [False] * 3)
        self.assertEqual(set(both["delta"].values()), {0})
        self.assertIn("3 blocks are equal", nw("diff", self.source(), self.source()).stdout)

    def test_one_instruction(self) -> None:
        a, b = self.source(), self.source("other.s", "v_mul_f32 v2, v2, v3\n        v_exp_f32 v2, v2")
        both = self.json("diff", a, b)
        self.assertEqual([(block["a"], block["b"], block["changed"]) for block in both["blocks"]],
                         [(0, 0, False), (1, 1, True), (2, 2, False)])  # fmt: skip
        self.assertEqual([(row["mark"], row["place"]) for row in both["blocks"][1]["changes"]],
                         [("-", "sums.s:15"), ("+", "other.s:15"), ("+", "other.s:16")])  # fmt: skip
        self.assertEqual((both["delta"]["trans"], both["delta"]["valu"], both["delta"]["total"]), (1, 0, 1))
        (loop,) = both["loops"]
        self.assertEqual([loop[side]["cycles"]["units"]["trans"]["cycles"] for side in "ab"], [0, 4])
        self.assertIsNone(both["a"]["timing"])
        text = nw("diff", a, b).stdout
        for part in ("v_mul_f32", "v_exp_f32", "block 1 and 1", "2 blocks are equal", "VGPRs live at most"):
            self.assertIn(part, text)

    def test_a_block_more(self) -> None:
        more = "s_cmp_eq_u32 s4, 0\n        s_cbranch_scc1 L_x\n" + "        v_exp_f32 v2, v2\n" * 9 + "L_x:"
        both = self.json("diff", self.source(), self.source("other.s", more))
        self.assertTrue([block for block in both["blocks"] if block["a"] is None])
        self.assertIn("of B only", nw("diff", self.source(), self.source("other.s", more)).stdout)

    def test_modelled_time(self) -> None:
        a, b = self.source(), self.source("other.s", "v_add_f32 v2, v2, v3\n" + "        v_exp_f32 v2, v2\n" * 40)
        both = self.json("diff", a, b, "--block", "32", "--args", "buf:4096")
        self.assertGreater(both["b"]["timing"]["cycles"], both["a"]["timing"]["cycles"])
        self.assertEqual(both["a"]["timing"]["model"], "sim")
        done = nw("diff", a, b, "--grid", "1", "--args", "nonsense")
        self.assertEqual((done.returncode, done.stdout), (2, ""))


if __name__ == "__main__":
    unittest.main()
