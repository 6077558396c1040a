# SPDX-License-Identifier: MIT
"""The figures of bench/README.md: times of four products, each with the command that prints them."""

from __future__ import annotations

import json
import shlex
import subprocess
import tempfile
from pathlib import Path

# Name of a product, and options of the bench that print its rows, one for each M.
RUNS = [
    ("W4A16 f16, G = 128, 4096 x 4096", "--suite mid --m 1,8,16,32 --dtype f16 --only '4096x4096 .*f16 sym'"),
    ("q4_K, 4096 x 4096", "--suite gguf --m 1,32 --only 'Llama.* o 4096x4096 q4_K'"),
    ("W4A16 f16, 8 experts of 1536 x 2048", "--suite moe --only 'Qwen3-30B-A3B gate_up .* f16 t1 b1 silu'"),
    ("W4A16 f16, G = 128, 3840 x 2560", "--suite prefill --m 512 --dtype f16 --only '2560x3840 .* sym'"),
]
DEVICE = ["--device", "sim:gfx1151"]
ROOT = Path(__file__).resolve().parents[2]
HEAD = [
    "| product (N x K) | rows | time, low to high | rate | of the bound | `./bench/run --uncertainty` with |",
    "|---|---|---|---|---|---|",
]


def measure(build: Path, options: str) -> list[dict]:
    """Runs the command of the table; for another build than ./bench/run's, the build's program."""
    command = ROOT / "bench/run" if build.resolve() == ROOT / "build" else build / "bin/nw_bench"
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        subprocess.run([command, "--uncertainty", *shlex.split(options), *DEVICE, "--json", file.name], check=True, capture_output=True)
        return json.loads(Path(file.name).read_text())["rows"]


def share(row: dict) -> float:
    """Rate in per cent of the bound; launch overhead is part of the time."""
    if "gb_per_s" not in row:
        return row["pct_of_wmma_peak"]
    return 100 * row["gb_per_s"] / row["bound_gb_per_s"] if "bound_gb_per_s" in row else row["pct_of_bound"]


def line(what: str, options: str, rows: list[dict]) -> str:
    memory = "gb_per_s" in rows[0]

    def each(form: str, values: list[float]) -> str:
        return ", ".join(format(value, form) for value in values)

    cells = [
        what,
        each("", [row["m"] for row in rows]),
        ", ".join(f"{row['time_us']:.0f} ({row['time_low_us']:.0f} to {row['time_high_us']:.0f})" for row in rows) + " us",
        f"{each('.0f', [row['gb_per_s'] for row in rows])} GB/s" if memory else f"{each('.1f', [row['tflops'] for row in rows])} TFLOP/s",
        each(".0f", [share(row) for row in rows]) + (" % of DRAM" if memory else " % of WMMA"),
        f"`{options}`",
    ]
    return "| " + " | ".join(cells) + " |"


def lines(build: Path) -> list[str]:
    return HEAD + [line(what, options, measure(build, options)) for what, options in RUNS]
