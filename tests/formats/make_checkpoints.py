# SPDX-License-Identifier: MIT
"""Small checkpoints of every format that nw pack reads, with the weights they stand for.

    make_checkpoints.py FOLDER [NAME...]      writes FOLDER/NAME/ for each (default: all)

Random numbers from a fixed seed: the same files each time. Packing follows the formats' descriptions
element by element and shares nothing with nw's code.
"""

from __future__ import annotations

import json
import random
import struct
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from safetensors_file import Tensor, encode

AWQ_ORDER = (0, 2, 4, 6, 1, 3, 5, 7)  # nibble i of a word is column 8c + AWQ_ORDER[i]


@dataclass
class Matrix:
    """W[n][k] = (q[n][k] - z[n][g]) * s[n][g], g being k / group or what g_idx says."""

    n: int
    k: int
    group: int
    q: list[list[int]]
    z: list[list[int]]
    s: list[list[float]]
    g_idx: list[int]
    bias: list[float] | None = None

    @property
    def groups(self) -> int:
        return self.k // self.group

    def values(self) -> list[list[float]]:
        return [
            [(self.q[n][k] - self.z[n][g]) * self.s[n][g] for k, g in enumerate(self.g_idx)] for n in range(self.n)
        ]


def make_matrix(
    rng: random.Random, n: int, k: int, group: int, *, asym: bool = False, act_order: bool = False, bias: bool = False,
    lowest_zero: int = 0, highest_zero: int = 15,
) -> Matrix:
    group = k if group == -1 else group
    groups = k // group
    g_idx = [i // group for i in range(k)]
    if act_order:
        rng.shuffle(g_idx)

    def scale() -> float:  # seven bits of mantissa: the same number in F16 and BF16
        return rng.randint(128, 255) / 128 / 2 ** rng.randint(5, 8)

    return Matrix(
        n, k, group,
        q=[[rng.randrange(16) for _ in range(k)] for _ in range(n)],
        z=[[rng.randint(lowest_zero, highest_zero) if asym else 8 for _ in range(groups)] for _ in range(n)],
        s=[[scale() for _ in range(groups)] for _ in range(n)],
        g_idx=g_idx,
        bias=[scale() * rng.choice((-1, 1)) for _ in range(n)] if bias else None,
    )  # fmt: skip


# ---- tensors -------------------------------------------------------------------------------------


def reals(dtype: str, shape: list[int], values: Iterable[float]) -> Tensor:
    def bits(x: float) -> bytes:
        return struct.pack("<e", x) if dtype == "F16" else struct.pack("<f", x)[2 if dtype == "BF16" else 0 :]

    return Tensor(dtype, shape, b"".join(bits(x) for x in values))


def ints(shape: list[int], values: Iterable[int], dtype: str = "I32") -> Tensor:
    code = "<q" if dtype == "I64" else "<I"
    return Tensor(dtype, shape, b"".join(struct.pack(code, x) for x in values))


def word(nibbles: Iterable[int]) -> int:
    return sum(x << 4 * i for i, x in enumerate(nibbles))


def padded(values: list[int]) -> list[int]:
    return values + [0] * (-len(values) % 8)


def by_group(m: Matrix, rows: list[list]) -> Iterable:
    return (rows[n][g] for g in range(m.groups) for n in range(m.n))


def gptq(m: Matrix, dtype: str, stored_less: int) -> dict[str, Tensor]:
    """stored_less: 1 in v1, whose zero points are stored less one; 0 in v2."""
    qweight = [word(m.q[n][8 * r + j] for j in range(8)) for r in range(m.k // 8) for n in range(m.n)]
    qzeros = [
        word(m.z[8 * c + j][g] - stored_less if 8 * c + j < m.n else 0 for j in range(8))
        for g in range(m.groups)
        for c in range(-(-m.n // 8))
    ]
    return {
        "qweight": ints([m.k // 8, m.n], qweight),
        "qzeros": ints([m.groups, -(-m.n // 8)], qzeros),
        "scales": reals(dtype, [m.groups, m.n], by_group(m, m.s)),
        "g_idx": ints([m.k], m.g_idx),
    }


def awq(m: Matrix, dtype: str) -> dict[str, Tensor]:
    columns = range(m.n // 8)
    return {
        "qweight": ints(
            [m.k, m.n // 8], [word(m.q[8 * c + o][k] for o in AWQ_ORDER) for k in range(m.k) for c in columns]
        ),
        "qzeros": ints(
            [m.groups, m.n // 8], [word(m.z[8 * c + o][g] for o in AWQ_ORDER) for g in range(m.groups) for c in columns]
        ),
        "scales": reals(dtype, [m.groups, m.n], by_group(m, m.s)),
    }


def compressed(m: Matrix, dtype: str, asym: bool, g_idx: bool = False) -> dict[str, Tensor]:
    packed = [word(row[k : k + 8]) for row in m.q for k in range(0, m.k, 8)]
    by_column = [padded([zeros[g] for zeros in m.z]) for g in range(m.groups)]
    zeros = [word(column[r : r + 8]) for r in range(0, m.n, 8) for column in by_column]
    out = {
        "weight_packed": ints([m.n, m.k // 8], packed),
        "weight_scale": reals(dtype, [m.n, m.groups], (s for row in m.s for s in row)),
        "weight_shape": ints([2], [m.n, m.k], "I64"),
    }
    if asym:
        out["weight_zero_point"] = ints([-(-m.n // 8), m.groups], zeros)
    if g_idx:
        out["weight_g_idx"] = ints([m.k], m.g_idx)
    return out


def text(value: str) -> Tensor:
    return Tensor("U8", [len(value)], value.encode())


def hqq(m: Matrix, dtype: str) -> dict[str, Tensor]:
    """Codes of all groups, one row each: those of the first half of them are high nibbles, of the second half low ones."""
    codes = [q for row in m.q for q in row]
    half = len(codes) // 2
    count = m.n * m.groups
    return {
        "W_q": Tensor("U8", [count // 2, m.group], bytes(a << 4 | b for a, b in zip(codes[:half], codes[half:], strict=True))),
        "scale": reals(dtype, [count, 1], (s for row in m.s for s in row)),
        "zero": reals(dtype, [count, 1], (float(z) for row in m.z for z in row)),
        "shape": ints([2], [m.n, m.k], "I64"),
        "nbits": ints([], [4]),
        "axis": ints([], [1]),
        "group_size": ints([], [m.group]),
        "packing": text("4bit_u8"),
        "view_as_float": Tensor("U8", [], b"\0"),
        "unpack_view_dtype": text("torch.uint8"),
        "encoded_state_dict": Tensor("U8", [], b"\1"),
    }


def stacked(parts: list[dict[str, Tensor]]) -> dict[str, Tensor]:
    """Experts in one tensor each, but for the shape, which they share."""
    return {
        key: first
        if key == "weight_shape"
        else Tensor(first.dtype, [len(parts), *first.shape], b"".join(part[key].data for part in parts))
        for key, first in parts[0].items()
    }


# ---- checkpoints ---------------------------------------------------------------------------------


@dataclass
class Checkpoint:
    config: dict
    tensors: dict[str, Tensor] = field(default_factory=dict)
    matrices: dict[str, list[Matrix]] = field(default_factory=dict)  # by packed name; experts in order
    dtype: str = "F16"
    shards: int = 1
    old_config: bool = False  # in quantize_config.json

    def add(self, name: str, tensors: dict[str, Tensor], *matrices: Matrix, packed_name: str | None = None) -> None:
        self.matrices.setdefault(packed_name or name, []).extend(matrices)
        for key, tensor in tensors.items():
            self.tensors[f"{name}.{key}"] = tensor
        if matrices[0].bias and len(matrices) == 1:
            self.tensors[f"{name}.bias"] = reals(self.dtype, [matrices[0].n], matrices[0].bias)

    def write(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        config = {"model_type": "small"} | ({} if self.old_config or not self.config else {"quantization_config": self.config})
        (folder / "config.json").write_text(json.dumps(config))
        if self.old_config:
            (folder / "quantize_config.json").write_text(json.dumps(self.config))
        if self.shards == 1:
            (folder / "model.safetensors").write_bytes(encode(self.tensors, {"format": "pt"}))
            return
        names = [f"model-{i + 1:05}-of-{self.shards:05}.safetensors" for i in range(self.shards)]
        place = {tensor: names[i % self.shards] for i, tensor in enumerate(self.tensors)}
        for shard in names:
            part = {name: tensor for name, tensor in self.tensors.items() if place[name] == shard}
            (folder / shard).write_bytes(encode(part))
        total = sum(len(tensor.data) for tensor in self.tensors.values())
        index = {"metadata": {"total_size": total}, "weight_map": place}
        (folder / "model.safetensors.index.json").write_text(json.dumps(index))


Pack = Callable[[Matrix], dict[str, Tensor]]


def fill(c: Checkpoint, rng: random.Random, pack: Pack, shapes: dict, **kind) -> Checkpoint:
    c.tensors["model.embed_tokens.weight"] = reals("BF16", [4, 8], (rng.randint(-8, 8) for _ in range(32)))
    for name, (n, k, group) in shapes.items():
        m = make_matrix(rng, n, k, group, bias="self_attn" in name and "o_proj" not in name, **kind)
        c.add(name, pack(m), m)
    c.tensors["model.norm.weight"] = reals("F32", [3], (1.0, 2.0, 3.0))
    return c


def gptq_config(group: int, sym: bool, form: str | None, act_order: bool = False) -> dict:
    config = {"quant_method": "gptq", "bits": 4, "group_size": group, "sym": sym, "desc_act": act_order}
    return config | ({"checkpoint_format": form} if form else {})


def compressed_config(group: int, sym: bool) -> dict:
    weights = {"num_bits": 4, "type": "int", "symmetric": sym, "strategy": "channel" if group == -1 else "group"}
    weights["group_size"] = None if group == -1 else group
    groups = {"group_0": {"targets": ["Linear"], "weights": weights}}
    return {"quant_method": "compressed-tensors", "format": "pack-quantized", "config_groups": groups}


def hqq_checkpoint(rng: random.Random, group: int, asym: bool) -> Checkpoint:
    c = Checkpoint({"quant_method": "hqq", "quant_config": {"weight_quant_params": {"nbits": 4, "axis": 1}}})
    shapes = grouped(SMALL_K if group in (32, -1) else DENSE, group)
    if group != -1:
        shapes["model.layers.2.mlp.odd"] = (13, 256, 32)  # a row with both kinds of nibbles
    return fill(c, rng, lambda m: hqq(m, c.dtype), shapes, asym=asym)


AWQ_CONFIG = {"quant_method": "awq", "bits": 4, "zero_point": True, "version": "gemm"}

# More rows than a block has, fewer than eight words, K that ends within a tile, rows of 2048 bytes.
DENSE = {
    "model.layers.0.self_attn.q_proj": (64, 256),
    "model.layers.0.mlp.down_proj": (304, 128),
    "model.layers.1.self_attn.q_proj": (8, 4096),
}
SMALL_K = DENSE | {"model.layers.1.mlp.down_proj": (24, 160), "model.layers.1.mlp.up_proj": (520, 32)}


def grouped(shapes: dict, group: int) -> dict:
    return {name: (n, k, group) for name, (n, k) in shapes.items()}


def gptq_checkpoint(
    rng: random.Random, group: int, less: int, form: str | None, shapes: dict = DENSE, **kind
) -> Checkpoint:
    config = gptq_config(group, not kind.get("asym"), form, kind.get("act_order", False))
    if kind.get("asym") and less == 1:
        kind["lowest_zero"] = 1
    c = Checkpoint(config, old_config=form is None)
    return fill(c, rng, lambda m: gptq(m, c.dtype, less), grouped(shapes, group), **kind)


def awq_checkpoint(rng: random.Random, group: int, shards: int = 1) -> Checkpoint:
    c = Checkpoint(AWQ_CONFIG | {"group_size": group}, shards=shards)
    shapes = grouped(SMALL_K if group == 32 else DENSE, group)
    return fill(c, rng, lambda m: awq(m, c.dtype), shapes, asym=True)


def compressed_checkpoint(rng: random.Random, group: int, asym: bool, g_idx: bool = False) -> Checkpoint:
    c = Checkpoint(compressed_config(group, not asym), dtype="BF16")
    shapes = grouped(SMALL_K if group in (32, -1) else DENSE, group)
    # Rows with zero points are put in groups of 32 and more.
    shapes["model.layers.2.mlp.odd"] = (13, 96 if asym else 48, -1) if group == -1 else (13, 128, group)
    return fill(c, rng, lambda m: compressed(m, c.dtype, asym, g_idx), shapes, asym=asym, act_order=g_idx)


def actorder(c: Checkpoint, how: str) -> Checkpoint:
    c.config["config_groups"]["group_0"]["weights"]["actorder"] = how
    return c


def auto_round(c: Checkpoint, packing: str) -> Checkpoint:
    """A checkpoint of GPTQ's or AWQ's tensors, as AutoRound exports it."""
    said = {"bits": 4, "group_size": c.config["group_size"], "sym": c.config.get("sym", False)}
    c.config = said | {"quant_method": "auto-round", "packing_format": packing}
    for name in [name for name in c.tensors if name.endswith(".g_idx")]:
        del c.tensors[name]
    return c


def moe_checkpoint(rng: random.Random, pack: Pack, config: dict, stack: bool, asym: bool) -> Checkpoint:
    c = Checkpoint(config, shards=1 if stack else 2)
    for proj, (n, k) in {"gate_proj": (40, 128), "up_proj": (40, 128), "down_proj": (264, 64)}.items():
        experts = [make_matrix(rng, n, k, 32, asym=asym) for _ in range(12)]
        folder = f"model.layers.0.mlp.experts.{proj}"
        if stack:
            c.add(folder, stacked([pack(m) for m in experts]), *experts)
        else:
            for e, m in enumerate(experts):
                c.add(f"model.layers.0.mlp.experts.{e}.{proj}", pack(m), m, packed_name=folder)
    gate = make_matrix(rng, 16, 64, 32, asym=asym)
    c.add("model.layers.0.mlp.shared_expert.gate_proj", pack(gate), gate)
    return c


# All linears of a model of two layers; k and v are narrower than q.
MODEL = {
    f"model.layers.{layer}.{name}": shape
    for layer in range(2)
    for name, shape in {
        "self_attn.q_proj": (128, 128),
        "self_attn.k_proj": (64, 128),
        "self_attn.v_proj": (64, 128),
        "self_attn.o_proj": (128, 128),
        "mlp.gate_proj": (320, 128),
        "mlp.up_proj": (320, 128),
        "mlp.down_proj": (128, 320),
    }.items()
}


MAKERS: dict[str, Callable[[random.Random], Checkpoint]] = {
    "gptq_v1_sym": lambda r: gptq_checkpoint(r, 32, 1, "gptq", SMALL_K),
    "gptq_v1_asym": lambda r: gptq_checkpoint(r, 64, 1, "gptq", asym=True),
    "gptq_v2_sym": lambda r: gptq_checkpoint(r, 128, 0, "gptq_v2"),
    "gptq_v2_asym": lambda r: gptq_checkpoint(r, 128, 0, "gptq_v2", asym=True),
    "gptq_p_asym": lambda r: gptq_checkpoint(r, 128, 0, "gptq_p", asym=True),
    "gptq_says_v1_is_v2": lambda r: gptq_checkpoint(r, 128, 0, "gptq"),
    "gptq_old_config": lambda r: gptq_checkpoint(r, 64, 1, None),
    "gptq_per_row": lambda r: gptq_checkpoint(r, -1, 1, "gptq"),
    "gptq_act_order": lambda r: gptq_checkpoint(r, 32, 1, "gptq", SMALL_K, act_order=True, asym=True),
    "awq_g128": lambda r: awq_checkpoint(r, 128),
    "awq_g32_sharded": lambda r: awq_checkpoint(r, 32, shards=3),
    "compressed_sym": lambda r: compressed_checkpoint(r, 128, asym=False),
    "compressed_asym": lambda r: compressed_checkpoint(r, 32, asym=True),
    "compressed_per_row": lambda r: compressed_checkpoint(r, -1, asym=False),
    "awq_g64": lambda r: awq_checkpoint(r, 64),
    "awq_per_row": lambda r: awq_checkpoint(r, -1),
    "compressed_asym_g64": lambda r: compressed_checkpoint(r, 64, asym=True),
    "compressed_static": lambda r: actorder(compressed_checkpoint(r, 64, asym=True), "static"),
    "compressed_asym_per_row": lambda r: compressed_checkpoint(r, -1, asym=True),
    "auto_round_gptq": lambda r: auto_round(gptq_checkpoint(r, 64, 1, "gptq"), "auto_round:auto_gptq"),
    "auto_round_asym": lambda r: auto_round(gptq_checkpoint(r, 64, 0, "gptq", asym=True), "auto_round"),
    "auto_round_awq": lambda r: auto_round(awq_checkpoint(r, 128), "auto_round:auto_awq"),
    "hqq_g64": lambda r: hqq_checkpoint(r, 64, asym=True),
    "hqq_g32": lambda r: hqq_checkpoint(r, 32, asym=True),
    "hqq_per_row": lambda r: hqq_checkpoint(r, -1, asym=True),
    "hqq_sym": lambda r: hqq_checkpoint(r, 128, asym=False),
    "compressed_g_idx": lambda r: actorder(compressed_checkpoint(r, 64, asym=True, g_idx=True), "group"),
    "model": lambda r: gptq_checkpoint(r, 64, 0, "gptq_v2", MODEL, asym=True),
    "moe_gptq": lambda r: moe_checkpoint(r, lambda m: gptq(m, "F16", 1), gptq_config(32, True, "gptq"), False, False),
    "moe_awq": lambda r: moe_checkpoint(r, lambda m: awq(m, "F16"), AWQ_CONFIG | {"group_size": 32}, False, True),
    "moe_compressed_stacked": lambda r: moe_checkpoint(
        r, lambda m: compressed(m, "F16", True), compressed_config(32, False), True, True
    ),
}  # fmt: skip


def plain_checkpoint(rng: random.Random) -> Checkpoint:
    """Not quantized: an input of nw quantize."""
    c = Checkpoint({}, dtype="BF16")
    c.tensors["model.embed_tokens.weight"] = reals("BF16", [4, 512], (rng.randint(-8, 8) for _ in range(2048)))
    for name, n in {"self_attn.o_proj": 16, "mlp.up_proj": 40}.items():
        values = (rng.randint(-255, 255) / 4096 for _ in range(n * 512))
        c.tensors[f"model.layers.0.{name}.weight"] = reals("BF16", [n, 512], values)
    c.tensors["model.norm.weight"] = reals("F32", [3], (1.0, 2.0, 3.0))
    return c


PLAIN = "bf16"


def make(name: str) -> Checkpoint:
    return plain_checkpoint(random.Random(name)) if name == PLAIN else MAKERS[name](random.Random(name))


def main(folder: Path, names: list[str]) -> int:
    for name in names or [*MAKERS, PLAIN]:
        if name not in [*MAKERS, PLAIN]:
            print(f"make_checkpoints.py: {name}: unknown; choose from {', '.join([*MAKERS, PLAIN])}", file=sys.stderr)
            return 2
        make(name).write(folder / name)
    return 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
