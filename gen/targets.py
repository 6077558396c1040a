# SPDX-License-Identifier: MIT
"""gen/targets.toml: facts of targets and parts, checked, and lists of targets by generation, series or feature.

    targets.py TOML [NAME...]  prints the supported targets, or the targets that select() finds, as a CMake list
"""

from __future__ import annotations

import functools
import sys
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

# Facts by name, with the type of their values. Targets that are only read have READ_FACTS only.
READ_FACTS: dict[str, type] = {"elf_machine": int, "init16": bool}
FACTS: dict[str, type] = READ_FACTS | {
    "user_sgprs": int, "entry_sgprs": int, "wg_x": str, "split_waits": bool, "split_barrier": bool, "packed_ids": bool,
    "own_scratch": bool, "old_names": bool, "delay_alu": bool, "dealloc_vgprs": bool, "stream": str,
    "simds_per_wgp": int, "max_waves": int, "vgprs_per_simd": int, "vgpr_granule": int, "lds_per_wgp": int,
    "lds_per_workgroup": int, "lds_block": int, "simd_waves": int, "row_period": int, "row_pad": int, "vopd": bool, "vopd_banks": int,
    "dot2": bool, "dot4": bool, "dot4_signs": bool, "dot2_subnormal": bool, "dot2acc": bool, "salu_float": bool, "clock_bits": int, "trans_use": bool, "wmma": str,
    "wmma_macs": int, "unpack_rows": int, "scratch_bits": int, "costs": str,
}  # fmt: skip
PLAIN_PART_FACTS: dict[str, type] = {
    "product": str, "apu": bool, "wgps": int, "shader_mhz": int, "memory_mhz": int, "memory_bus_bits": int, "l2_size": int,
}  # fmt: skip
ESTIMATES = (  # each a number, which may be a guess or a fit
    "wmma_mhz", "power_w", "shader_engines", "shader_arrays", "l0_size", "scalar_size", "instruction_size", "gl1_size", "l2_channels", "mall_size", "mall_gb_per_s",
    "mall_latency", "dram_gb_per_s", "dram_efficiency", "dram_latency", "dram_channels", "dram_interleave", "dram_hash",
    "launch_overhead", "launch_gap", "packet_interval", "graph_gap", "graph_launch", "copy_overhead", "link_gb_per_s",
    "link_both_gb_per_s", "copy_gb_per_s",
)  # fmt: skip
PART_FACTS: dict[str, type] = PLAIN_PART_FACTS | dict.fromkeys(ESTIMATES, float)
TABLES = ("generations", "series", "targets", "generics", "every_part", "parts")


@dataclass(frozen=True)
class Estimate:
    value: float
    origin: str  # fact, fit or guess
    low: float  # of the likely range; a fact's is its value
    high: float


@dataclass(frozen=True)
class Target:
    name: str
    generation: str
    series: str
    supported: bool  # kernels are built for it, and it is simulated
    facts: dict[str, int | bool | str]


@dataclass(frozen=True)
class Generic:
    name: str
    generation: str
    series: tuple[str, ...]
    elf_machine: int


@dataclass(frozen=True)
class Part:
    name: str
    gfx: str
    facts: dict[str, int | bool | str | Estimate]


@dataclass(frozen=True)
class Facts:
    targets: dict[str, Target]
    generics: tuple[Generic, ...]
    parts: tuple[Part, ...]

    @property
    def supported(self) -> list[Target]:
        return [t for t in self.targets.values() if t.supported]


class Place:
    """Location of an error in the file."""

    def __init__(self, path: Path, text: str) -> None:
        self.path, self.lines = path, text.splitlines()

    def fail(self, section: str, what: str) -> NoReturn:
        headers = {section, section.replace(".", '."', 1) + '"'}  # a name with a space is quoted
        line = next((n for n, text in enumerate(self.lines, 1) if text.split("]")[0].removeprefix("[") in headers), 1)
        raise ValueError(f"{self.path.name}:{line}: [{section}]: {what}")


