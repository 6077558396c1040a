# SPDX-License-Identifier: MIT
"""asm/**/family.toml x targets.toml -> asm/<gfx>/<symbol>.s and what is made from contracts (*.inc, hsaco/manifest.json)
of the build directory; and tuning/<gfx>.toml -> tuning.inc.

With --candidates: the default kernels and all candidates for them, to choose from (`nw tune`)."""

from __future__ import annotations

import argparse
import functools
import itertools
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import contract
import dual
import emit_cases
import emit_cpp
import emit_header
import emit_manifest
import jinja2
import listing
import targets
import tuning
from expressions import BYTES, ELEMENTS
from family import ACCESS, NEVER_CHOSEN, VARIANT_KEYS, Family
from occupancy import waves_per_simd
from regs import Regs


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
    variant: str  # the symbol, or that of the variant that a candidate is for

    @property
    def family(self) -> str:
        return self.contract.name

    @property
    def template(self) -> str:
        return self.contract.template

    @property
    def reference(self) -> bool:
        return self.purpose in NEVER_CHOSEN

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


@dataclass(frozen=True)
class Rendered:
    kernel: Kernel
    text: str
    vgprs: int
    sgprs: int
    lds_bytes: int
    waves_per_simd: int


def part_of_name(part: str | list[str], params: dict[str, str | int]) -> str:
    if isinstance(part, list):
        pattern, left_out = part
        text = pattern.format(**params)
        return "" if text == left_out else text
    return part.format(**params) if "{" in part else str(params[part])


def symbol(family: str, name: list[str | list[str]], params: dict[str, str | int]) -> str:
    """`dtype` names a parameter's value, `g{group}` formats it, `["w{waves}", "w8"]` too, but for one value; an
    empty value has no place in the name."""
    return "_".join([family, *filter(None, (part_of_name(part, params) for part in name))])


def expand(variant: dict[str, object]) -> Iterator[dict[str, str | int]]:
    """The product of a variant's list-valued parameters."""
    axes = [[(key, v) for v in (value if isinstance(value, list) else [value])] for key, value in variant.items()]
    yield from (dict(point) for point in itertools.product(*axes))


def candidates_of(f: Family, params: dict[str, str | int]) -> Iterator[dict[str, str | int]]:
    """What else a variant could be."""
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
            for params in expand({key: value for key, value in variant.items() if key not in VARIANT_KEYS}):
                chooses = purpose not in NEVER_CHOSEN
                forms = [(params, False), *((p, True) for p in candidates_of(f, params) if chooses)]
                name = symbol(f.name, f.symbol, params)
                for gfx, (form, candidate) in itertools.product(chosen, forms):
                    own = symbol(f.name, f.symbol, form)
                    if (gfx, own) in seen:
                        raise ValueError(f"{f.path}: {own} is listed twice for {gfx}: take one row out")
                    seen.add((gfx, own))
                    if form.get("simd_waves") == 0:
                        form = {**form, "simd_waves": arches[gfx]["simd_waves"]}
                    yield Kernel(f, gfx, own, form, purpose, candidate, name)


