# SPDX-License-Identifier: MIT
"""A part of a family's kernels for targets of equal facts: build/asm/<gfx>/<symbol>.s, and build/hsaco/<gfx>/<part>.resources,
a line a kernel: symbol, VGPRs, SGPRs, LDS bytes, waves that fit on a SIMD.

As a script: the kernels of all families that have candidates, with all of these, to choose from (`nw tune`)."""

from __future__ import annotations

import argparse
import functools
import itertools
import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import contract
import cover
import dual
import emit_header
import emit_manifest
import listing
import series_waits
import spelling
import targets
import tuning
import vopd
from catalogue import TARGET_FACTS, Kernel, arches_of, catalogue, kernels
from files import exit_code, write_if_changed
from occupancy import waves_per_simd
from regs import Regs
from shared import Body, Recorder, Shared, renamed

if TYPE_CHECKING:
    from templates import Environment


@dataclass(frozen=True)
class Rendered:
    kernel: Kernel
    text: str
    vgprs: int
    sgprs: int
    lds_bytes: int
    waves_per_simd: int


def environment(root: Path, build: Path | None = None) -> Environment:
    """Imports jinja2 on first use: in a run that copies all bodies the import would take most of the time."""
    import templates

    return templates.environment(root, build)


def check_pairs(text: str, banks: int) -> None:
    """Raises ValueError if a pair, made by dual() or written in a template, breaks a rule (gen/vopd.py)."""
    if found := list(vopd.broken(text, banks)):
        raise ValueError(f"{len(found)} pairs break a rule of VOPD, as {found[0]}")


def render_body(env: Environment, k: Kernel, arch: dict) -> Body:
    """The file below the contract header."""
    env.taken.clear()
    facts = Recorder(arch)
    r = Regs(facts["entry_sgprs"], vopd=facts["vopd"], facts=facts)
    import jinja2

    template = f"ablation/{k.template}" if k.purpose == "ablation" else k.template
    try:
        text = env.get_template(template).render(k=k, p=k.params, A=k.offsets, arch=facts, R=r)
        if "::" in text:
            check_pairs(text, facts["vopd_banks"])
    except (ValueError, KeyError, jinja2.TemplateError) as error:
        raise ValueError(f"{template} for {k.gfx} {k.symbol}: {error}") from error
    if facts["old_names"]:
        text = spelling.old_names(spelling.with_dots(text, facts))
    return Body(listing.tidy(text), r.used("v"), r.used("s"), r.used("lds"), facts.read, sorted(env.loader.loaded), sorted(env.taken))


