# SPDX-License-Identifier: MIT
"""kernels.toml x arch.toml -> asm/<gfx>/<symbol>.s, kernels.inc, hsaco/manifest.json of the build directory; and
tuning/<gfx>.toml -> tuning.inc.

With --candidates: the default kernels and all candidates for them, to choose from (`nw tune`)."""

from __future__ import annotations

import argparse
import functools
import itertools
import json
import re
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import dual
import jinja2
import listing
import tuning
from regs import Regs

KINDS = {"ptr": (8, "global_buffer"), "f32": (4, "by_value"), "i32": (4, "by_value"), "u32": (4, "by_value")}
ACCESS = {"ptr": {"read_only", "write_only", "read_write"}}
ROW_KEYS = {"template", "gfx", "name", "args", "variants", "constraints"}
OPTIONAL_KEYS = {"candidates"}
ARCH_KEYS = {
    "user_sgprs", "entry_sgprs", "wg_x", "split_waits", "split_barrier", "stream", "vgprs_per_simd", "vgpr_granule",
    "lds_per_wgp", "lds_per_workgroup", "simd_waves", "vopd", "dot2_subnormal", "dot2acc", "wmma", "clock_bits", "trans_use",
}
MAX_WAVES = 16  # per SIMD, four SIMDs to a WGP (note T-002)


@dataclass(frozen=True)
class Arg:
    name: str
    offset: int
    size: int
    value_kind: str
    access: str


@dataclass(frozen=True)
class Kernel:
    family: str
    gfx: str
    template: str
    symbol: str
    args: tuple[Arg, ...]
    params: dict[str, str | int]
    constraints: dict[str, str]
    reference: bool
    candidate: bool
    variant: str  # the symbol, or that of the variant that a candidate is for

    @property
    def offsets(self) -> dict[str, int]:
        return {a.name: a.offset for a in self.args}

    @property
    def kernarg_bytes(self) -> int:
        return self.args[-1].offset + self.args[-1].size

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


