# SPDX-License-Identifier: MIT
"""kernels.toml x arch.toml -> build/asm/<gfx>/<symbol>.s, build/kernels.inc, build/hsaco/manifest.json."""

from __future__ import annotations

import argparse
import functools
import itertools
import json
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import jinja2
from regs import Regs

KINDS = {"ptr": (8, "global_buffer"), "f32": (4, "by_value"), "i32": (4, "by_value"), "u32": (4, "by_value")}
ACCESS = {"ptr": {"read_only", "write_only", "read_write"}}
ROW_KEYS = {"template", "gfx", "name", "args", "variants", "constraints"}
ARCH_KEYS = {
    "user_sgprs", "entry_sgprs", "wg_x", "split_waits", "split_barrier", "stream", "vgprs_per_simd", "vgpr_granule",
    "lds_per_wgp", "lds_per_workgroup", "few_waves", "vopd", "dot2_subnormal", "dot2acc", "wmma", "clock_bits", "trans_use",
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


def symbol(family: str, name: list[str], params: dict[str, str | int]) -> str:
    """`dtype` names a parameter's value, `g{group}` formats it; an empty value has no place in the name."""
    parts = [part.format(**params) if "{" in part else str(params[part]) for part in name]
    return "_".join([family, *filter(None, parts)])


def expand(variant: dict[str, object]) -> Iterator[dict[str, str | int]]:
    """The product of a variant's list-valued parameters."""
    axes = [[(key, v) for v in (value if isinstance(value, list) else [value])] for key, value in variant.items()]
    yield from (dict(point) for point in itertools.product(*axes))


def check_row(family: str, row: dict, arches: dict[str, dict]) -> None:
    if row.keys() != ROW_KEYS:
        raise ValueError(f"[{family}]: keys differ from the format: {sorted(row.keys() ^ ROW_KEYS)}")
    known = {name for name, _, _ in row["args"]} | {"align", "grid"}
    if (unknown := set(row["constraints"]) - known) or "grid" not in row["constraints"]:
        raise ValueError(f"[{family}.constraints]: grid is required, arguments and align may be named, not {sorted(unknown)}")
    if unknown := [gfx for gfx in row["gfx"] if gfx not in arches]:
        raise ValueError(f"[{family}]: gfx {unknown} have no facts in arch.toml, which has {sorted(arches)}")
    keys = {frozenset(variant) for variant in row["variants"]}
    if len(keys) != 1 or not {"reference", "waves", "rows"} <= next(iter(keys)):
        raise ValueError(f"[{family}]: every variant has the same keys, reference, waves and rows among them")


def kernels(table: dict[str, dict], arches: dict[str, dict]) -> Iterator[Kernel]:
    seen: set[tuple[str, str]] = set()
    for family, row in table.items():
        check_row(family, row, arches)
        args = layout(family, row["args"])
        for params in itertools.chain.from_iterable(expand(v) for v in row["variants"]):
            reference = bool(params.pop("reference"))
            for gfx in row["gfx"]:
                name = symbol(family, row["name"], params)
                if (gfx, name) in seen:
                    raise ValueError(f"[{family}]: {name} is listed twice for {gfx}")
                seen.add((gfx, name))
                yield Kernel(family, gfx, row["template"], name, args, params, row["constraints"], reference)


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
    try:
        text = env.get_template(k.template).render(k=k, p=k.params, A=k.offsets, arch=arch, R=r)
    except (ValueError, KeyError, jinja2.TemplateError) as error:
        raise ValueError(f"{k.template} for {k.gfx} {k.symbol}: {error}") from error
    vgprs, sgprs, lds_bytes = r.used("v"), r.used("s"), r.used("lds")
    return Rendered(k, text, vgprs, sgprs, lds_bytes, waves_per_simd(arch, vgprs, lds_bytes, k.block // 32))


def manifest_row(r: Rendered) -> dict:
    k = r.kernel
    return {
        "symbol": k.symbol, "gfx": k.gfx, "family": k.family, "file": f"{k.gfx}/{k.symbol}.hsaco",
        "reference": k.reference, "params": k.params,
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
        f"{r.sgprs}, {r.waves_per_simd}, {k.kernarg_bytes}, {int(k.reference)}, NW_ARGS({args}), NW_PARAMS({params}))\n"
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


def render_group(root: Path, group: list[Kernel]) -> list[Rendered]:
    """Kernels of one symbol: their targets share most of the pairing work (gen/dual.py caches it)."""
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


def render_all(root: Path, build: Path, gfx: list[str]) -> list[Rendered]:
    arches = arches_of(root / "gen/arch.toml")
    table = tomllib.loads((root / "gen/kernels.toml").read_text())
    if unknown := [g for g in gfx if g not in arches]:
        raise ValueError(f"gfx {unknown} have no facts in arch.toml, which has {sorted(arches)}")
    groups: dict[str, list[Kernel]] = {}
    for k in kernels(table, arches):
        if k.gfx in gfx:
            groups.setdefault(k.symbol, []).append(k)
    done = list(itertools.chain.from_iterable(on_all_cores(functools.partial(render_group, root), groups.values())))
    for r in done:
        write_if_changed(build / "asm" / r.kernel.gfx / f"{r.kernel.symbol}.s", r.text)
    wanted = {(r.kernel.gfx, r.kernel.symbol) for r in done}
    for file in build.glob("asm/*/*.s"):
        if (file.parent.name, file.stem) not in wanted:
            file.unlink()
    write_if_changed(build / "kernels.inc", "".join(map(registry_row, done)))
    manifest = {"version": 1, "kernels": [manifest_row(r) for r in done]}
    write_if_changed(build / "hsaco/manifest.json", json.dumps(manifest, indent=1) + "\n")
    return done


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=Path, help="the source tree (holds asm/ and gen/)")
    parser.add_argument("build", type=Path, help="where asm/, hsaco/ and kernels.inc go")
    parser.add_argument("--gfx", required=True, help="comma list of targets")
    options = parser.parse_args()
    try:
        render_all(options.root, options.build, options.gfx.split(","))
    except ValueError as error:
        print(f"render: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