def with_contract(k: Kernel, arch: dict, body: Body) -> Rendered:
    waves = waves_per_simd(arch, body.vgprs, body.lds_bytes, k.block // 32)
    done = Rendered(k, "", body.vgprs, body.sgprs, body.lds_bytes, waves)
    return replace(done, text=emit_header.header(done, arch) + series_waits.with_waits(body.text, arch["series"]))


def render(env: Environment, k: Kernel, arch: dict) -> Rendered:
    return with_contract(k, arch, render_body(env, k, arch))


def resources(done: list[Rendered]) -> str:
    return "".join(f"{r.kernel.symbol} {r.vgprs} {r.sgprs} {r.lds_bytes} {r.waves_per_simd}\n" for r in done)


def contract_files(root: Path, path: Path) -> list[Path]:
    """A family.toml, and the contracts of asm/lib that it can include."""
    return [path, *sorted((root / "asm/lib").glob("*.toml"))]


class FamilyRun:
    """A part of a family's kernels (Kernel.part), rendered for one target after the other."""

    def __init__(self, root: Path, build: Path, path: Path, references: bool) -> None:
        self._root, self._build, self._family = root, build, contract.load(root, path, TARGET_FACTS)
        self._kernels = [k for k in kernels({self._family.name: self._family}, arches_of(root)) if k.reference == references]
        if not self._kernels:
            raise ValueError(f"{path}: has no {'references' if references else 'kernels but references'}")
        self._part = self._kernels[0].part
        self._inputs = [root / "gen/render.py", *contract_files(root, path)]
        self._shared = Shared(root, build, self._part, self._inputs)
        self._done: dict[str, Rendered] = {}  # of the targets before, by symbol
        self._sides: dict[str, frozenset[str]] = {}  # of templates' conditions, that a kernel takes (gen/cover.py)

    def _rendered(self, k: Kernel, arch: dict) -> Rendered:
        """Renders a kernel, or copies a body that another target already has (gen/shared.py)."""
        twin = self._done.get(k.symbol)
        if twin and twin.kernel.params == k.params:
            return replace(twin, kernel=k, text=renamed(twin.text, twin.kernel.gfx, k.gfx))
        body = self._shared.find(k, arch) or render_body(environment(self._root, self._build), k, arch)
        self._shared.keep(k, body)
        self._sides[k.symbol] = frozenset(body.sides)
        return with_contract(k, arch, body)

    def render(self, gfx: str) -> list[Path]:
        """Files of the texts."""
        named = tuning.named(self._root / "gen/tuning", gfx) if any(k.candidate for k in self._kernels) else set()
        listed = [k for k in self._kernels if k.gfx == gfx and (not k.candidate or k.symbol in named)]
        done = [self._rendered(k, arches_of(self._root)[gfx]) for k in listed]
        texts = {self._build / "asm" / gfx / f"{r.kernel.symbol}.s": r.text for r in done}
        for file, text in texts.items():
            write_if_changed(file, text)
        self._done |= {r.kernel.symbol: r for r in done}
        self._shared.write(gfx, {k.symbol for k in listed})
        write_if_changed(self._build / "hsaco" / gfx / f"{self._part}.resources", resources(done))
        if not all(k.reference for k in listed):
            write_if_changed(self._build / "asm" / gfx / f"{self._part}.cover", cover.text(listed, self._sides))
        return list(texts)

    def write_depfile(self, gfx: list[str]) -> None:
        # The folder changes when a table comes; a file that doesn't exist would be out of date in every build.
        tables = [self._root / "gen/tuning", *(table for one in gfx for table in (self._root / "gen/tuning").glob(f"{one}.toml"))]
        used = [*self._shared.templates(), *self._inputs, *(self._root / "gen").glob("*.py"), self._root / "gen/targets.toml", *tables]
        rendered = self._build / "asm" / gfx[0] / self._part
        Path(f"{rendered}.d").write_text(f"{rendered}.rendered: " + " ".join(f"{file}".replace(" ", "\\ ") for file in used) + "\n")


def render_family(root: Path, build: Path, gfx: list[str], path: Path, references: bool = False) -> list[Path]:
    """For targets of equal facts (targets.twins): files of the texts."""
    if not any(set(gfx) <= set(twins) for twins in targets.twins(arches_of(root))):
        raise ValueError(f"--gfx {','.join(gfx)}: differ in facts of gen/targets.toml: render them one by one")
    dual.keep(build / "schedules")
    run = FamilyRun(root, build, path, references)
    texts = [file for one in gfx for file in run.render(one)]
    run.write_depfile(gfx)
    return texts


# ---- candidates


def on_all_cores(work: Callable, items: Iterable) -> list:
    """map() over processes; in this process if there is no shared memory for a pool."""
    from concurrent.futures import ProcessPoolExecutor  # which takes a tenth of a short run to import

    try:
        pool = ProcessPoolExecutor()
    except OSError:
        return list(map(work, items))
    with pool:
        return list(pool.map(work, items))


def render_group(root: Path, build: Path, group: list[Kernel]) -> list[Rendered]:
    """Kernels of similar variants, which share most of the pairing work (cached by gen/dual.py)."""
    dual.keep(build / "schedules")
    arches, env = arches_of(root), environment(root)
    return [render(env, k, arches[k.gfx]) for k in group]


def without_twins(done: list[Rendered]) -> list[Rendered]:
    """Without candidates whose code equals an earlier kernel's."""
    seen: set[tuple[str, str]] = set()
    out = []
    for r in done:
        code = r.text.split(emit_header.RULER)[-1]  # headers differ by parameters
        body = (r.kernel.gfx, code.replace(r.kernel.symbol, ""))
        if body not in seen:
            out.append(r)
        seen.add(body)
    return out


def render_candidates(root: Path, build: Path, gfx: str, only: str) -> list[Rendered]:
    every = catalogue(root, [gfx])
    families = {k.family for k in every if k.candidate}
    chosen = [k for k in every if k.family in families and not k.reference and re.search(only, k.symbol)]
    if not chosen:
        raise ValueError(f"--only {only}: no kernel of {sorted(families)} has a name that it matches")
    groups: dict[tuple, list[Kernel]] = {}
    for k in chosen:
        alike = ("dtype", "group", "zeros", "m", "dequant")
        groups.setdefault(tuple(k.params.get(key, k.variant) for key in alike), []).append(k)
    parts = on_all_cores(functools.partial(render_group, root, build), groups.values())
    done = without_twins(list(itertools.chain.from_iterable(parts)))
    for r in done:
        write_if_changed(build / "asm" / gfx / f"{r.kernel.symbol}.s", r.text)
    wanted = {r.kernel.symbol for r in done}
    for file in build.glob("asm/*/*.s"):
        if file.stem not in wanted:
            file.unlink()
    write_if_changed(build / "hsaco/manifest.json", emit_manifest.manifest(done, arches_of(root)))
    return done


def main() -> int:
    parser = argparse.ArgumentParser(description="Candidates, which `nw tune` chooses from.")
    parser.add_argument("root", type=Path, help="the source tree (holds asm/ and gen/)")
    parser.add_argument("build", type=Path, help="where asm/ and hsaco/ go")
    parser.add_argument("--gfx", required=True, help="the target")
    parser.add_argument("--only", default="", help="those whose symbol has a match of this expression")
    parser.add_argument("--scheduler", type=Path, required=True, help="the program of gen/list_schedule.cpp")
    options = parser.parse_args()
    dual.use(options.scheduler)
    return exit_code("render", lambda: render_candidates(options.root, options.build, options.gfx, options.only))


if __name__ == "__main__":
    sys.exit(main())
