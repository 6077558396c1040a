# SPDX-License-Identifier: MIT
"""nw lint with files that are no kernels, or strange ones: a message or a finding, never a crash, never without end."""

from __future__ import annotations

import json
import os
import random
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(os.environ["NW_SOURCE_DIR"])
BUILD = Path(os.environ["NW_BUILD_DIR"])
CLANG = os.environ["NW_CLANG"]
sys.path[:0] = [str(SOURCE / "tests/nw"), str(SOURCE / "tests/lint")]

from kernel_text import code, metadata  # noqa: E402

SECONDS = 60
MACHINE, MACHINE_X86 = 18, 62  # where an ELF says it; x86-64
CLEAN = "        s_endpgm"
TO_ITSELF = """        s_getpc_b64 s[16:17]
.Lhere:
        s_add_u32 s16, s16, strange - .Lhere
        s_addc_u32 s17, s17, -1
        s_swappc_b64 s[30:31], s[16:17]
        s_endpgm"""
ENDLESS = """.Lagain:
        s_add_u32 s2, s0, 1
        s_branch .Lagain"""


def dense_branches(count: int) -> str:
    """Worst case for the number of paths: each comparison tracked, each branch to any label, loads everywhere."""
    draw = random.Random(7)
    lines = ["        s_mov_b64 s[2:3], s[0:1]"] + [f"        s_mov_b32 s{n}, s0" for n in range(4, 24)]
    for n in range(count):
        lines.append(f".L{n}:\n        s_cmp_eq_u32 s{draw.randrange(4, 24)}, {draw.randrange(8)}")
        lines.append(f"        s_load_b32 s{draw.randrange(4, 24)}, s[0:1], 0x0" if n % 4 == 0
                     else f"        global_load_b32 v{draw.randrange(1, 8)}, v0, s[2:3]")  # fmt: skip
        lines.append(f"        s_cbranch_scc{n % 2} .L{draw.randrange(count)}")
    return "\n".join([*lines, CLEAN])


class BadInput(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def code(self, body: str = CLEAN, after: str = "", metadata: str = metadata("strange"), gfx: str = "gfx1151", debug: bool = False) -> Path:
        source, out = self.folder / "strange.s", self.folder / f"strange_{gfx}.hsaco"
        source.write_text(code("strange", body, gfx, after) + metadata)
        command = [CLANG, "-target", "amdgcn-amd-amdhsa", f"-mcpu={gfx}", "-mcode-object-version=5", source, "-o", out]
        subprocess.run(command + ["-g"] * debug, check=True)
        source.unlink()
        return out

    def lint(self, path: Path, *more: str) -> subprocess.CompletedProcess[str]:
        command = [BUILD / "bin/nw", "lint", path, *more]
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
        self.assertIn(done.returncode, (0, 1, 2), f"{path.name}: {done.stderr}")
        return done

    def rules(self, path: Path) -> list[str]:
        done = self.lint(path, "--json")
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return sorted({row["rule"] for file in json.loads(done.stdout) for row in file["findings"]})

    def refused(self, content: bytes, *words: str) -> None:
        path = self.folder / "bad.hsaco"
        path.write_bytes(content)
        done = self.lint(path)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        for word in (str(path), *words):
            self.assertIn(word, done.stderr)

    def test_what_is_no_amdgpu_code(self) -> None:
        elf = bytearray(self.code().read_bytes())
        struct.pack_into("<H", elf, MACHINE, MACHINE_X86)
        self.refused(bytes(elf))
        self.refused((BUILD / "bin/nw").read_bytes()[:4096])
        self.refused(b"\x7fELF")
        self.refused(random.Random(3).randbytes(5000))

    def test_an_x86_object(self) -> None:
        source, path = self.folder / "host.c", self.folder / "bad.hsaco"
        source.write_text("int main(void) { return 0; }\n")
        subprocess.run([CLANG, "-target", "x86_64-linux-gnu", "-c", source, "-o", path], check=True)
        self.refused(path.read_bytes())

    def test_each_truncation_is_refused_or_still_whole(self) -> None:
        whole = self.code(debug=True).read_bytes()
        path = self.folder / "short.hsaco"
        refused = 0
        for size in range(0, len(whole), len(whole) // 60):
            path.write_bytes(whole[:size])
            done = self.lint(path)
            refused += done.returncode == 2
            self.assertEqual(done.returncode == 2, done.stderr != "", done.stderr)
        self.assertGreater(refused, 30)

    def test_a_bundle_of_several_targets(self) -> None:
        files = {gfx: self.code(gfx=gfx).read_bytes() for gfx in ("gfx1100", "gfx1201")}
        table, body = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", len(files)), b""
        triples = {gfx: f"hipv4-amdgcn-amd-amdhsa--{gfx}".encode() for gfx in files}
        begin = len(table) + sum(24 + len(triple) for triple in triples.values())
        for gfx, content in files.items():
            table += struct.pack("<QQQ", begin + len(body), len(content), len(triples[gfx])) + triples[gfx]
            body += content
        path = self.folder / "bundle.hipfb"
        path.write_bytes(table + body)
        done = self.lint(path)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        for word in (str(path), "gfx1100", "gfx1201", "--gfx"):
            self.assertIn(word, done.stderr)
        for gfx in files:
            self.assertEqual(self.lint(path, "--gfx", gfx).returncode, 0)
        done = self.lint(path, "--gfx", "gfx1151")
        self.assertEqual(done.returncode, 2)
        self.assertIn("gfx1100", done.stderr)

    def test_no_line_table(self) -> None:
        body = "        s_load_b32 s4, s[0:1], 0x0\n        s_add_u32 s5, s4, 1\n        s_endpgm"
        done = self.lint(self.code(body))
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("kernel + 0x8: error W-001", done.stdout)

    def test_unknown_instructions(self) -> None:
        self.assertEqual(self.rules(self.code("        .long 0xffffffff\n" + CLEAN)), ["F-002", "F-004"])

    def test_data_among_the_code(self) -> None:
        data = "        .long 0xffffffff, 0xbf800001, 0x12345678, 0\n"
        self.assertEqual(self.rules(self.code(after=data)), [])
        self.assertIn(self.rules(self.code(CLEAN + "\n" + data)), ([], ["F-004"]))

    def test_a_function_that_calls_itself(self) -> None:
        self.assertEqual(self.rules(self.code(TO_ITSELF)), ["F-004"])  # it never returns

    def test_an_endless_loop(self) -> None:
        self.assertEqual(self.rules(self.code(ENDLESS)), [])

    def test_no_metadata(self) -> None:
        self.assertEqual(self.rules(self.code(metadata="")), ["D-008"])

    def test_no_end(self) -> None:
        self.assertEqual(self.rules(self.code("        s_nop 0")), ["F-003"])

    def test_a_branch_out_of_the_code(self) -> None:
        self.assertIn("F-001", self.rules(self.code("        s_cbranch_scc0 0x7000\n" + CLEAN)))

    def test_more_ways_than_can_be_followed(self) -> None:
        done = self.lint(self.code(dense_branches(400)), "--notes")
        for rule in ("error W-001", "note F-008"):
            self.assertIn(rule, done.stdout)


if __name__ == "__main__":
    unittest.main()
