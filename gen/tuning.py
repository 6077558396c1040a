# SPDX-License-Identifier: MIT
"""gen/tuning/<gfx>.toml, written by `nw tune`: the kernel for each shape, and the times behind the choice.

A section is a kind of product, a row of `shapes` one shape of it: the kernel chosen, its time, the best of the
others, the time of the default kernel, and the device: "AMD Radeon 8060S (sim)", or a card.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

KIND_KEYS = ("family", "dtype", "group", "zeros", "m")
# Plans of a product with GGUF weights: one launch for all rows of activations, or several for slices of them.
GGUF = "gguf"
GGUF_KEYS = ("family", "type", "m")
GGUF_WAYS = {"gguf_decode", "gguf_mid", "gguf_prefill", "dot_gguf"}
# Families whose tile is chosen by the number of rows.
MANY_ROWS = "prefill_w4a16"
TILES = {MANY_ROWS, "mid_w4a16", "dot_w4a16"}
SHAPE_KEYS = {"n", "k", "kernel", "us", "next", "next_us", "default_us", "by"}


class Kernel(Protocol):
    """The attributes of render.Kernel that are used here."""

    family: str
    gfx: str
    symbol: str
    params: dict[str, str | int]
    reference: bool
    candidate: bool


@dataclass(frozen=True)
class Tuned:
    gfx: str
    family: str
    dtype: str  # or the type of GGUF weights, which have no groups and zeros
    group: str | int
    zeros: str
    m: int
    n: int
    k: int
    kernel: str
    us: float
    next: str
    next_us: float
    default_us: float
    by: str


def check_keys(where: str, keys: set[str], wanted: set[str]) -> None:
    if keys != wanted:
        raise ValueError(f"{where}: keys differ from the format: {sorted(keys ^ wanted)}")


def rows_of(path: Path) -> Iterator[tuple[str, Tuned]]:
    """Each row with its location. Whether its kernel exists is checked later."""
    try:
        table = tomllib.loads(path.read_text())
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path.name}: {error}") from error
    check_keys(path.name, set(table), {"tuned"})
    for section in table["tuned"]:
        keys = GGUF_KEYS if section.get("family") == GGUF else KIND_KEYS
        check_keys(f"{path.name} [[tuned]]", set(section), {*keys, "shapes"})
        kind = {key: section[key] for key in keys}
        name = " ".join(f"{key} {value!r}" for key, value in kind.items())
        if "type" in kind:
            kind |= {"dtype": kind.pop("type"), "group": "", "zeros": ""}
        for shape in section["shapes"]:
            check_keys(f"{path.name}, {name}", set(shape), SHAPE_KEYS)
            where = f"{path.name}, {name}, {shape['n']}x{shape['k']}"
            for key in ("us", "next_us", "default_us"):
                if not shape[key] > 0:
                    raise ValueError(f"{where}: {key} = {shape[key]}: a time is above 0")
            yield where, Tuned(path.stem, **kind, **shape)


def check_kernel(where: str, row: Tuned, symbol: str, known: dict[tuple[str, str], Kernel]) -> None:
    kernel = known.get((row.gfx, symbol))
    if kernel is None:
        raise ValueError(f"{where}: asm has no {symbol} for {row.gfx}: tune again, or delete the row")
    if row.family == GGUF:
        fits = kernel.family in GGUF_WAYS and kernel.params["type"] == row.dtype and kernel.params.get("m", 1) <= row.m
        if not fits or kernel.reference:
            raise ValueError(f"{where}: {symbol} is not for such products")
        return
    tile = kernel.family in TILES
    m = row.m if tile else kernel.params.get("m")
    kind = (MANY_ROWS if tile else kernel.family, *(kernel.params.get(key) for key in KIND_KEYS[1:-1]), m)
    if kind != (row.family, row.dtype, row.group, row.zeros, row.m) or kernel.reference:
        raise ValueError(f"{where}: {symbol} is not for such products")


def read_all(folder: Path, kernels: list[Kernel]) -> list[Tuned]:
    """The tables of the gfx of these kernels, sorted. A table for a gfx that is not built is not read."""
    known = {(k.gfx, k.symbol): k for k in kernels}
    out: dict[tuple, Tuned] = {}
    for path in sorted(folder.glob("*.toml")):
        if path.stem not in {k.gfx for k in kernels}:
            continue
        for where, row in rows_of(path):
            check_kernel(where, row, row.kernel, known)
            check_kernel(where, row, row.next, known)
            key = (row.gfx, row.family, row.dtype, str(row.group), row.zeros, row.m, row.n, row.k)
            if key in out:
                raise ValueError(f"{where}: is there twice")
            out[key] = row
    return [out[key] for key in sorted(out)]


def named(folder: Path, gfx: str) -> set[str]:
    """The kernels that a target's table chooses, unchecked."""
    path = folder / f"{gfx}.toml"
    return {row.kernel for _, row in rows_of(path)} if path.exists() else set()


def registry_row(row: Tuned) -> str:
    return (
        f"NW_TUNED({row.gfx}, {row.family}, {row.m}, {row.n}, {row.k}, {row.kernel}, {row.us}, {row.next}, {row.next_us}, "
        f'{row.default_us}, "{row.by}")\n'
    )
