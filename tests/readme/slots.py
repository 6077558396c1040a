# SPDX-License-Identifier: MIT
"""VALU slots of the decode kernels beside older methods: the table of bench/README.md."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from pathlib import Path

# The shape that slots are quoted for: 4096 x 4096, groups of 128, every row through every kernel.
BENCH = ["--model", "Llama-2-7B", "--layer", "o", "--before-rows", "0", "--device", "sim:gfx1151"]
# The default kernels for this shape, as the tuner chose them.
DEFAULTS = [(dtype, m, f"decode_w4a16_{dtype}_g128_m{m}_{method}") for dtype, method in [("bf16", "perm"), ("f16", "subnormal")] for m in (1, 4, 8)]
HEAD = ["| 4096 x 4096, G = 128, sim gfx1151 | M | slots | older methods | VGPRs | waves/SIMD | max error |",
        "|---|---|---|---|---|---|---|"]


def measure(build: Path) -> list[dict]:
    rows = []
    for dtype, m, kernel in DEFAULTS:
        with tempfile.NamedTemporaryFile(suffix=".json") as file:
            command = [build / "bin/nw_bench", *BENCH, "--dtype", dtype, "--m", str(m), "--json", file.name]
            subprocess.run(command, check=True, capture_output=True, env=os.environ | {"NIBBLEWAVE_FORCE": kernel})
            rows += json.loads(Path(file.name).read_text())["rows"]
    return rows


def dequant(row: dict) -> str:
    return row["kernel"].rpartition("_")[2]


def table(rows: list[dict]) -> list[str]:
    lines = list(HEAD)
    for row in (r for r in rows if not r["reference"]):
        older = [r for r in rows if r["reference"] and (r["dtype"], r["m"]) == (row["dtype"], row["m"])]
        before = ", ".join(f"{dequant(r)} {r['valu_slots_per_8w']:.1f}" for r in older) or "-"
        lines.append(
            f"| `decode_w4a16` {row['dtype']}, {dequant(row)} | {row['m']} | **{row['valu_slots_per_8w']:.2f}** | {before} "
            f"| {row['vgprs']} | {row['waves_per_simd']} | {row['max_err']:.2f} ulp |"
        )
    return lines


def lines(build: Path) -> list[str]:
    return table(measure(build))
