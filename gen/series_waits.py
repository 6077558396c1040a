# SPDX-License-Identifier: MIT
"""Inserts waits for a series' hazards into a rendered body (notes H-016, H-017, H-019). Templates do not contain them: the
instructions take no time if nothing is outstanding. Series share bodies without them (gen/shared.py)."""

from __future__ import annotations

import re
from collections.abc import Callable

MEMORY = ("global_", "flat_", "scratch_", "buffer_", "ds_")
# Scalar instructions that write no SGPR, and so overwrite none that a memory instruction reads.
HARMLESS = ("s_waitcnt", "s_branch", "s_cbranch", "s_barrier", "s_endpgm", "s_nop", "s_clause", "s_cmp", "s_bitcmp", "s_sleep", "s_setprio", "s_code")
OPCODE = re.compile(r"^ +([a-z]\w+)")
BEFORE_EXEC = "        s_waitcnt_depctr 0xfffe // H-016: scalar reads of EXEC are over"
BEFORE_BRANCH = "        s_waitcnt_vscnt null, 0 // H-017: LDS and memory on both sides"
BEFORE_SCALAR = "        s_waitcnt_depctr 0xffe3 // H-019: memory instructions have read their sources"
ADDED = {BEFORE_EXEC, BEFORE_BRANCH, BEFORE_SCALAR}


def gfx101x(text: str) -> str:
    out: list[str] = []
    reads = accessed = False  # memory instructions may yet read sources; LDS or memory was accessed since the last branch
    for line in text.splitlines(keepends=True):
        at = OPCODE.match(line)
        name = at[1] if at else ""
        if not line.startswith((" ", "/", ".")) and line.split("//")[0].strip().endswith(":"):
            reads = accessed = True  # a label: the state on other paths isn't known
        elif name.startswith(MEMORY):
            reads = accessed = True
        elif name.startswith("v_"):
            if name.startswith("v_cmpx"):
                out.append(BEFORE_EXEC + "\n")
            reads = False
        elif name.startswith(("s_branch", "s_cbranch")):
            if accessed:
                out.append(BEFORE_BRANCH + "\n")
            accessed = False
        elif name.startswith("s_") and not name.startswith(HARMLESS) and reads:
            out.append(BEFORE_SCALAR + "\n")
            reads = False
        out.append(line)
    return "".join(out)


WAITS: dict[str, Callable[[str], str]] = {"gfx101x": gfx101x}


def with_waits(text: str, series: str) -> str:
    return WAITS.get(series, str)(text)


def without_waits(text: str) -> str:
    """The text without the waits of any series."""
    return "".join(line for line in text.splitlines(keepends=True) if line.rstrip("\n") not in ADDED)
