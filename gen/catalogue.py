# SPDX-License-Identifier: MIT
"""The kernels that the contracts list (asm/**/family.toml x targets.toml), before any of them is rendered.

All variants are shipped, and the candidates that gen/tuning names."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import contract
import targets
import tuning
from expressions import BYTES, CONDITION, ELEMENTS
from family import ACCESS, NEVER_CHOSEN, VARIANT_KEYS, Family


@dataclass(frozen=True)
class Arg:
    name: str
    offset: int
    size: int
    value_kind: str
    access: str


@dataclass(frozen=True)
class Kernel:
    contract: Family
    gfx: str
    symbol: str
    params: dict[str, str | int]
    purpose: str
    candidate: bool
    variant: str  # the symbol; of a candidate its variant's symbol
    template: str  # below asm

    @property
    def family(self) -> str:
        return self.contract.name

    @property
    def reference(self) -> bool:
        return self.purpose in NEVER_CHOSEN

    @property
    def part(self) -> str:
        """Build unit: a family's kernels that can be chosen, or its references."""
        return f"{self.family}.references" if self.reference else self.family

    @property
    def offsets(self) -> dict[str, int]:
        return {name: offset for name, (offset, _) in self.contract.offsets().items()}

    @property
    def args(self) -> tuple[Arg, ...]:
        """For the code object's metadata."""
        pointers = self.contract.pointers
        return tuple(
            Arg(name, offset, size, "global_buffer", ACCESS[pointers[name].access]) if name in pointers
            else Arg(name, offset, size, "by_value", "")
            for name, (offset, size) in self.contract.offsets().items()
        )  # fmt: skip

    @property
    def kernarg_bytes(self) -> int:
        return self.contract.kernarg_bytes

    @property
    def block(self) -> int:
        return 32 * int(self.params["waves"])

    @property
    def rows_per_workgroup(self) -> int:
        return int(self.params["waves"]) * int(self.params["rows"])


def part_of_name(part: str | list[str], params: dict[str, str | int]) -> str:
    if isinstance(part, list):
        pattern, left_out = part
        text = pattern.format(**params)
        return "" if text == left_out else text
    return part.format(**params) if "{" in part else str(params[part])


def symbol(family: str, name: list[str | list[str]], params: dict[str, str | int]) -> str:
    """Parts: `dtype` inserts a parameter's value, `g{group}` formats it, `["w{waves}", "w8"]` formats it unless the
    result is w8. Empty values are left out."""
    return "_".join([family, *filter(None, (part_of_name(part, params) for part in name))])


def expand(variant: dict[str, object]) -> Iterator[dict[str, str | int]]:
    """The product of a variant's list-valued parameters."""
    axes = [[(key, v) for v in (value if isinstance(value, list) else [value])] for key, value in variant.items()]
    yield from (dict(point) for point in itertools.product(*axes))


def candidates_of(f: Family, params: dict[str, str | int]) -> Iterator[dict[str, str | int]]:
    """Parameters of the candidates of a variant."""
    for candidate in f.candidates:
        of = candidate.get("of", {})
        if all(params[key] in (value if isinstance(value, list) else [value]) for key, value in of.items()):
            for change in expand({key: value for key, value in candidate.items() if key != "of"}):
                yield params | change


def kernels(families: Mapping[str, Family], arches: dict[str, dict]) -> Iterator[Kernel]:
    """Every kernel that can be built: variants, and after each its candidates."""
    seen: set[tuple[str, str]] = set()
    for f in families.values():
        for variant in f.variants:
            chosen = targets.select(arches, variant.get("targets", f.targets))
            purpose = variant.get("purpose", f.purpose)
            template = str(Path(f.template).with_name(variant["template"])) if "template" in variant else f.template
            for params in expand({key: value for key, value in variant.items() if key not in VARIANT_KEYS}):
                chooses = purpose not in NEVER_CHOSEN
                forms = [params, *(p for p in candidates_of(f, params) if chooses)]
                names = [symbol(f.name, f.symbol, form) for form in forms]
                for gfx, (form, own) in itertools.product(chosen, zip(forms, names)):
                    if (gfx, own) in seen:
                        raise ValueError(f"{f.path}: {own} is listed twice for {gfx}: take one row out")
                    seen.add((gfx, own))
                    if form.get("simd_waves") == 0:
                        form = {**form, "simd_waves": arches[gfx]["simd_waves"]}
                    yield Kernel(f, gfx, own, form, purpose, own != names[0], names[0], template)


# Facts of a target that expressions may use (target.wmma_macs, target.dot4), with their units.
TARGET_FACTS = {
    name: CONDITION if kind is bool else BYTES if name.startswith("lds_") else ELEMENTS
    for name, kind in targets.FACTS.items()
    if kind in (bool, int)
}


@functools.cache
def arches_of(root: Path) -> dict[str, dict]:
    """Facts of the targets with kernels."""
    return targets.arches_of(root / "gen/targets.toml")


@functools.cache
def families_of(root: Path) -> dict[str, Family]:
    return contract.load_all(root, TARGET_FACTS)


def catalogue(root: Path, gfx: list[str]) -> list[Kernel]:
    """Every kernel that can be built for these targets, candidates too."""
    arches = arches_of(root)
    if unknown := [g for g in gfx if g not in arches]:
        raise ValueError(f"gfx {unknown} have no facts in targets.toml, which has {sorted(arches)}")
    return [k for k in kernels(families_of(root), arches) if k.gfx in gfx]


def shipped(root: Path, gfx: list[str]) -> tuple[list[Kernel], list[tuning.Tuned]]:
    """Shipped kernels, by target, then by family; and the rows of gen/tuning, each of which names one of them."""
    every = catalogue(root, gfx)
    tuned = tuning.read_all(root / "gen/tuning", every)
    named = {(row.gfx, row.kernel) for row in tuned}
    listed = [k for k in every if not k.candidate or (k.gfx, k.symbol) in named]
    return sorted(listed, key=lambda k: gfx.index(k.gfx)), tuned
