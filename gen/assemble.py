# SPDX-License-Identifier: MIT
"""build/asm/<gfx>/<symbol>.s -> build/hsaco/<gfx>/<symbol>.hsaco, only what changed.

    assemble.py BUILD --clang C --lld L                        all of asm/, on all cores; code objects of others are removed
    assemble.py BUILD --clang C --lld L --only GFX SYMBOL...   these

clang that links, too, takes a process more than clang and ld.lld, and half as long again. Code object V5 (note A-006), with line tables, so that a pc maps to its .s line. These are DWARF 4: that has no digest of the
source, and no strings whose order depends on each other. So an object is, byte by byte, that of another target with the same
code and another name, and is made of it where it is there (tests/gen/test_assemble.py). Processes that are under way side by
side, for targets alike, begin with different kernels, so that each finds what the other has made.
"""

from __future__ import annotations

import argparse
import fcntl
import itertools
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import targets

MACHINE_AT = 48  # e_flags of a 64-bit ELF file; its first byte is EF_AMDGPU_MACH
MACHINES = {name: facts["elf_machine"] for name, facts in targets.arches_of(Path(__file__).with_name("targets.toml")).items()}


@dataclass(frozen=True)
class Tools:
    clang: str
    lld: str


def commands(tools: Tools, gfx: str, source: Path, unlinked: Path, target: Path) -> Iterator[list[str]]:
    yield [
        tools.clang, "-target", "amdgcn-amd-amdhsa", f"-mcpu={gfx}", "-mcode-object-version=5", "-gdwarf-4",
        f"-fdebug-compilation-dir=asm/{gfx}",  # not this machine's: the same bytes everywhere
        "-x", "assembler", "-c", str(source), "-o", str(unlinked),
    ]  # fmt: skip
    yield [tools.lld, "--no-undefined", "-shared", str(unlinked), "-o", str(target)]


def same_code(one: str, other: str) -> bool:
    """Line by line, but for lines that are comments."""
    lines = itertools.zip_longest(one.splitlines(), other.splitlines())
    return one == other or all(a == b or (a and b and a.lstrip()[:2] == b.lstrip()[:2] == "//") for a, b in lines)


def renamed(code: bytes, gfx: str, other: str) -> bytes:
    """A code object for `gfx`, as one for `other`. Their names are of one length."""
    out = bytearray(code.replace(gfx.encode(), other.encode()))
    out[MACHINE_AT] = MACHINES[other]
    return bytes(out)


def up_to_date(source: Path, target: Path) -> bool:
    """Newer than its source, than this file, and than build/assembler.txt, which names the assembler."""
    made_of = [source, Path(__file__), source.parents[2] / "assembler.txt"]
    return target.exists() and all(target.stat().st_mtime_ns >= f.stat().st_mtime_ns for f in made_of if f.exists())


def objects_alike(source: Path, target: Path) -> Iterator[bytes]:
    """What other targets' objects of the same code are for this one."""
    gfx = source.parent.name
    text, size = source.read_text(), source.stat().st_size
    others = [other for other in MACHINES if other != gfx and len(other) == len(gfx)]
    texts = [theirs for theirs in (source.parents[1] / other / source.name for other in others) if theirs.exists()]
    for theirs in sorted(texts, key=lambda file: file.stat().st_size != size):  # likely the same first
        other = theirs.parent.name
        code = target.parents[1] / other / target.name
        if up_to_date(theirs, code) and same_code(text, theirs.read_text().replace(other, gfx)):
            yield renamed(code.read_bytes(), other, gfx)


@contextmanager
def turn(source: Path, wait: bool) -> Iterator[bool]:
    """Whether nobody else is at this kernel, of whatever target; with `wait`, once nobody is."""
    texts = (source.parents[1] / gfx / source.name for gfx in MACHINES)
    with next((text for text in texts if text.exists()), source).open() as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            yield False
        else:
            yield True


def run(tools: Tools, source: Path, part: Path) -> str:
    """Empty when done, else what the first that failed said."""
    unlinked = part.with_suffix(part.suffix + ".o")
    try:
        for words in commands(tools, source.parent.name, Path(source.name), unlinked.resolve(), part.resolve()):
            done = subprocess.run(words, capture_output=True, text=True, cwd=source.parent)
            if done.returncode:
                return f"{source}:\n{done.stderr}"
    finally:
        unlinked.unlink(missing_ok=True)
    return ""


def assemble(tools: Tools, source: Path, target: Path) -> str:
    """Empty when done or up to date, else what clang or ld.lld said. A failure leaves no file behind."""
    if up_to_date(source, target):
        return ""
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_suffix(f".{os.getpid()}")
    alike = next(objects_alike(source, target), None)
    if alike:
        part.write_bytes(alike)
    elif said := run(tools, source, part):
        part.unlink(missing_ok=True)
        return said
    part.rename(target)
    return ""


def assemble_all(tools: Tools, wanted: list[tuple[Path, Path]]) -> list[str]:
    """What was said of those that failed. Kernels that others are at come last."""

    def attempt(one: tuple[Path, Path], wait: bool) -> str | None:
        with turn(one[0], wait) as free:
            return assemble(tools, *one) if free else None

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        said = list(pool.map(lambda one: attempt(one, wait=False), wanted))
        later = [one for one, text in zip(wanted, said) if text is None]
        said += pool.map(lambda one: attempt(one, wait=True), later)
    return [text for text in said if text]


def stale(build: Path, sources: list[Path]) -> list[Path]:
    """Code objects of kernels that are listed no more."""
    wanted = {(s.parent.name, s.stem) for s in sources}
    return [h for h in build.glob("hsaco/*/*.hsaco") if (h.parent.name, h.stem) not in wanted]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=Path, help="holds asm/; hsaco/ goes there")
    parser.add_argument("--clang", required=True, help="clang of LLVM >= 20")
    parser.add_argument("--lld", required=True, help="ld.lld of the same")
    parser.add_argument("--only", nargs="+", metavar=("GFX", "SYMBOL"), help="these kernels of a target")
    options = parser.parse_args()
    if options.only:
        gfx, *symbols = options.only
        sources = [options.build / "asm" / gfx / f"{symbol}.s" for symbol in symbols]
    else:
        sources = sorted(options.build.glob("asm/*/*.s"))
    objects = [options.build / "hsaco" / s.parent.name / f"{s.stem}.hsaco" for s in sources]
    said = assemble_all(Tools(options.clang, options.lld), list(zip(sources, objects)))
    for file in [] if options.only else stale(options.build, sources):
        file.unlink()
        if not any(file.parent.iterdir()):  # of a target that there is no more
            file.parent.rmdir()
    for text in said[:5]:
        print(text, file=sys.stderr)
    if said:
        print(f"assemble: {len(said)} of {len(sources)} kernels failed", file=sys.stderr)
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