def layout(family: str, listed: list[list[str]]) -> tuple[Arg, ...]:
    """Kernarg offsets: arguments in order, each naturally aligned."""
    at, out = 0, []
    for name, kind, access in listed:
        if kind not in KINDS:
            raise ValueError(f"[{family}] arg {name}: kind {kind!r} is none of {sorted(KINDS)}")
        if access not in ACCESS.get(kind, {""}):
            raise ValueError(f"[{family}] arg {name}: access {access!r} is none of {sorted(ACCESS.get(kind, {''}))}")
        size, value_kind = KINDS[kind]
        at = -(-at // size) * size
        out.append(Arg(name, at, size, value_kind, access))
        at += size
    return tuple(out)


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


def check_row(family: str, row: dict, arches: dict[str, dict]) -> None:
    if row.keys() - OPTIONAL_KEYS != ROW_KEYS:
        raise ValueError(f"[{family}]: keys differ from the format: {sorted((row.keys() - OPTIONAL_KEYS) ^ ROW_KEYS)}")
    known = {name for name, _, _ in row["args"]} | {"align", "grid"}
    if (unknown := set(row["constraints"]) - known) or "grid" not in row["constraints"]:
        raise ValueError(f"[{family}.constraints]: grid is required, arguments and align may be named, not {sorted(unknown)}")
    named = set(row["gfx"]).union(*(variant.get("gfx", []) for variant in row["variants"]))
    if unknown := sorted(named - arches.keys()):
        raise ValueError(f"[{family}]: gfx {unknown} have no facts in arch.toml, which has {sorted(arches)}")
    keys = {frozenset(variant) - {"gfx"} for variant in row["variants"]}
    if len(keys) != 1 or not {"reference", "waves", "rows"} <= next(iter(keys)):
        raise ValueError(f"[{family}]: every variant has the same keys, reference, waves and rows among them")
    for candidate in row.get("candidates", []):
        named = (candidate.keys() - {"of"}) | candidate.get("of", {}).keys()
        if unknown := named - next(iter(keys)) | named & {"reference"}:
            raise ValueError(f"[{family}] candidates: {sorted(unknown)} is no parameter that a candidate can name")


def candidates_of(row: dict, params: dict[str, str | int]) -> Iterator[dict[str, str | int]]:
    """What else a variant could be."""
    for candidate in row.get("candidates", []):
        of = candidate.get("of", {})
        if all(params[key] in (value if isinstance(value, list) else [value]) for key, value in of.items()):
            for change in expand({key: value for key, value in candidate.items() if key != "of"}):
                yield params | change


def points(row: dict) -> Iterator[tuple[list[str], dict[str, str | int]]]:
    """All variants, each with its targets: those of the family, or its own."""
    for variant in row["variants"]:
        targets = variant.get("gfx", row["gfx"])
        for params in expand({key: value for key, value in variant.items() if key != "gfx"}):
            yield targets, params


def kernels(table: dict[str, dict], arches: dict[str, dict]) -> Iterator[Kernel]:
    """Every kernel that can be built: variants, and after each its candidates."""
    seen: set[tuple[str, str]] = set()
    for family, row in table.items():
        check_row(family, row, arches)
        args = layout(family, row["args"])
        for targets, params in points(row):
            reference = bool(params.pop("reference"))
            forms = [(params, False), *((p, True) for p in candidates_of(row, params) if not reference)]
            variant = symbol(family, row["name"], params)
            for gfx, (form, candidate) in itertools.product(targets, forms):
                name = symbol(family, row["name"], form)
                if (gfx, name) in seen:
                    raise ValueError(f"[{family}]: {name} is listed twice for {gfx}")
                seen.add((gfx, name))
                if form.get("simd_waves") == 0:
                    form = {**form, "simd_waves": arches[gfx]["simd_waves"]}
                yield Kernel(family, gfx, row["template"], name, args, form, row["constraints"], reference, candidate, variant)


def arches_of(path: Path) -> dict[str, dict]:
    arches = tomllib.loads(path.read_text())
    for gfx, facts in arches.items():
        if facts.keys() != ARCH_KEYS:
            raise ValueError(f"arch.toml [{gfx}]: keys differ from the format: {sorted(facts.keys() ^ ARCH_KEYS)}")
    return arches


def waves_per_simd(arch: dict, vgprs: int, lds_bytes: int, waves: int) -> int:
    """Occupancy limit in waves per SIMD: VGPRs of a SIMD, LDS and wave slots of a WGP (four SIMDs)."""
    granule = arch["vgpr_granule"]
    by_vgprs = min(MAX_WAVES, arch["vgprs_per_simd"] // (-(-vgprs // granule) * granule))
    groups = 4 * by_vgprs // waves
    if lds_bytes:
        groups = min(groups, arch["lds_per_wgp"] // (-(-lds_bytes // 1024) * 1024))
    return groups * waves // 4


def render(env: jinja2.Environment, k: Kernel, arch: dict) -> Rendered:
    r = Regs(arch["entry_sgprs"])
    template = f"ablation/{k.template}" if k.params.get("without") else k.template
    try:
        text = listing.tidy(env.get_template(template).render(k=k, p=k.params, A=k.offsets, arch=arch, R=r))
    except (ValueError, KeyError, jinja2.TemplateError) as error:
        raise ValueError(f"{k.template} for {k.gfx} {k.symbol}: {error}") from error
    vgprs, sgprs, lds_bytes = r.used("v"), r.used("s"), r.used("lds")
    return Rendered(k, text, vgprs, sgprs, lds_bytes, waves_per_simd(arch, vgprs, lds_bytes, k.block // 32))


def manifest_row(r: Rendered) -> dict:
    k = r.kernel
    return {
        "symbol": k.symbol, "gfx": k.gfx, "family": k.family, "file": f"{k.gfx}/{k.symbol}.hsaco",
        "reference": k.reference, "candidate": k.candidate, "params": k.params,
        "kernarg_bytes": k.kernarg_bytes, "args": [a.__dict__ for a in k.args],
        "block": [k.block, 1, 1], "rows_per_workgroup": k.rows_per_workgroup, "grid": [k.constraints["grid"], "1", "1"],
        "dynamic_lds_bytes": 0, "lds_bytes": r.lds_bytes, "vgprs": r.vgprs, "sgprs": r.sgprs, "wave_size": 32,
        "waves_per_simd": r.waves_per_simd, "layout": "row",
        "constraints": {key: text for key, text in k.constraints.items() if key != "grid"},
    }


def registry_row(r: Rendered) -> str:
    k = r.kernel
    args = ", ".join(f'NW_ARG("{a.name}", "{a.value_kind}", {a.offset}, {a.size})' for a in k.args)
    params = ", ".join(f'NW_PARAM("{key}", "{value}")' for key, value in k.params.items())
    return (
        f"NW_KERNEL({k.symbol}, {k.gfx}, {k.family}, {k.block}, {k.rows_per_workgroup}, {r.lds_bytes}, {r.vgprs}, "
        f"{r.sgprs}, {r.waves_per_simd}, {k.kernarg_bytes}, {int(k.reference)}, {int(k.candidate)}, NW_ARGS({args}), NW_PARAMS({params}))\n"
    )


def write_if_changed(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def environment(root: Path) -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(root / "asm"), undefined=jinja2.StrictUndefined,
        trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True,
    )


def render_group(root: Path, build: Path, group: list[Kernel]) -> list[Rendered]:
    """Kernels of like variants: targets, candidates and families share most of the pairing work (gen/dual.py caches
    it, and keeps it in the build directory)."""
    dual.keep(build / "schedules")
    arches, env = arches_of(root / "gen/arch.toml"), environment(root)
    return [render(env, k, arches[k.gfx]) for k in group]


def on_all_cores(work: Callable, items: Iterable) -> list:
    """map() over processes; over this one where the machine gives no shared memory for a pool."""
    try:
        pool = ProcessPoolExecutor()
    except OSError:
        return list(map(work, items))
    with pool:
        return list(pool.map(work, items))


def write_kernels(build: Path, done: list[Rendered]) -> None:
    for r in done:
        write_if_changed(build / "asm" / r.kernel.gfx / f"{r.kernel.symbol}.s", r.text)
    wanted = {(r.kernel.gfx, r.kernel.symbol) for r in done}
    for file in build.glob("asm/*/*.s"):
        if (file.parent.name, file.stem) not in wanted:
            file.unlink()
    manifest = {"version": 1, "kernels": [manifest_row(r) for r in done]}
    write_if_changed(build / "hsaco/manifest.json", json.dumps(manifest, indent=1) + "\n")


def catalogue(root: Path, gfx: list[str]) -> list[Kernel]:
    arches = arches_of(root / "gen/arch.toml")
    if unknown := [g for g in gfx if g not in arches]:
        raise ValueError(f"gfx {unknown} have no facts in arch.toml, which has {sorted(arches)}")
    table = tomllib.loads((root / "gen/kernels.toml").read_text())
    return [k for k in kernels(table, arches) if k.gfx in gfx]


def render_list(root: Path, build: Path, listed: list[Kernel]) -> list[Rendered]:
    groups: dict[tuple, list[Kernel]] = {}
    for k in listed:
        alike = ("dtype", "group", "zeros", "m", "dequant")
        groups.setdefault(tuple(k.params.get(key, k.variant) for key in alike), []).append(k)
    return list(itertools.chain.from_iterable(on_all_cores(functools.partial(render_group, root, build), groups.values())))


def render_all(root: Path, build: Path, gfx: list[str]) -> list[Rendered]:
    every = catalogue(root, gfx)
    tuned = tuning.read_all(root / "gen/tuning", every)
    named = {(row.gfx, row.kernel) for row in tuned}
    done = render_list(root, build, [k for k in every if not k.candidate or (k.gfx, k.symbol) in named])
    write_kernels(build, done)
    write_if_changed(build / "kernels.inc", "".join(map(registry_row, done)))
    write_if_changed(build / "tuning.inc", "".join(map(tuning.registry_row, tuned)))
    return done


def without_twins(done: list[Rendered]) -> list[Rendered]:
    """Without the candidates that are, but for their name, a kernel before them."""
    seen: set[tuple[str, str]] = set()
    out = []
    for r in done:
        body = (r.kernel.gfx, r.text.replace(r.kernel.symbol, ""))
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
    write_kernels(build, done)
    return done


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=Path, help="the source tree (holds asm/ and gen/)")
    parser.add_argument("build", type=Path, help="where asm/, hsaco/ and kernels.inc go")
    parser.add_argument("--gfx", required=True, help="comma list of targets")
    parser.add_argument("--candidates", action="store_true", help="what `nw tune` chooses from, not what is shipped")
    parser.add_argument("--only", default="", help="of the candidates those whose symbol has a match of this expression")
    options = parser.parse_args()
    try:
        if options.candidates:
            render_candidates(options.root, options.build, options.gfx.split(","), options.only)
        else:
            render_all(options.root, options.build, options.gfx.split(","))
    except ValueError as error:
        print(f"render: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
