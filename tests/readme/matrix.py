# SPDX-License-Identifier: MIT
"""README.md's cards and kernels, from build/hsaco/manifest.json, gen/targets.toml and the contracts."""

from __future__ import annotations

import functools
import json
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OPERATIONS = {
    "linear_w4a16": "linear", "permuted_w4a16": "linear", "linear_w4a8": "linear", "linear_gguf": "linear", "linear_gguf_fp8": "linear", "gguf_joint": "linear",
    "moe_w4a16": "experts", "permuted_moe_w4a16": "experts", "moe_gguf": "experts", "moe_gguf_act": "experts", "moe_gguf_fp8": "experts",
    "attention": "attention", "attention_masked": "attention", "flash_attention": "attention",
}  # fmt: skip  others have no row
WEIGHTS = {"permuted_w4a16": "W4A16, act-order", "permuted_moe_w4a16": "W4A16, act-order"}
ACTIVATIONS = {
    "linear_w4a8": "int8", "linear_gguf": "f32", "linear_gguf_fp8": "fp8", "gguf_joint": "f32", "moe_gguf": "f32", "moe_gguf_act": "f32", "moe_gguf_fp8": "fp8",
    "attention_masked": "f32", "flash_attention": "f32",
}  # fmt: skip  others: the kernels' dtypes
ZEROS = {"": "none", "zp": "packed", "zt": "typed", "carrier": "carrier"}
KINDS = ("Matrices of f32, f16, bf16", "Sparse attention", "Before products", "Between products")  # of families without a row
CALLED_BEFORE = {"carrier_w4a16", "moe_align", "quantize_fp8", "quantize_rows"}
CARDS = {"gfx10": "RDNA1, 2", "gfx11": "RDNA3, 3.5", "gfx12": "RDNA4"}  # by generation
CHOSEN = ("mode", "dtype", "type", "group", "zeros", "d", "kv", "act")  # parameters that a caller gives


def library(manifest: dict) -> dict[str, list[dict]]:
    """Kernels of each installed family, without candidates of the tuner."""
    out: dict[str, list[dict]] = {}
    for kernel in manifest["kernels"]:
        if kernel["purpose"] == "library" and not kernel["candidate"]:
            out.setdefault(kernel["family"], []).append(kernel)
    return out


def values(kernels: list[dict], parameter: str) -> list:
    found = {kernel["params"][parameter] for kernel in kernels if parameter in kernel["params"]}
    return sorted(found, key=lambda value: (isinstance(value, str), value))


@functools.cache
def generations() -> dict[str, str]:
    """Target -> generation."""
    table = tomllib.loads((ROOT / "gen/targets.toml").read_text())
    own = {name: table["targets"][row.get("like", name)] for name, row in table["targets"].items()}
    return {name: table["series"][row["series"]]["generation"] for name, row in own.items()}


# ---- cells


def number(pattern: str, text: str) -> int | None:
    found = re.match(pattern, text)
    return int(found[1]) if found else None


def rows(family: str, op: str, kernels: list[dict]) -> str:
    """M that a family is built for; where its kernels take any, the range that its contract prefers."""
    exact = values(kernels, "m")
    if OPERATIONS[op] == "experts":
        sizes = exact or values(kernels, "bm")
        return "single slots" if sizes == [1] else "blocks of " + ", ".join(map(str, sizes))
    if exact == [1]:
        return "1"
    if exact:
        whole = exact == list(range(1, exact[-1] + 1))
        return f"1 to {exact[-1]}" if whole else ", ".join(map(str, exact))
    choice = tomllib.loads((ROOT / f"asm/{family}/family.toml").read_text()).get("choice", {})
    takes = choice.get("takes", "")
    above = number(r"m > (\d+)\b", choice.get("region", ""))
    least = above + 1 if above is not None else number(r"m >= (\d+)$", takes)
    most = number(r"m <= (\d+)$", choice.get("worth", "")) or number(r"sq <= (\d+)\b", takes)
    return f"{least or 1} to {most}" if most else f"{least} and more" if least else "any"


def listed(found: list, words: dict = {}) -> str:
    return ", ".join(str(words.get(value, value)) for value in found)


def weights(op: str, kernels: list[dict], every: list[str]) -> str:
    types = values(kernels, "type")
    if OPERATIONS[op] == "attention":
        types = values(kernels, "kv") or ["same"]
        if "any" in types:  # those by name are faster
            return "K, V: any of f16, bf16, f32, q8_0, q4_0"
        return "K, V: " + listed(types, {"same": "f16" if op in ACTIVATIONS else "as Q"})
    if not types:
        return WEIGHTS.get(op, "W4A16")
    left_out = [name for name in every if name not in types]
    return "GGUF" if not left_out else f"GGUF but {listed(left_out)}" if len(left_out) < len(types) else listed(types)


