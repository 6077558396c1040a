# SPDX-License-Identifier: MIT
"""The kernels of the library, by operation: README.md's matrix, from build/hsaco/manifest.json and the contracts."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HEAD = ["| operation | weights | activations | group | zero points | rows | kernels |", "|---|---|---|---|---|---|---|"]
OPERATIONS = {"linear_w4a16": "linear", "linear_gguf": "linear", "moe_w4a16": "experts", "moe_gguf": "experts"}
ZEROS = {"": "none", "zp": "packed", "zt": "typed", "carrier": "carrier"}
GROUPS = {"k": "row"}
OWN = "of the type"  # GGUF blocks bring their scales and minima


def library(manifest: dict) -> dict[str, list[dict]]:
    """Kernels of each family that is installed, without candidates of the tuner."""
    out: dict[str, list[dict]] = {}
    for kernel in manifest["kernels"]:
        if kernel["purpose"] == "library" and not kernel["candidate"]:
            out.setdefault(kernel["family"], []).append(kernel)
    return out


def values(kernels: list[dict], parameter: str) -> list:
    found = {kernel["params"][parameter] for kernel in kernels if parameter in kernel["params"]}
    return sorted(found, key=lambda value: (isinstance(value, str), value))


def number(pattern: str, text: str) -> int | None:
    found = re.match(pattern, text)
    return int(found[1]) if found else None


def rows(family: str, op: str, kernels: list[dict]) -> str:
    """Of activations: those that kernels are made for, or for which the contract says that the family is worth it."""
    exact = values(kernels, "m")
    if OPERATIONS[op] == "experts":
        sizes = exact or values(kernels, "bm")
        return "slot by slot" if sizes == [1] else "blocks of " + ", ".join(map(str, sizes))
    if exact:
        whole = exact == list(range(1, exact[-1] + 1))
        return f"1 to {exact[-1]}" if whole else ", ".join(map(str, exact))
    choice = tomllib.loads((ROOT / f"asm/{family}/family.toml").read_text())["choice"]
    above = number(r"m > (\d+)\b", choice.get("region", ""))
    least = above + 1 if above is not None else number(r"m >= (\d+)$", choice.get("takes", ""))
    most = number(r"m <= (\d+)$", choice.get("worth", ""))
    return f"{least or 1} to {most}" if most else f"{least} and more" if least else "any"


def cells(family: str, op: str, kernels: list[dict]) -> tuple[str, ...]:
    """What a family takes, then its rows and its name."""
    gguf = op.endswith("gguf")
    return (
        OPERATIONS[op],
        ", ".join(values(kernels, "type")) if gguf else "W4A16",
        "f32" if gguf else ", ".join(values(kernels, "dtype")),
        OWN if gguf else ", ".join(GROUPS.get(group, str(group)) for group in values(kernels, "group")),
        OWN if gguf else ", ".join(text for value, text in ZEROS.items() if value in values(kernels, "zeros")),
        rows(family, op, kernels),
        f"[{family}](asm/{family})",
    )


def merged(table: list[tuple[str, ...]]) -> list[str]:
    """Families that take the same share a line."""
    lines: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    for row in table:
        lines.setdefault(row[:5], []).append(row[5:])
    return ["| " + " | ".join([*same, "; ".join(r for r, _ in each), ", ".join(k for _, k in each)]) + " |" for same, each in lines.items()]


def targets() -> list[str]:
    command = [sys.executable, ROOT / "gen/targets.py", ROOT / "gen/targets.toml"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip().split(";")


def of_targets(families: dict[str, list[dict]]) -> str:
    """Targets that every family has, and families that have more; with the dtype, where others don't have them."""
    have = {name: {kernel["gfx"] for kernel in kernels} for name, kernels in families.items()}
    everywhere = set.intersection(*have.values())
    more: dict[tuple[str, ...], list[str]] = {}
    for name, kernels in families.items():
        own = tuple(gfx for gfx in targets() if gfx in have[name] - everywhere)
        dtypes = values([k for k in kernels if k["gfx"] in own], "dtype")
        limit = f" ({', '.join(dtypes)})" if dtypes != values(kernels, "dtype") else ""
        if own:
            more.setdefault(own, []).append(name + limit)
    said = ["All for " + ", ".join(gfx for gfx in targets() if gfx in everywhere) + "."]
    return " ".join(said + [f"Of RDNA1 and RDNA2 {', '.join(own)} have {', '.join(names)}." for own, names in more.items()])


def alike(kernels: list[dict]) -> list[list[dict]]:
    """Such that each of a list's groups exists with each of its zero points."""
    zeros = {group: values([k for k in kernels if k["params"].get("group") == group], "zeros") for group in values(kernels, "group")}
    forms: dict[str, list] = {}
    for group, forms_of_it in zeros.items():
        forms.setdefault(str(forms_of_it), []).append(group)
    return [[k for k in kernels if k["params"]["group"] in groups] for groups in forms.values()] or [kernels]


def limited(family: str) -> list[tuple[str, str, list[str]]]:
    """Parameters, with their values, that not every target of the family has, and those that do."""
    variants = tomllib.loads((ROOT / f"asm/{family}/family.toml").read_text()).get("variants", [])
    have: dict[tuple[str, str], list[list[str] | None]] = {}
    for variant in variants:
        for name, value in variant.items():
            if variant.get("purpose", "library") == "library" and isinstance(value, str):
                have.setdefault((name, value), []).append(variant.get("targets"))
    return [(name, value, sorted({t for targets in each for t in targets})) for (name, value), each in have.items() if None not in each]


def other(family: str) -> str:
    limits = "; ".join(f"{name} {value}: {', '.join(targets)}" for name, value, targets in limited(family))
    return f"[{family}](asm/{family})" + (f" ({limits})" if limits else "")


def table(manifest: dict) -> list[str]:
    families = library(manifest)
    ops = {name: manifest["families"][name]["op"] for name in families}
    known = sorted((name for name in families if ops[name] in OPERATIONS), key=lambda name: list(OPERATIONS).index(ops[name]))
    others = sorted(set(families) - set(known))
    return [
        *HEAD,
        *merged([cells(name, ops[name], kernels) for name in known for kernels in alike(families[name])]),
        "",
        of_targets(families) + " Also on the device: " + ", ".join(map(other, others)) + ".",
    ]


def lines(build: Path) -> list[str]:
    return table(json.loads((build / "hsaco/manifest.json").read_text()))
