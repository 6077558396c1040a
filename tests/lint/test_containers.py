# SPDX-License-Identifier: MIT
"""nw lint on what code comes in: unlinked objects, offload bundles plain and compressed, host programs with some in them."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib
from pathlib import Path

SOURCE = Path(os.environ["NW_SOURCE_DIR"])
sys.path[:0] = [str(SOURCE / "tests/nw"), str(SOURCE / "tests/lint")]

from command import nw  # noqa: E402
from kernel_text import kernel  # noqa: E402
from test_lint import LATE  # noqa: E402

CLANG = os.environ["NW_CLANG"]


def bundle(codes: dict[str, bytes]) -> bytes:
    """An offload bundle: the host's empty entry, then one of each gfx."""
    ids = {"host-x86_64-unknown-linux-gnu--": b""} | {f"hipv4-amdgcn-amd-amdhsa--{gfx}": code for gfx, code in codes.items()}
    at = 24 + 8 + sum(24 + len(name) for name in ids)
    header, body = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", len(ids)), b""
    for name, code in ids.items():
        header += struct.pack("<QQQ", at + len(body), len(code), len(name)) + name.encode()
        body += code
    return header + body


def compressed(contents: bytes) -> bytes:
    """The same as clang compresses it: version 2, zlib."""
    payload = zlib.compress(contents)
    return struct.pack("<4sHHIIQ", b"CCOB", 2, 0, 24 + len(payload), len(contents), 0) + payload


class Containers(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def code(self, gfx: str, *options: str) -> bytes:
        source, out = self.folder / "late.s", self.folder / "out"
        source.write_text(kernel("late", LATE.format(comment="")).replace("gfx1151", gfx))
        subprocess.run([CLANG, "-target", "amdgcn-amd-amdhsa", f"-mcpu={gfx}", "-mcode-object-version=5", "-g", *options, source, "-o", out],
                       check=True)  # fmt: skip
        return out.read_bytes()

    def write(self, name: str, contents: bytes) -> Path:
        path = self.folder / name
        path.write_bytes(contents)
        return path

    def found(self, path: Path, *options: str) -> list[tuple[str, str, int]]:
        done = nw("lint", path, "--json", *options)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return [(file["gfx"], row["rule"], row["line"]) for file in json.loads(done.stdout) for row in file["findings"]]

    def test_an_object_that_is_not_linked(self) -> None:
        self.assertEqual(self.found(self.write("late.o", self.code("gfx1151", "-c"))), [("gfx1151", "W-001", 8)])

    def test_a_bundle_for_one_target(self) -> None:
        one = bundle({"gfx1151": self.code("gfx1151")})
        for name, contents in [("plain", one), ("compressed", compressed(one))]:
            self.assertEqual(self.found(self.write(name, contents)), [("gfx1151", "W-001", 8)], name)

    def test_a_bundle_for_several_is_asked_about(self) -> None:
        both = bundle({gfx: self.code(gfx) for gfx in ("gfx1100", "gfx1151")})
        for name, contents in [("plain", both), ("compressed", compressed(both)), ("program", b"\x7fELF" + bytes(60) + both)]:
            path = self.write(name, contents)
            done = nw("lint", path)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(f"{path}: has code for gfx1100, gfx1151: choose one with --gfx", done.stderr)
            self.assertEqual(self.found(path, "--gfx", "gfx1100"), [("gfx1100", "W-001", 8)], name)
            done = nw("lint", path, "--gfx", "gfx1201")
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn("gfx1100, gfx1151", done.stderr)

    def test_damaged_bundles(self) -> None:
        whole = bundle({"gfx1151": self.code("gfx1151")})
        for contents in (whole[:24], whole[:40], whole[:200], whole[:-1], compressed(whole)[:-5], compressed(whole)[:10]):
            path = self.write("damaged", contents)
            done = nw("lint", path, "--gfx", "gfx1151")
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(str(path), done.stderr)


if __name__ == "__main__":
    unittest.main()
