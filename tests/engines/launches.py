# SPDX-License-Identifier: MIT
"""python3 launches.py GFX MODEL [--unfused NAMES] [--rows N]: launches of one token of a model through the backend, on the simulated GPU, by
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

LAYERS = {
    "Llama-2-7B": 32, "Llama-3.1-8B": 32, "Qwen2.5-7B": 28, "Qwen3-8B": 36, "Qwen3-30B-A3B": 48, "gpt-oss-20b": 24, "Qwen3.6-27B delta": 48,
    "Qwen3.6-27B delta, Q4_K_M": 48, "Qwen3.6-27B attention": 16,
}  # fmt: skip
TOKENS = 4  # the graph is recorded at the second


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
    """Returns the launches of the last token. The first one's gap is what lies between it and the token before: inputs, too."""
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    rows = [row for row in rows if not row["kernel"].startswith("scale")]  # the self-test of graphs
    first = len(rows) // TOKENS * (TOKENS - 1)
    out = []
    for before, row in zip(rows[first - 1 :], rows[first:]):
        gap = row["start_us"] - before["end_us"]
        out.append(Launch(row["kernel"], row["end_us"] - row["start_us"], gap, row.get("dram_read", 0) + row.get("dram_write", 0)))
    return out


def run(gfx: str, model: str, layers: int, *options: str, rows: int = 1, **environment: str) -> list[Launch]:
    """rows: tokens at once. options: `last`, with the product of the vocabulary; `more`, with the types of Q4_K_M's better half of layers."""
    program = sources.build_program("token_launches", "ggml", "ggml-base")
    backend = sources.HOME / "backend/libggml-nibblewave.so"
    with tempfile.TemporaryDirectory() as folder:
        stats = Path(folder) / "stats"
        simulated = {"LD_LIBRARY_PATH": str(sources.BUILD / "hipsim"), "HIPSIM_ARCH": gfx, "HIPSIM_TIMING": "on", "HIPSIM_STATS": str(stats)}
        subprocess.run([program, backend, model, str(layers), str(TOKENS), str(rows), *options], env=os.environ | simulated | environment, check=True, stdout=subprocess.DEVNULL)
        return launches_of(stats)


def by_kernel(launches: Iterable[Launch]) -> dict[str, Sum]:
    out: dict[str, Sum] = {}
    for launch in launches:
        out.setdefault(launch.kernel, Sum()).add(launch)
    return out


def layer_of(launches: list[Launch]) -> list[Launch]:
    """From the second attention, or gated delta rule, to the third, a layer of three. The product of the vocabulary should follow them:
    its weights leave nothing of the layers in caches."""
    at = [n for n, one in enumerate(launches) if one.kernel.startswith(("attn", "gated_delta_net"))]
    if len(at) != 3:
        raise SystemExit(f"{len(at)} launches of attention or the gated delta rule in a token of three layers")
    return launches[at[1] : at[2]]


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
    parser.add_argument("--rows", type=int, default=1, help="tokens at once")
    parser.add_argument("--more", action="store_true", help="v and down in q6_K")
    options = parser.parse_args()
    environment = {"NIBBLEWAVE_GGML_UNFUSED": options.unfused}
    layer = by_kernel(layer_of(run(options.gfx, options.model, 3, "last", *["more"] * options.more, rows=options.rows, **environment)))
    for name, row in sorted(layer.items(), key=lambda item: -item[1].us - item[1].gap):
        print(f"{name:36} {row.launches:3} {row.us:8.1f} us, gaps {row.gap:5.1f} us, {row.bytes / 1e6:7.2f} MB")
    sum_ = total(layer)
    print(f"a layer: {sum_.launches} launches, {sum_.us + sum_.gap:.1f} us: {sum_.us:.1f} in kernels, {sum_.gap:.1f} in gaps; {sum_.bytes / 1e6:.1f} MB")
    if options.model in LAYERS:
        print(f"{LAYERS[options.model]} layers: {LAYERS[options.model] * (sum_.us + sum_.gap) / 1000:.2f} ms")


if __name__ == "__main__":
    main()
