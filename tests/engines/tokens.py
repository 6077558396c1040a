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
MODELS = {"Llama-2-7B": "Q4_0", "Llama-3.1-8B": "Q4_K_M", "Qwen2.5-7B": "Q4_K_M", "Qwen3-8B": "Q4_K_M", "Qwen3-30B-A3B": "Q4_K_M", "gpt-oss-20b": "MXFP4", "Qwen3.6-27B": "Q4_K_M"}
# Layers of hybrids by kind, the most frequent first: every fourth layer is the other kind.
HYBRIDS = {"Qwen3.6-27B": ("Qwen3.6-27B delta, Q4_K_M", "Qwen3.6-27B attention")}


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


def layer(model: str, part: str, *options: str) -> tuple[launches.Sum, launches.Sum]:
    """A layer of three, and the whole token of these."""
    token = launches.run(PARTS[part], model, 3, "last", *options, HIPSIM_PART=part)
    return launches.total(launches.by_kernel(launches.layer_of(token))), launches.total(launches.by_kernel(token))


def measure(model: str, part: str) -> Row:
    kinds = HYBRIDS.get(model, (model,))
    number = sum(launches.LAYERS[kind] for kind in kinds)
    us = moved = 0.0
    rows = []
    for kind in kinds:
        one, token = layer(kind, part)
        more, better = one, 0
        if MODELS[model] == "Q4_K_M":
            more = layer(kind, part, "more")[0]
            better = sum(models.more_bits(n, number) for n in range(number) if len(kinds) == 1 or ((n + 1) % 4 == 0) == (kind == kinds[1]))
        plain = launches.LAYERS[kind] - better
        us += plain * (one.us + one.gap) + better * (more.us + more.gap)
        moved += plain * one.bytes + better * more.bytes
        rows.append((one, more))
    rest = token.us + token.gap - 3 * (one.us + one.gap)  # of the last kind, which has the whole vocabulary
    us += rest
    moved += token.bytes - 3 * one.bytes
    one, more = rows[0]
    return Row(model, MODELS[model], part, one.launches, one.us + one.gap, more.us + more.gap, rest, moved / 1e6, us / 1000)


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
