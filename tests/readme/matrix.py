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
OPERATIONS = {
    "linear_w4a16": "linear",
    "linear_w4a8": "linear",
    "linear_gguf": "linear",
    "linear_gguf_fp8": "linear",
    "moe_w4a16": "experts",
    "moe_gguf": "experts",
    "moe_gguf_fp8": "experts",
}
ACTIVATIONS = {
    "linear_w4a8": "int8", "linear_gguf": "f32", "linear_gguf_fp8": "fp8", "moe_gguf": "f32", "moe_gguf_fp8": "fp8",
}  # fmt: skip  others: the kernels' dtypes
ZEROS = {"": "none", "zp": "packed", "zt": "typed", "carrier": "carrier"}
GROUPS = {"k": "row"}
ASKED = ("mode", "dtype", "type", "group", "zeros", "d", "kv")  # parameters that a caller gives
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


def cells(family: str, op: str, kernels: list[dict], among: list[str]) -> tuple[str, ...]:
    """What a family takes, then its rows and its name."""
    gguf = "gguf" in op
    return (
        OPERATIONS[op],
        ", ".join(values(kernels, "type")) if gguf else "W4A16",
        ACTIVATIONS.get(op) or ", ".join(values(kernels, "dtype")),
        OWN if gguf else ", ".join(GROUPS.get(group, str(group)) for group in values(kernels, "group")),
        OWN if gguf else ", ".join(text for value, text in ZEROS.items() if value in values(kernels, "zeros")),
        rows(family, op, kernels),
        linked(family, some_only(kernels, among)),
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


def limits(some: list[dict], all_of_them: list[dict]) -> str:
    """What callers may ask of `all_of_them` and not of `some`, as the values that these have."""
    said = [(name, values(some, name)) for name in ASKED if values(some, name) != values(all_of_them, name)]
    return "; ".join(", ".join(map(str, have)) if name == "dtype" else f"{name} {', '.join(map(str, have))}" for name, have in said)


def linked(family: str, text: str) -> str:
    return f"[{family}](asm/{family})" + (f" ({text})" if text else "")


def everywhere(families: dict[str, list[dict]]) -> list[str]:
    """Targets with nearly all families: the table is theirs. It names generations where only some of them have a family."""
    have = {gfx: sum(any(k["gfx"] == gfx for k in kernels) for kernels in families.values()) for gfx in targets()}
    return [gfx for gfx, count in have.items() if count >= 0.9 * max(have.values())]


def on(gfxs: list[str], families: dict[str, list[dict]]) -> dict[str, list[dict]]:
    own = {name: [k for k in kernels if k["gfx"] in gfxs] for name, kernels in families.items()}
    return {name: kernels for name, kernels in own.items() if kernels}


def elsewhere(families: dict[str, list[dict]]) -> list[str]:
    """Of the other targets, groups with the same; what a group has beside all of one before."""
    common = everywhere(families)
    known, groups = on(common, families), {}
    for gfx in targets():
        if gfx not in common:
            own = on([gfx], families)
            texts = {name: limits(kernels, families[name]) for name, kernels in own.items()}
            said = tuple(name + (f" ({text})" if text else "") if name in known else linked(name, text) for name, text in texts.items())
            groups.setdefault(said, []).append(gfx)
    out: list[str] = []
    for at, (said, gfxs) in enumerate(groups.items()):
        before = next((other for other in list(groups)[:at] if set(other) < set(said)), ())
        more = ", ".join(part for part in said if part not in before)
        out.append(f"{', '.join(gfxs)}: as {groups[before][0]}, and {more}." if before else f"For {', '.join(gfxs)}. On the device: {more}.")
    return out


def alike(kernels: list[dict]) -> list[list[dict]]:
    """Such that each of a list's groups exists with each of its zero points."""
    zeros = {group: values([k for k in kernels if k["params"].get("group") == group], "zeros") for group in values(kernels, "group")}
    forms: dict[str, list] = {}
    for group, forms_of_it in zeros.items():
        forms.setdefault(str(forms_of_it), []).append(group)
    return [[k for k in kernels if k["params"]["group"] in groups] for groups in forms.values()] or [kernels]


def generations() -> dict[str, str]:
    """Of each target."""
    root = tomllib.loads((ROOT / "gen/targets.toml").read_text())
    own = {name: root["targets"][row.get("like", name)] for name, row in root["targets"].items()}
    return {name: root["series"][row["series"]]["generation"] for name, row in own.items()}


def some_only(kernels: list[dict], among: list[str]) -> str:
    """The generations that have these kernels, unless all of `among` have."""
    have, of = {k["gfx"] for k in kernels} & set(among), generations()
    return "" if have == set(among) else ", ".join(sorted({of[gfx] for gfx in have}))


def other(family: str, kernels: list[dict], among: list[str]) -> str:
    """With what only some generations have."""
    whole = some_only(kernels, among)
    found = []
    for name in ASKED:
        for value in values(kernels, name):
            have = some_only([k for k in kernels if k["params"].get(name) == value], among)
            if have != whole:
                found.append(f"{name} {value}: {have}")
    return linked(family, "; ".join([whole] * bool(whole) + found))


def table(manifest: dict) -> list[str]:
    every = library(manifest)
    common = everywhere(every)
    families = on(common, every)
    ops = {name: manifest["families"][name]["op"] for name in families}
    known = sorted((name for name in families if ops[name] in OPERATIONS), key=lambda name: list(OPERATIONS).index(ops[name]))
    others = sorted(set(families) - set(known))
    return [
        *HEAD,
        *merged([cells(name, ops[name], kernels, common) for name in known for kernels in alike(families[name])]),
        "",
        "For " + ", ".join(common) + ". Also on the device: " + ", ".join(other(name, families[name], common) for name in others) + ".",
        "",
        *"\n\n".join(elsewhere(every)).split("\n"),
    ]


def lines(build: Path) -> list[str]:
    return table(json.loads((build / "hsaco/manifest.json").read_text()))