def value_of(place: Place, section: str, key: str, kind: type, value: object) -> int | bool | str | Estimate:
    if kind is not float:
        if type(value) is not kind:
            place.fail(section, f"{key} = {value!r}: must be of type {kind.__name__}: write one")
        return value
    if type(value) in (int, float):
        return Estimate(value, "fact", value, value)
    origin = next((name for name in ("fit", "guess") if isinstance(value, dict) and value.keys() == {name, "range"}), None)
    numbers = [value[origin], *value["range"]] if origin and isinstance(value["range"], list) else []
    if len(numbers) != 3 or any(type(number) not in (int, float) for number in numbers):
        forms = "write one, or { guess = 2, range = [1, 3] }, or the same with fit"
        place.fail(section, f"{key} = {value!r}: must be a number, or an estimate and its likely range: {forms}")
    number, low, high = numbers
    if not low <= number <= high:
        place.fail(section, f"{key} = {value!r}: {number} is outside its range: widen the range or correct the value")
    return Estimate(number, origin, low, high)


def known_keys(place: Place, section: str, row: Mapping, known: Iterable[str]) -> None:
    if unknown := sorted(row.keys() - set(known)):
        place.fail(section, f"{unknown[0]}: no fact of that name: remove it, or use one of {', '.join(sorted(known))}")


def named(place: Place, section: str, row: Mapping, key: str, among: Mapping) -> str:
    if key not in row:
        place.fail(section, f"{key} is missing: give one of {', '.join(among)}")
    if row[key] not in among:
        place.fail(section, f"{key} = {row[key]!r}: not in the table: give one of {', '.join(among)}")
    return row[key]


def complete(place: Place, section: str, row: Mapping, kinds: Mapping[str, type]) -> dict:
    if missing := [key for key in kinds if key not in row]:
        place.fail(section, f"{missing[0]} is missing, and no fact has a default: write it here or in the section inherited from")
    if surplus := sorted(row.keys() - kinds.keys()):
        place.fail(section, f"{surplus[0]} = {row[surplus[0]]!r}: a target that is only read has no such fact: remove it")
    return {key: value_of(place, section, key, kind, row[key]) for key, kind in kinds.items()}


def begun(place: Place, table: str, name: str, rows: Mapping[str, dict], seen: tuple[str, ...] = ()) -> dict:
    """A row with the facts that it inherits by `like`."""
    section, row = f"{table}.{name}", rows[name]
    if "like" not in row:
        return row
    if name in seen:
        place.fail(section, f"like = {row['like']!r}: begins with itself: write its facts out")
    other = begun(place, table, named(place, section, row, "like", rows), rows, (*seen, name))
    return other | {key: value for key, value in row.items() if key != "like"}


def target_of(place: Place, name: str, root: dict) -> Target:
    section = f"targets.{name}"
    known_keys(place, section, root["targets"][name], {"like", "series", "supported", *FACTS})
    row = begun(place, "targets", name, root["targets"])
    series = named(place, section, row, "series", root["series"])
    generation = named(place, f"series.{series}", root["series"][series], "generation", root["generations"])
    inherited = root["generations"][generation] | root["series"][series]
    supported = row.get("supported", inherited.get("supported"))
    if type(supported) is not bool:
        place.fail(f"generations.{generation}", f"supported = {supported!r}: must be true or false: write one")
    if not supported:  # it inherits facts that are for supported targets only
        inherited = {key: value for key, value in inherited.items() if key in READ_FACTS}
    facts = {key: value for key, value in (inherited | row).items() if key not in ("series", "generation", "supported")}
    return Target(name, generation, series, supported, complete(place, section, facts, FACTS if supported else READ_FACTS))


def generic_of(place: Place, name: str, root: dict) -> Generic:
    section, row = f"generics.{name}", root["generics"][name]
    known_keys(place, section, row, {"series", "elf_machine"})
    series = [named(place, section, {"series": one}, "series", root["series"]) for one in row.get("series", [])]
    generations = {root["series"][one]["generation"] for one in series}
    if len(generations) != 1:
        place.fail(section, f"series = {series}: must be of one generation: list those")
    return Generic(name, generations.pop(), tuple(series), complete(place, section, {"elf_machine": row.get("elf_machine")}, {"elf_machine": int})["elf_machine"])


