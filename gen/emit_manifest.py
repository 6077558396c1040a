# SPDX-License-Identifier: MIT
"""hsaco/manifest.json: families with their contracts, and every kernel file that is built. tests/api/hsaco_by_manifest.py reads it.

Expressions are Python's, over names whose values a launcher has: an op's sizes, its pointers as integers, strides in
bytes, p.<parameter>, kernel.<fact>, part.<fact>, target.<fact>, and `functions`. They are family.toml's, with element
sizes and extents substituted. Rules are in order: a rule may rely on earlier ones. A rule's text is an f-string.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from catalogue import Kernel, arches_of, shipped
from emit_header import Rendered
from expressions import PYTHON
from family import ACCESS, ELEMENT_BYTES, NEVER_CHOSEN, Family, Rule
from files import write_if_changed
from fold import Known, inserted, known_of, substituted

VERSION = 2


def _argument(f: Family, known: Known, name: str, offset: int, size: int) -> dict:
    row: dict[str, object] = {"name": name, "offset": offset, "size": size}
    if p := f.pointers.get(name):
        row |= {"kind": "global_buffer", "access": ACCESS[p.access], "element": p.element, "shape": [substituted(d, known) for d in p.shape],
                "strides": list(p.strides), "bytes": substituted(f"extent({name})", known), "align": p.align if isinstance(p.align, int) else substituted(p.align, known), "optional": p.optional}  # fmt: skip
        if p.other:
            row |= {"or": {"when": substituted(p.other[0], known), "element": p.other[1]}}
        return row | ({"when": substituted(p.when, known)} if p.when else {})
    v = f.values[name]
    row["kind"] = "by_value"
    return row | {key: substituted(text, known) for key, text in (("value", v.value), ("default", v.default)) if text}


def _rule(rule: Rule, known: Known) -> dict:
    when = {"when": substituted(rule.when, known)} if rule.when else {}
    return when | {"expr": substituted(rule.needs, known), "text": inserted(rule.says, lambda text: substituted(text, known))}


def family_row(f: Family) -> dict:
    known = known_of(f)

    def each(table: Mapping[str, str | int]) -> dict[str, str]:
        return {name: substituted(text, known) for name, text in table.items()}

    return {
        "about": " ".join(filter(None, f.title)), "purpose": f.purpose, "op": f.op,
        "sizes": {name: {key: row[key] for key in ("min", "max", "multiple", "one_of") if key in row} for name, row in f.sizes.items()},
        "match": {pair.partition("=")[0]: pair.partition("=")[2] or pair for pair in f.match}, "named": f.named, "kernarg_bytes": f.kernarg_bytes,
        "arguments": [_argument(f, known, name, *place) for name, place in f.offsets().items()],
        "let": each(f.let), "rules": [_rule(rule, known) for rule in f.rules],
        "grid": [substituted(f.grid["x"], known), "1", "1"] if "x" in f.grid else [], "dynamic_lds_bytes": substituted(f.lds, known),
        "before": [{"family": b.family, **({"when": substituted(b.when, known)} if b.when else {}), "sets": each(b.sets), "gives": dict(b.gives)} for b in f.before],
        "workspace": {name: {"bytes": substituted(f"extent({name})" if text == "counters" else text, known), "zero": text == "counters"}
                      for name, text in f.workspace.items()},
        "promises": f.promises,
    }  # fmt: skip


def kernel_row(r: Rendered) -> dict:
    k, f = r.kernel, r.kernel.contract
    return {
        "symbol": k.symbol, "gfx": k.gfx, "family": f.name, "file": f"{k.gfx}/{k.symbol}.hsaco", "purpose": k.purpose,
        "reference": k.purpose in NEVER_CHOSEN, "candidate": k.candidate, "params": dict(k.params), "kernarg_bytes": f.kernarg_bytes,
        "block": [k.block, 1, 1], "rows_per_workgroup": k.rows_per_workgroup, "lds_bytes": r.lds_bytes, "vgprs": r.vgprs,
        "sgprs": r.sgprs, "wave_size": 32, "waves_per_simd": r.waves_per_simd,
    }  # fmt: skip


def manifest(done: Sequence[Rendered], arches: Mapping[str, Mapping]) -> str:
    """The manifest of these kernels with their families and targets. arches: facts of targets."""
    families = {r.kernel.contract.name: r.kernel.contract for r in done}
    targets = dict.fromkeys(r.kernel.gfx for r in done)
    table = {
        "version": VERSION, "functions": PYTHON, "elements": ELEMENT_BYTES,
        "targets": {gfx: {fact: value for fact, value in arches[gfx].items() if isinstance(value, int)} for gfx in targets},
        "families": {name: family_row(f) for name, f in families.items()}, "kernels": [kernel_row(r) for r in done],
    }  # fmt: skip
    return json.dumps(table, indent=1) + "\n"


@dataclass(frozen=True)
class Built:
    """A kernel and its line of build/hsaco/<gfx>/<part>.resources (gen/render.py)."""

    kernel: Kernel
    vgprs: int
    sgprs: int
    lds_bytes: int
    waves_per_simd: int


def built(build: Path, listed: Sequence[Kernel]) -> list[Built]:
    """The listed kernels whose code objects are built."""
    numbers: dict[tuple[str, str], tuple[int, ...]] = {}
    for gfx, part in dict.fromkeys((k.gfx, k.part) for k in listed):
        file = build / "hsaco" / gfx / f"{part}.resources"
        for line in file.read_text().splitlines() if file.exists() else []:
            symbol, *words = line.split()
            numbers[gfx, symbol] = tuple(map(int, words))
    return [Built(k, *numbers[k.gfx, k.symbol]) for k in listed if (k.gfx, k.symbol) in numbers]


def main() -> int:
    parser = argparse.ArgumentParser(description="hsaco/manifest.json, and library/: the installed files of these targets.")
    parser.add_argument("root", type=Path, help="the source tree (holds asm/ and gen/)")
    parser.add_argument("build", type=Path, help="holds hsaco/")
    parser.add_argument("--gfx", required=True, help="comma list of targets")
    o = parser.parse_args()
    arches, listed = arches_of(o.root), shipped(o.root, o.gfx.split(","))[0]
    write_if_changed(o.build / "hsaco/manifest.json", manifest(built(o.build, listed), arches))
    # No micro-benchmarks, baselines and ablations.
    library = [k for k in listed if k.purpose == "library"]
    write_if_changed(o.build / "library/manifest.json", manifest(built(o.build, library), arches))
    resources = dict.fromkeys(f"{k.gfx}/{k.part}.resources" for k in library)
    files = [*(f"{k.gfx}/{k.symbol}.hsaco" for k in library), *resources]
    write_if_changed(o.build / "library/files.txt", "".join(f"{file}\n" for file in files))
    return 0


if __name__ == "__main__":
    sys.exit(main())
