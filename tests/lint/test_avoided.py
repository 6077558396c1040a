# SPDX-License-Identifier: MIT
"""Code that cards, firmware or compilers are known to mishandle, and none of our kernels has: H-032 names the report of each line."""

from __future__ import annotations

import os
import re
import sys
import unittest
from collections.abc import Iterator
from pathlib import Path

BUILD = Path(os.environ["NW_BUILD_DIR"])
sys.path[:0] = [str(Path(__file__).parents[1] / "check")]

from thorough import kernels_of_tier  # noqa: E402

NARROW = "WMMA that adds in 16 bits"
# A string that is in each such line, which is quick to look for, and the line.
AVOIDED = {
    "flat accesses": ("flat_", r"flat_(load|store|atomic)"),
    "scalar loads with a negative offset": ("s_load_", r"s_load_\w+ .*(, *-|offset:-)"),
    "8- and 16-bit scalar buffer loads": ("s_buffer_load_", r"s_buffer_load_[iu](8|16)"),
    "scalar prefetches": ("prefetch_", r"s_(buffer_)?prefetch"),
    "writes of hardware registers": ("s_setreg", r"s_setreg"),
    "ids of workgroups in y and z": ("ttmp7", r"[^/]*\bttmp7\b"),
    "registers given back early": ("DEALLOC_VGPRS", r"s_sendmsg .*DEALLOC_VGPRS"),
    "who is first at a barrier": ("_isfirst", r"s_barrier_signal_isfirst"),
    "CU mode": ("processor_mode", r"\.amdhsa_workgroup_processor_mode +0"),
    NARROW: ("v_wmma_", r"v_wmma_(f16|bf16)_"),
}
LINES = {name: (needle.encode(), re.compile(rb"[ \t]*" + pattern.encode())) for name, (needle, pattern) in AVOIDED.items()}


def lines_with(text: bytes, needle: bytes) -> Iterator[bytes]:
    at = text.find(needle)
    while at >= 0:
        end = text.find(b"\n", at)
        yield text[text.rfind(b"\n", 0, at) + 1 : end]
        at = text.find(needle, end) if end >= 0 else -1


def found_in(path: Path, text: bytes) -> list[str]:
    found = []
    for name, (needle, pattern) in LINES.items():
        if name == NARROW and path.stem.startswith("micro_"):
            continue
        found += [f"{path.parent.name}/{path.name}: {name}: {line.decode().strip()}" for line in lines_with(text, needle) if pattern.match(line)]
    return found


class Avoided(unittest.TestCase):
    def test_no_kernel_has_what_is_known_to_fail(self) -> None:
        files = kernels_of_tier(BUILD, "asm", ".s")
        self.assertGreater(len(files), 1000)
        found = [text for path in files for text in found_in(path, path.read_bytes())]
        self.assertEqual(found, [], "\n".join(found[:40]))

    def test_each_pattern_finds_its_line(self) -> None:
        lines = ("flat_load_b32 v1, v[2:3]", "s_load_b32 s8, s[2:3], -0x10", "s_load_dword s8, s[2:3], s4 offset:-0x8",
                 "s_buffer_load_u8 s8, s[4:7], 0x0", "s_prefetch_data s[2:3], 0x0, s4, 1", "s_buffer_prefetch_data s[4:7], 0x0, s8, 0",
                 "s_setreg_imm32_b32 hwreg(26, 0, 2), 2", "s_lshr_b32 s8, ttmp7, 16", "s_sendmsg sendmsg(MSG_DEALLOC_VGPRS)",
                 "s_barrier_signal_isfirst -1", ".amdhsa_workgroup_processor_mode 0", "v_wmma_f16_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]")
        for line in lines:
            self.assertEqual(len(found_in(Path("gfx0/kernel.s"), f"  s_nop 0\n\t{line}\n".encode())), 1, line)
        for line in ("s_load_b32 s8, s[2:3], 0x10", "global_load_b32 v1, v2, s[2:3] offset:-16", ".amdhsa_workgroup_processor_mode 1",
                     "v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]"):
            self.assertEqual(found_in(Path("gfx0/kernel.s"), f"  {line}\n".encode()), [], line)
        self.assertEqual(found_in(Path("gfx0/micro_wmma.s"), f"  {lines[-1]}\n".encode()), [])


if __name__ == "__main__":
    unittest.main()
