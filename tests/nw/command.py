# SPDX-License-Identifier: MIT
"""Helpers shared by the tests of nw and of the files of timed launches."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SOURCE = Path(os.environ["NW_SOURCE_DIR"])
BUILD = Path(os.environ["NW_BUILD_DIR"])
SUMS = SOURCE / "tests/nw/kernels/sums.s"
SUMS_LAUNCH = ["--kernel", "sums", "--grid", "4", "--args", "buf:2048", "buf:64K:1", "u32:10", "f16:1.5"]
DECODE = BUILD / "hsaco/gfx1151/decode_w4a16_bf16_g128_m1_perm.hsaco"
DECODE_ARGS = "buf:5120 buf:327680 buf:10240 null buf:512 u32:256 u32:2560 u32:1280 u32:40 null u32:0 u32:8".split()
LOG_HEADER = "dispatch,workgroup,wave,simd,pc,issue_cycle,done_cycle,stall_reason,mnemonic"


def run(command: list, cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    clean = {key: value for key, value in os.environ.items() if not key.startswith("HIPSIM_")}
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, env=clean | environment)


def nw(*arguments: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return run([BUILD / "bin/nw", *arguments], cwd=cwd)


def hip_decode(launches: int, **environment: str) -> subprocess.CompletedProcess[str]:
    """The same launch as nw's with DECODE_ARGS and --grid 8, by a HIP host."""
    host = SOURCE / "tests/check/hip_launch.py"
    return run([sys.executable, host, DECODE, DECODE.stem, str(launches), "8", "256", *DECODE_ARGS], **environment)