def part_of(place: Place, name: str, root: dict) -> Part:
    section, supported = f"parts.{name}", root["targets"]
    known_keys(place, section, root["parts"][name], {"like", "gfx", *PART_FACTS})
    row = root["every_part"] | begun(place, "parts", name, root["parts"])
    gfx = named(place, section, row, "gfx", supported)
    return Part(name, gfx, complete(place, section, {key: value for key, value in row.items() if key != "gfx"}, PART_FACTS))


def check_parts(place: Place, targets: Mapping[str, Target], parts: Iterable[Part]) -> None:
    first: dict[str, Part] = {}
    for part in parts:
        if not targets[part.gfx].supported:
            place.fail(f"parts.{part.name}", f"gfx = {part.gfx!r}: is only read: give a target that is supported")
        largest = first.setdefault(part.gfx, part)
        if part.facts["wgps"] > largest.facts["wgps"]:
            place.fail(f"parts.{part.name}", f"wgps = {part.facts['wgps']}: more than {largest.name}: list the largest part of {part.gfx} first")
    for target in targets.values():
        if target.supported and target.name not in first:
            place.fail(f"targets.{target.name}", "has no part: give it one, [parts.\"...\"] with gfx = " + repr(target.name))


def check_machines(place: Place, rows: Iterable[tuple[str, int]]) -> None:
    seen: dict[int, str] = {}
    for section, machine in rows:
        if (other := seen.setdefault(machine, section)) != section:
            place.fail(section, f"elf_machine = {machine:#05x}: [{other}] has it: look it up in LLVM's AMDGPUUsage")


@functools.cache
def read(path: Path) -> Facts:
    text = path.read_text()
    place = Place(path, text)
    try:
        root = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path.name}: {error}: correct it there") from error
    if root.keys() != set(TABLES):
        raise ValueError(f"{path.name}: [{sorted(root.keys() ^ set(TABLES))[0]}]: the tables are {', '.join(TABLES)}: correct it there")
    for table, extra in (("generations", "supported"), ("series", "generation")):
        for name, row in root[table].items():
            known_keys(place, f"{table}.{name}", row, {extra, *FACTS})
    known_keys(place, "every_part", root["every_part"], PART_FACTS)
    targets = {name: target_of(place, name, root) for name in root["targets"]}
    parts = tuple(part_of(place, name, root) for name in root["parts"])
    check_parts(place, targets, parts)
    generics = tuple(generic_of(place, name, root) for name in root["generics"])
    check_machines(place, [*((f"targets.{t.name}", t.facts["elf_machine"]) for t in targets.values()), *((f"generics.{g.name}", g.elf_machine) for g in generics)])
    return Facts(targets, generics, parts)


def arches_of(path: Path) -> dict[str, dict]:
    """The facts of every supported target, as templates see them."""
    return {t.name: t.facts | {"generation": t.generation, "series": t.series} for t in read(path).supported}


def twins(arches: Mapping[str, dict]) -> list[list[str]]:
    """Groups of targets whose facts differ only in the ELF machine: their texts differ only in the name."""
    groups: dict[tuple, list[str]] = {}
    for gfx, facts in arches.items():
        groups.setdefault(tuple(sorted((key, value) for key, value in facts.items() if key != "elf_machine")), []).append(gfx)
    return list(groups.values())


def select(arches: Mapping[str, dict], names: Iterable[str]) -> list[str]:
    """Targets in the order of the table. A name is that of a target, a series, a generation or a feature: a fact that
    is true or, as `wmma`, not empty. "all" selects every target. Raises ValueError for other names."""
    flags = {key for key, kind in FACTS.items() if kind is bool} | {"wmma"}
    chosen: set[str] = set()
    for name in names:
        found = {
            gfx for gfx, facts in arches.items()
            if name in ("all", gfx, facts["series"], facts["generation"]) or (name in flags and facts[name])
        }  # fmt: skip
        if not found:
            groups = sorted({facts[key] for facts in arches.values() for key in ("series", "generation")})
            raise ValueError(
                f"target {name!r}: is no target, series, generation or feature: use one of {', '.join([*arches, *groups, *sorted(flags)])}"
            )
        chosen |= found
    return [gfx for gfx in arches if gfx in chosen]


def main() -> int:
    try:
        print(";".join(select(arches_of(Path(sys.argv[1])), sys.argv[2:] or ["all"])))
    except ValueError as error:
        print(f"targets: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
