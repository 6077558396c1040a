# SPDX-License-Identifier: MIT
"""Tokens per second of whole models by `nw bench-model`, beside published figures (bench/data/models.csv).

    python3 bench/models.py [--build DIR] [--only REGEX] [--json FILE] [--verify 9,23] [--fast]

The GGUF files are made here: metadata and tensor list, with the types that llama.cpp chooses, and a hole in place of the weights.
Rows are named "MODEL FILE PART PASS". Published times include everything that a card does for a token; modelled ones leave out
rotations, additions, scans of linear attention, sampling and the host, so they are a bound of what these kernels could reach.

"verify N": a pass that checks a tree of N - 1 drafted tokens after the last one. Its tokens per second count all N. Published ones
count accepted tokens per cycle of drafting and checking. Beside them stands the number of tokens that a pass would have to yield for
the same rate and, if `accepted` tokens per cycle are published, their rate by this pass alone. The drafter isn't modelled.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "bench/data/models.csv"

# ggml's number of the type, elements and bytes of a block.
TYPES = {"f32": (0, 1, 4), "q4_0": (2, 32, 18), "q4_K": (12, 256, 144), "q5_K": (13, 256, 176), "q6_K": (14, 256, 210), "bf16": (30, 1, 2)}
GGUF_U32, GGUF_BOOL, GGUF_STRING, GGUF_ARRAY = 4, 7, 8, 9

Tensor = tuple[str, str, list[int]]  # name, type, sizes, the row's first
Metadata = dict[str, int | str | list[int] | list[bool]]


def size_of(kind: str, sizes: list[int]) -> int:
    """Bytes of a tensor."""
    _, elements, out = TYPES[kind]
    for size in sizes:
        out *= size
    return out // elements


def write_gguf(path: Path, tensors: list[Tensor], metadata: Metadata) -> Path:
    """A GGUF 3 file whose tensors' bytes are a hole: they are zeros, and take no space."""
    head, infos, at = b"", b"", 0
    for key, value in metadata.items():
        head += struct.pack("<Q", len(key)) + key.encode()
        if isinstance(value, str):
            head += struct.pack("<IQ", GGUF_STRING, len(value)) + value.encode()
        elif isinstance(value, list):
            kind, format = (GGUF_BOOL, "?") if isinstance(value[0], bool) else (GGUF_U32, "I")
            head += struct.pack(f"<IIQ{len(value)}{format}", GGUF_ARRAY, kind, len(value), *value)
        else:
            head += struct.pack("<II", GGUF_U32, value)
    for name, kind, sizes in tensors:
        infos += struct.pack("<Q", len(name)) + name.encode() + struct.pack("<I", len(sizes))
        infos += struct.pack(f"<{len(sizes)}Q", *sizes) + struct.pack("<IQ", TYPES[kind][0], at)
        at += -(-size_of(kind, sizes) // 32) * 32
    header = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(metadata)) + head + infos
    header += bytes(-len(header) % 32)
    with path.open("wb") as file:
        file.write(header)
        file.truncate(len(header) + at)
    return path


@dataclass(frozen=True)
class Model:
    """A dense transformer; one of `every` layers has attention, the others a gated delta net."""

    layers: int
    width: int
    hidden: int
    heads: int
    key_heads: int
    head: int
    words: int  # of the vocabulary
    every: int = 1

    def layer(self, n: int, file: str) -> list[Tensor]:
        more = "q6_K" if file == "Q4_K_M" and more_bits(n, self.layers) else base(file)
        yield_of, keys = self.heads * self.head, self.key_heads * self.head
        if n % self.every == self.every - 1:
            # With a gate, of every fourth layer, q has twice the rows.
            rows = yield_of * (2 if self.every > 1 else 1)
            out = [("attn_q", base(file), [self.width, rows]), ("attn_k", base(file), [self.width, keys]),
                   ("attn_v", more, [self.width, keys]), ("attn_output", base(file), [yield_of, self.width])]  # fmt: skip
        else:
            fused = "q5_K" if file == "Q4_K_M" else base(file)
            out = [("attn_qkv", fused, [self.width, 2 * self.width]), ("attn_gate", base(file), [self.width, yield_of]),
                   ("ssm_out", base(file), [yield_of, self.width])]  # fmt: skip
        out += [("ffn_gate", base(file), [self.width, self.hidden]), ("ffn_up", base(file), [self.width, self.hidden]),
                ("ffn_down", more, [self.hidden, self.width]), ("attn_norm", "f32", [self.width]), ("ffn_norm", "f32", [self.width])]  # fmt: skip
        return [(f"blk.{n}.{name}.weight", kind, sizes) for name, kind, sizes in out]

    def tensors(self, file: str) -> list[Tensor]:
        ends = [("token_embd.weight", base(file), [self.width, self.words]), ("output.weight", "q6_K", [self.width, self.words])]
        return ends + [tensor for n in range(self.layers) for tensor in self.layer(n, file)]

    def metadata(self, name: str) -> Metadata:
        return {"general.architecture": "model", "general.name": name, "model.embedding_length": self.width, "model.attention.head_count": self.heads,
                "model.attention.head_count_kv": self.key_heads, "model.attention.key_length": self.head}  # fmt: skip


def base(file: str) -> str:
    return {"Q4_0": "q4_0", "Q4_K_M": "q4_K"}[file]