def render(env: jinja2.Environment, k: Kernel, arch: dict) -> Rendered:
    r = Regs(arch["entry_sgprs"])
    template = f"ablation/{k.template}" if k.purpose == "ablation" else k.template
    try:
        body = env.get_template(template).render(k=k, p=k.params, A=k.offsets, arch=arch, R=r)
    except (ValueError, KeyError, jinja2.TemplateError) as error:
        raise ValueError(f"{template} for {k.gfx} {k.symbol}: {error}") from error
    vgprs, sgprs, lds_bytes = r.used("v"), r.used("s"), r.used("lds")
    done = Rendered(k, "", vgprs, sgprs, lds_bytes, waves_per_simd(arch, vgprs, lds_bytes, k.block // 32))
    return replace(done, text=listing.tidy(emit_header.header(done, arch) + body))


def number_of(f: Family, parameter: str, value: str | int, words: list[str]) -> int:
    """As the registry has it: a number, that of a named value, or that of a word."""
    value = f.named.get(parameter, {}).get(value, value)
    return words.index(value) if isinstance(value, str) else value


def registry(done: list[Rendered], families: Mapping[str, Family]) -> str:
    """Rows of plain numbers: a kernel's parameters are a place among those of all, which many share."""
    places = {f.name: at for at, f in enumerate(emit_cpp.in_order(families))}
    words = emit_cpp.words_of(families.values())
    sets: dict[tuple[int, ...], int] = {}
    targets_seen = list(dict.fromkeys(r.kernel.gfx for r in done))
    rows, end = [], 0
    for r in done:
        k, f = r.kernel, r.kernel.contract
        parameters = tuple(number_of(f, name, k.params[name], words) for name in f.parameters)
        if parameters not in sets:
            sets[parameters], end = end, end + len(parameters)
        rows.append(
            f'ROW("{k.symbol}", {targets_seen.index(k.gfx)}, {places[k.family]}, {sets[parameters]}, {k.block}, {k.rows_per_workgroup}, '
            f"{r.lds_bytes}, {r.vgprs}, {r.sgprs}, {r.waves_per_simd}, {int(k.reference)}, {int(k.candidate)})\n"
        )
    numbers = "".join(f"NUMBERS({', '.join(map(str, one))})\n" for one in sets)
    return "".join(f'TARGET("{gfx}")\n' for gfx in targets_seen) + numbers + "".join(rows)


def write_if_changed(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


@functools.cache  # compiled templates are kept: a process renders many groups
def environment(root: Path) -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(root / "asm"), undefined=jinja2.StrictUndefined,
        trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True,
    )


def render_group(root: Path, build: Path, group: list[Kernel]) -> list[Rendered]:
    """Kernels of like variants: targets, candidates and families share most of the pairing work (gen/dual.py caches
    it, and keeps it in the build directory)."""
    dual.keep(build / "schedules")
    arches, env = targets.arches_of(root / "gen/targets.toml"), environment(root)
    return [render(env, k, arches[k.gfx]) for k in group]


def on_all_cores(work: Callable, items: Iterable) -> list:
    """map() over processes; over this one where the machine gives no shared memory for a pool."""
    try:
        pool = ProcessPoolExecutor()
    except OSError:
        return list(map(work, items))
    with pool:
        return list(pool.map(work, items))


def write_kernels(root: Path, build: Path, done: list[Rendered]) -> None:
    for r in done:
        write_if_changed(build / "asm" / r.kernel.gfx / f"{r.kernel.symbol}.s", r.text)
    wanted = {(r.kernel.gfx, r.kernel.symbol) for r in done}
    for file in build.glob("asm/*/*.s"):
        if (file.parent.name, file.stem) not in wanted:
            file.unlink()
    arches = targets.arches_of(root / "gen/targets.toml")
    write_if_changed(build / "hsaco/manifest.json", emit_manifest.manifest(done, arches))
    # What is installed: no micro-benchmarks, baselines and ablations.
    library = [r for r in done if r.kernel.purpose == "library"]
    write_if_changed(build / "library/manifest.json", emit_manifest.manifest(library, arches))
    write_if_changed(build / "library/files.txt", "".join(f"{r.kernel.gfx}/{r.kernel.symbol}.hsaco\n" for r in library))


# What of a target an expression may use (target.wmma_macs), and its unit.
TARGET_FACTS = {
    name: BYTES if name.startswith("lds_") else ELEMENTS for name, kind in targets.FACTS.items() if kind is int
}


@functools.cache
def families_of(root: Path) -> dict[str, Family]:
    return contract.load_all(root, TARGET_FACTS)


def catalogue(root: Path, gfx: list[str]) -> list[Kernel]:
    arches = targets.arches_of(root / "gen/targets.toml")
    if unknown := [g for g in gfx if g not in arches]:
        raise ValueError(f"gfx {unknown} have no facts in targets.toml, which has {sorted(arches)}")
    return [k for k in kernels(families_of(root), arches) if k.gfx in gfx]


def render_list(root: Path, build: Path, listed: list[Kernel]) -> list[Rendered]:
    groups: dict[tuple, list[Kernel]] = {}
    for k in listed:
        alike = ("dtype", "group", "zeros", "m", "dequant")
        groups.setdefault(tuple(k.params.get(key, k.variant) for key in alike), []).append(k)
    return list(itertools.chain.from_iterable(on_all_cores(functools.partial(render_group, root, build), groups.values())))


def write_contracts(root: Path, build: Path) -> None:
    families, ops = families_of(root), contract.load_ops(root)
    for name, text in emit_cpp.emit(families, ops, TARGET_FACTS).items():
        write_if_changed(build / name, text)
    write_if_changed(build / "contract_cases.inc", emit_cases.emit(families, ops, TARGET_FACTS))
    write_if_changed(build / "contract_edges.inc", emit_cases.emit_edges(families, TARGET_FACTS))


def render_all(root: Path, build: Path, gfx: list[str]) -> list[Rendered]:
    every = catalogue(root, gfx)
    tuned = tuning.read_all(root / "gen/tuning", every)
    named = {(row.gfx, row.kernel) for row in tuned}
    done = render_list(root, build, [k for k in every if not k.candidate or (k.gfx, k.symbol) in named])
    write_kernels(root, build, done)
    write_if_changed(build / "kernels.inc", registry(done, families_of(root)))
    write_if_changed(build / "tuning.inc", "".join(map(tuning.registry_row, tuned)))
    return done


def without_twins(done: list[Rendered]) -> list[Rendered]:
    """Without the candidates that are, but for their name, a kernel before them."""
    seen: set[tuple[str, str]] = set()
    out = []
    for r in done:
        code = r.text.split(emit_header.RULER)[-1]  # headers say what kernels differ in
        body = (r.kernel.gfx, code.replace(r.kernel.symbol, ""))
        if body not in seen:
            out.append(r)
        seen.add(body)
    return out


def render_candidates(root: Path, build: Path, gfx: list[str], only: str) -> list[Rendered]:
    every = catalogue(root, gfx)
    families = {k.family for k in every if k.candidate}
    chosen = [k for k in every if k.family in families and not k.reference and re.search(only, k.symbol)]
    if not chosen:
        raise ValueError(f"--only {only}: no kernel of {sorted(families)} has a name that it matches")
    done = without_twins(render_list(root, build, chosen))
    write_kernels(root, build, done)
    return done


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=Path, help="the source tree (holds asm/ and gen/)")
    parser.add_argument("build", type=Path, help="where asm/, hsaco/ and kernels.inc go")
    parser.add_argument("--gfx", default="", help="comma list of targets")
    parser.add_argument("--contracts", action="store_true", help="the contracts' C++ alone, of no target")
    parser.add_argument("--candidates", action="store_true", help="what `nw tune` chooses from, not what is shipped")
    parser.add_argument("--only", default="", help="of the candidates those whose symbol has a match of this expression")
    options = parser.parse_args()
    try:
        if options.contracts:
            write_contracts(options.root, options.build)
        elif options.candidates:
            render_candidates(options.root, options.build, options.gfx.split(","), options.only)
        else:
            render_all(options.root, options.build, options.gfx.split(","))
    except ValueError as error:
        print(f"render: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
