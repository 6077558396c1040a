# SPDX-License-Identifier: MIT
"""Note H-002 on every rendered kernel for gfx12: SALU writes no SGPR pair that VALU has read before."""

from __future__ import annotations

import re
import unittest
from pathlib import Path

from generator import BUILD, dual

IMPLICIT = {"exec_lo", "vcc_lo"}  # not SGPR pairs in the note's sense
NO_DESTINATION = ("s_cmp", "s_cbranch", "s_branch", "s_wait", "s_barrier", "s_endpgm", "s_nop", "s_clause", "s_delay")
SMEM = ("s_load", "s_buffer_load")


def rewrites(text: str) -> list[str]:
    """Lines whose SALU write lands in a pair that some VALU instruction reads earlier in a run.

    A loop makes every line of it come before every other, so order within the file is only used
    for the straight part before the first label that is branched back to.
    """
    symbols: dict[str, int] = {}
    for name, value in re.findall(r"^\.set (\w+), (\w+)", text, re.MULTILINE):
        symbols[name] = int(value) if value.isdigit() else symbols[value]
    parser = dual.Parser(symbols)
    loop = re.search(r"^L_(stage|rows):", text, re.MULTILINE)
    read: set[int] = set()
    nops = 0  # ds_nop in a row: four let the hardware forget the reads
    found = []

    def pairs(operands: str) -> set[int]:
        return {int(r[1:]) // 2 for r in parser.registers(operands) if r[0] == "s"}

    lines = [line.split("//")[0].strip() for line in text.splitlines()]
    if loop:
        body = [line.split("//")[0].strip() for line in text[loop.start():].splitlines()]
        lines += body  # once more round
    for line in lines:
        mnemonic, _, rest = line.partition(" ")
        nops = nops + 1 if mnemonic == "ds_nop" else 0
        if nops == 4:
            read.clear()
        if mnemonic.startswith("v_"):
            operands = rest.partition(",")[2] if not mnemonic.startswith("v_cmpx") else rest
            read |= pairs(operands)
        elif mnemonic.startswith("s_") and not mnemonic.startswith(NO_DESTINATION + SMEM):
            destination = rest.partition(",")[0]
            if destination not in IMPLICIT and pairs(destination) & read:
                found.append(line)
    return found


class Hazards(unittest.TestCase):
    def test_no_kernel_rewrites_what_valu_has_read(self) -> None:
        files = sorted(Path(BUILD, "asm").glob("gfx12*/*.s"))
        self.assertTrue(files)
        for file in files:
            self.assertEqual(rewrites(file.read_text()), [], f"{file.parent.name}/{file.name}")

    def test_a_rewrite_is_seen(self) -> None:
        seen = "v_mov_b32 v0, s4\n s_mov_b32 s5, 1\n"
        self.assertEqual(rewrites(seen), ["s_mov_b32 s5, 1"])
        self.assertEqual(rewrites("v_mov_b32 v0, s4\n s_mov_b32 s6, 1\n"), [])
        self.assertEqual(rewrites("v_mov_b32 v0, s4\n" + "ds_nop\n" * 4 + "s_mov_b32 s5, 1\n"), [])
        self.assertEqual(rewrites("v_mov_b32 v0, s4\n" + "ds_nop\n" * 3 + "s_mov_b32 s5, 1\n"), ["s_mov_b32 s5, 1"])
        self.assertEqual(rewrites("L_stage:\n s_mov_b32 s5, 1\nv_mov_b32 v0, s4\n"), ["s_mov_b32 s5, 1"])