def more_bits(n: int, layers: int) -> bool:
    """Layers whose values and second products have six bits in a Q4_K_M file: the first and last eighth, and of the rest each third."""
    eighth = layers // 8
    return n < eighth or n >= 7 * layers // 8 or (n - eighth) % 3 == 2


MODELS = {
    "Llama-2-7B": Model(32, 4096, 11008, 32, 32, 128, 32000),
    "Llama-3.1-8B": Model(32, 4096, 14336, 32, 8, 128, 128256),
    "Qwen2.5-7B": Model(28, 3584, 18944, 28, 4, 128, 152064),
    "Qwen3.6-27B": Model(64, 5120, 17408, 24, 4, 256, 248320, every=4),
}
SPECULATIVE = "Qwen3.6-27B"  # its passes "verify N" are of interest
PARTS = ["7900 XTX", "8060S", "R9700"]


def published() -> list[dict]:
    with FILE.open() as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def nw(build: Path, part: str, *arguments: str | Path) -> dict:
    said = subprocess.run([build / "bin/nw", *arguments, "--json"], capture_output=True, text=True, env=os.environ | {"HIPSIM_PART": part})
    if said.returncode:
        sys.exit(said.stderr)
    return json.loads(said.stdout)


def passes(build: Path, path: Path, part: str, verify: str, fast: bool) -> list[dict]:
    gfx = nw(build, part, "constants", "--part", part)["gfx"]
    more = (["--verify", verify] if verify else []) + ([] if fast else ["--uncertainty"])
    return nw(build, part, "bench-model", path, "--device", f"sim:{gfx}", "--prompt", "0", "--gen", "128", *more)["passes"]


def beside(published: dict, ms: float) -> dict:
    """A published figure, compared with a pass of `ms` milliseconds."""
    out = {"backend": published["backend"], "low": float(published["low"]), "high": float(published["high"]), "source": published["source"]}
    if is_of(published, "tg"):
        return out
    out["tokens_to_equal"] = out["high"] * ms / 1e3
    if published["accepted"]:
        out["accepted"] = float(published["accepted"])
        out["tokens_per_s_by_pass"] = out["accepted"] * 1e3 / ms
    return out


def is_of(row: dict, word: str) -> bool:
    return row["pass"].startswith(word)


def row_of(name: str, one: dict, known: list[dict]) -> dict:
    """`one`: a pass of nw bench-model. `known`: published figures of that model, file and part."""
    ms = one["time_us"] / 1e3
    low, high = (one["tokens"] * 1e6 / one.get(key, one["time_us"]) for key in ("time_high_us", "time_low_us"))
    same = [row for row in known if is_of(one, "tg") and is_of(row, "tg") or row["pass"] == one["pass"]]
    return {"name": f"{name} {one['pass']}", "ms": ms, "tokens_per_s": one["tokens_per_s"], "low": low, "high": high,
            "published": [beside(row, ms) for row in same]}  # fmt: skip


def rows(build: Path, only: str, verify: str, fast: bool) -> list[dict]:
    out, known = [], published()
    kinds = {(row["model"], row["file"], part) for row in known for part in ([row["part"]] if row["model"] != SPECULATIVE else PARTS)}
    for model, file, part in sorted(kinds):
        name = f"{model} {file} {part}"
        if not re.search(only, name):
            continue
        with tempfile.TemporaryDirectory() as folder:
            path = write_gguf(Path(folder, "model.gguf"), MODELS[model].tensors(file), MODELS[model].metadata(model))
            of_these = [row for row in known if (row["model"], row["file"], row["part"]) == (model, file, part)]
            for one in passes(build, path, part, verify if model == SPECULATIVE else "", fast):
                out.append(row_of(name, one, of_these))
                print(line(out[-1]), flush=True)
    return out


def line(row: dict) -> str:
    def figure(of: dict) -> str:
        both = f"{of['low']:g}" if of["low"] == of["high"] else f"{of['low']:g}-{of['high']:g}"
        more = f", equalled by {of['tokens_to_equal']:.2f} tokens a pass" if "tokens_to_equal" in of else ""
        if "accepted" in of:
            more += f"; {of['accepted']:g} were accepted, here {of['tokens_per_s_by_pass']:.0f} tokens/s"
        return f"{of['backend']} {both} ({of['source']}){more}"

    text = f"{row['name']:<36} {row['ms']:8.2f} {row['tokens_per_s']:8.1f}  {row['low']:7.1f} {row['high']:7.1f}  "
    return (text + f"\n{'':74}".join(figure(of) for of in row["published"])).rstrip()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--only", default="", metavar="REGEX", help="rows to run: names, without the pass")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows to this file")
    parser.add_argument("--verify", default="9,23", metavar="N,N", help="tokens per verification pass of Qwen3.6-27B; '': none")
    parser.add_argument("--fast", action="store_true", help="without low and high, six times as fast")
    options = parser.parse_args()
    print(f"Whole models on sim: modelled, a cache of 64 tokens.\n\n{'model, file, part, pass':<36} {'ms':>8} {'tokens/s':>8}  {'low':>7} {'high':>7}  published")
    out = rows(options.build, options.only, options.verify, options.fast)
    if not out:
        sys.exit(f"--only {options.only}: no model and part of {FILE.name} has such a name")
    if options.json:
        options.json.write_text(json.dumps({"rows": out}, indent=1) + "\n")


if __name__ == "__main__":
    main()
