# SPDX-License-Identifier: MIT
"""python3 launches.py GFX MODEL [--unfused NAMES]: launches of one token of a model through the backend, on the simulated GPU, by
kernel: number, time, gap before it, bytes. A layer is the second of three, of the second token.

The environment is that of the test engines_ggml (CMakeLists.txt)."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import sources

LAYERS = {"Llama-2-7B": 32, "Qwen3-8B": 36, "Qwen3-8B Q4_K_M": 36, "Qwen3-30B-A3B": 48}


@dataclass
class Launch:
    kernel: str
    us: float
    gap: float
    bytes: int


@dataclass
class Sum:
    launches: int = 0
    us: float = 0
    gap: float = 0
    bytes: int = 0

    def add(self, launch: Launch) -> None:
        self.launches += 1
        self.us += launch.us
        self.gap += launch.gap
        self.bytes += launch.bytes


def launches_of(file: Path) -> list[Launch]:
    """Returns the launches of the second token of two."""
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    rows = [row for row in rows if not row["kernel"].startswith("scale")]  # the self-test of graphs
    rows = rows[len(rows) // 2 :]
    out = []
    for before, row in zip([None, *rows], rows):
        gap = row["start_us"] - before["end_us"] if before else 0.0
        out.append(Launch(row["kernel"], row["end_us"] - row["start_us"], gap, row.get("dram_read", 0) + row.get("dram_write", 0)))
    return out


def run(gfx: str, model: str, layers: int, last: bool = False, **environment: str) -> list[Launch]:
    program = sources.build_program("token_launches", "ggml", "ggml-base")
    backend = sources.HOME / "backend/libggml-nibblewave.so"
    with tempfile.TemporaryDirectory() as folder:
        stats = Path(folder) / "stats"
        simulated = {"LD_LIBRARY_PATH": str(sources.BUILD / "hipsim"), "HIPSIM_ARCH": gfx, "HIPSIM_TIMING": "on", "HIPSIM_STATS": str(stats)}
        subprocess.run([program, backend, model, str(layers), *["last"] * last], env=os.environ | simulated | environment, check=True, stdout=subprocess.DEVNULL)
        return launches_of(stats)


def by_kernel(launches: Iterable[Launch]) -> dict[str, Sum]:
    out: dict[str, Sum] = {}
    for launch in launches:
        out.setdefault(launch.kernel, Sum()).add(launch)
    return out


def layer_of(launches: list[Launch]) -> list[Launch]:
    """The second of three layers."""
    each = len(launches) // 3
    first, second, third = (launches[i * each : (i + 1) * each] for i in range(3))
    if len(launches) % 3 or [one.kernel for one in second] != [one.kernel for one in third]:
        raise SystemExit(f"{len(launches)} launches of three layers, which differ")
    return second


def total(rows: dict[str, Sum]) -> Sum:
    out = Sum()
    for one in rows.values():
        out.launches += one.launches
        out.us += one.us
        out.gap += one.gap
        out.bytes += one.bytes
    return out


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("gfx")
    parser.add_argument("model")
    parser.add_argument("--unfused", default="")
    options = parser.parse_args()
    environment = {"NIBBLEWAVE_GGML_UNFUSED": options.unfused}
    layer = by_kernel(layer_of(run(options.gfx, options.model, 3, **environment)))
    for name, row in sorted(layer.items(), key=lambda item: -item[1].us - item[1].gap):
        print(f"{name:36} {row.launches:3} {row.us:8.1f} us, gaps {row.gap:5.1f} us, {row.bytes / 1e6:7.2f} MB")
    sum_ = total(layer)
    print(f"a layer: {sum_.launches} launches, {sum_.us + sum_.gap:.1f} us: {sum_.us:.1f} in kernels, {sum_.gap:.1f} in gaps; {sum_.bytes / 1e6:.1f} MB")
    if options.model in LAYERS:
        print(f"{LAYERS[options.model]} layers: {LAYERS[options.model] * (sum_.us + sum_.gap) / 1000:.2f} ms")


if __name__ == "__main__":
    main()
