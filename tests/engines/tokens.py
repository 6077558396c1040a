# SPDX-License-Identifier: MIT
"""Whole tokens of models through the backend, on the simulated GPU: every launch and gap of a token, one sequence, 512 cells of cache.

    python3 tests/engines/tokens.py [--only REGEX]    renews bench/data/tokens.csv, or rows of it

A token is N layers, and the rest: its inputs, the launch of the graph, the last norm and the product of the vocabulary. Layers are timed
by the second of three (launches.py); in Q4_K_M files about half of them have values and down in q6_K (bench/models.py). Sampling and
the host are left out. The environment is that of the test engines_ggml."""

from __future__ import annotations

import argparse
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import launches

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "bench"))
import compare  # noqa: E402
import models  # noqa: E402

FILE = compare.TOKENS
HEAD = "# SPDX-License-Identifier: MIT\n# Whole tokens through the ggml backend (sim). python3 tests/engines/tokens.py renews them.\n"
PARTS = {"7900 XTX": "gfx1100", "8060S": "gfx1151", "R9700": "gfx1201", "6800 XT": "gfx1030"}
MODELS = {"Llama-2-7B": "Q4_0", "Llama-3.1-8B": "Q4_K_M", "Qwen2.5-7B": "Q4_K_M", "Qwen3-8B": "Q4_K_M", "Qwen3-30B-A3B": "Q4_K_M", "gpt-oss-20b": "MXFP4"}


@dataclass(frozen=True)
class Row:
    model: str
    file: str
    part: str
    launches: int  # of a layer whose weights have one type
    layer_us: float
    more_us: float  # of a layer with q6_K
    rest_us: float
    mb: float  # that DRAM moves for a token
    ms: float

    @property
    def tokens_per_s(self) -> float:
        return 1000 / self.ms


def read() -> list[Row]:
    words = ("model", "file", "part")
    return [Row(**{key: value if key in words else int(value) if key == "launches" else float(value) for key, value in line.items()}) for line in compare.data(FILE)]


def measure(model: str, part: str) -> Row:
    number = launches.LAYERS[model]
    token = launches.run(PARTS[part], model, 3, "last", HIPSIM_PART=part)
    layer = launches.total(launches.by_kernel(launches.layer_of(token)))
    all_ = launches.total(launches.by_kernel(token))
    more, better = layer, 0
    if MODELS[model] == "Q4_K_M":
        more = launches.total(launches.by_kernel(launches.layer_of(launches.run(PARTS[part], model, 3, "last", "more", HIPSIM_PART=part))))
        better = sum(models.more_bits(n, number) for n in range(number))
    rest = all_.us + all_.gap - 3 * (layer.us + layer.gap)
    us = (number - better) * (layer.us + layer.gap) + better * (more.us + more.gap) + rest
    moved = (number - better) * layer.bytes + better * more.bytes + all_.bytes - 3 * layer.bytes
    return Row(model, MODELS[model], part, layer.launches, layer.us + layer.gap, more.us + more.gap, rest, moved / 1e6, us / 1000)


def main() -> None:
    parser = argparse.ArgumentParser(description="Renews bench/data/tokens.csv.")
    parser.add_argument("--only", default="", metavar="REGEX", help="rows 'MODEL FILE PART' that match")
    options = parser.parse_args()
    rows = {(row.model, row.part): row for row in (read() if FILE.exists() else [])}
    for model, file in MODELS.items():
        for part in PARTS:
            if re.search(options.only, f"{model} {file} {part}"):
                row = rows[model, part] = measure(model, part)
                print(f"{model} {file} {part}: {row.ms:.2f} ms, {row.tokens_per_s:.1f} tokens/s", flush=True)
                FILE.write_text(compare.table(HEAD, Row, (rows[key] for key in sorted(rows, key=lambda k: (list(MODELS).index(k[0]), list(PARTS).index(k[1]))))))


if __name__ == "__main__":
    main()