def details(kernels: list[dict]) -> str:
    """Groups with the zero points that kernels have for all of them; or lengths of heads."""
    if values(kernels, "d"):
        return "head " + listed(values(kernels, "d"))
    zeros = {group: values([k for k in kernels if k["params"].get("group") == group], "zeros") for group in values(kernels, "group")}
    forms: dict[str, list] = {}
    for group, with_group in zeros.items():
        forms.setdefault(listed([name for value, name in ZEROS.items() if value in with_group]), []).append(group)
    return "; ".join(f"{listed(groups, {'k': 'row'})}: {form}" for form, groups in forms.items())


def missing(some: list[dict], every: list[dict]) -> list:
    """Values of parameters that `every` has and `some` lack."""
    return [value for name in CHOSEN for value in values(every, name) if value not in values(some, name)]


def without(generation: str, kernels: list[dict], built: set[str]) -> list[str]:
    """Targets of the generation that have none of these kernels."""
    of, have = generations(), {k["gfx"] for k in kernels}
    return sorted(gfx for gfx in built - have if of[gfx] == generation)


def has(generation: str, kernels: list[dict], built: set[str]) -> str:
    """Whether a generation has these kernels, and what it lacks. built: targets with any kernels."""
    of = generations()
    some = [k for k in kernels if of[k["gfx"]] == generation]
    lacks = listed([*missing(some, kernels), *without(generation, kernels, built)])
    return (f"no {lacks}" if lacks else "yes") if some else ""


def built_targets(manifest: dict) -> set[str]:
    return {kernel["gfx"] for kernel in manifest["kernels"]}


def linked(family: str) -> str:
    return f"[{family}](asm/{family})"


# ---- tables


def place(op: str, kernels: list[dict]) -> tuple:
    """Sort key: by operation, kernels for few rows first."""
    return list(OPERATIONS).index(op), (values(kernels, "m") or values(kernels, "bm") or [0])[0]


def card_lines(build: Path) -> list[str]:
    """The modelled cards of each generation, by target."""
    table = tomllib.loads((ROOT / "gen/targets.toml").read_text())
    of, names = generations(), {}
    for name, part in table["parts"].items():
        gfx = part.get("gfx") or table["parts"][part["like"]]["gfx"]
        names.setdefault(of[gfx], {}).setdefault(gfx, []).append(name)
    return [f"- {cards}: " + "; ".join(f"{gfx} ({', '.join(each)})" for gfx, each in sorted(names[generation].items())) for generation, cards in CARDS.items()]


def table(manifest: dict) -> list[str]:
    families, built = library(manifest), built_targets(manifest)
    ops = {name: manifest["families"][name]["op"] for name in families}
    products = sorted((name for name in families if ops[name] in OPERATIONS), key=lambda name: place(ops[name], families[name]))
    every = values([k for name in products for k in families[name]], "type")
    out = ["| op | kernels | weights | group: zero points | activations | rows | " + " | ".join(CARDS.values()) + " |", "|" + "---|" * (6 + len(CARDS))]
    for name in products:
        op, kernels = ops[name], families[name]
        cells = [OPERATIONS[op], linked(name), weights(op, kernels, every), details(kernels), ACTIVATIONS.get(op) or listed(values(kernels, "dtype")),
                 rows(name, op, kernels), *(has(generation, kernels, built) for generation in CARDS)]  # fmt: skip
        out.append("| " + " | ".join(cells) + " |")
    rest = sorted(set(families) - set(products))
    said = [f"{title}: {where_they_are([name for name in rest if kind_of(name, ops[name]) == title], families, built)}." for title in KINDS]
    return [*out, "", f"GGUF: {listed(every)}. " + " ".join(said)]


def kind_of(family: str, op: str) -> str:
    return KINDS[0] if op == "dense" else KINDS[1] if family.startswith("attn_") else KINDS[2] if family in before_products() else KINDS[3]


@functools.cache
def before_products() -> set[str]:
    """Families that a contract names in its [[before]]; and those that only callers launch before a product."""
    contracts = [tomllib.loads(path.read_text()) for path in (ROOT / "asm").glob("*/*.toml")] + [tomllib.loads(path.read_text()) for path in (ROOT / "asm").glob("ops/*/op.toml")]
    return {row["family"] for contract in contracts for row in contract.get("before", []) if "family" in row} | CALLED_BEFORE


def where_they_are(names: list[str], families: dict[str, list[dict]], built: set[str]) -> str:
    """Linked, by the generations that have them."""
    by_place: dict[str, list[str]] = {}
    for name in names:
        have = {generation: has(generation, families[name], built) for generation in CARDS}
        where = "" if set(have.values()) == {"yes"} else ", ".join(CARDS[g] + (f" ({text})" if text != "yes" else "") for g, text in have.items() if text)
        by_place.setdefault(where, []).append(linked(name))
    return "; ".join(", ".join(links) + (f" ({where})" if where else "") for where, links in by_place.items())


def lines(build: Path) -> list[str]:
    return table(json.loads((build / "hsaco/manifest.json").read_text()))
