# SPDX-License-Identifier: MIT
"""build/asm/<gfx>/<symbol>.s -> build/hsaco/<gfx>/<symbol>.hsaco, only what changed.

    assemble.py BUILD --clang C                        all of asm/, on all cores; code objects of others are removed
    assemble.py BUILD --clang C --only GFX SYMBOL...   these

Code object V5 (note A-006), with line tables, so that a pc maps to its .s line. These are DWARF 4: that has no digest of the
source, and no strings whose order depends on each other. So an object is, byte by byte, that of another target with the same
code and another name, and is made of it where it is there (tests/gen/test_assemble.py).
"""

from __future__ import annotations

import argparse
import itertools
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import targets

MACHINE_AT = 48  # e_flags of a 64-bit ELF file; its first byte is EF_AMDGPU_MACH
MACHINES = {name: facts["elf_machine"] for name, facts in targets.arches_of(Path(__file__).with_name("targets.toml")).items()}


def command(clang: str, gfx: str, source: Path, target: Path) -> list[str]:
    return [
        clang, "-target", "amdgcn-amd-amdhsa", f"-mcpu={gfx}", "-mcode-object-version=5", "-gdwarf-4",
        f"-fdebug-compilation-dir=asm/{gfx}",  # not this machine's: the same bytes everywhere
        "-x", "assembler", str(source), "-o", str(target),
    ]


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
    text = source.read_text()
    for other in MACHINES:
        theirs, code = source.parents[1] / other / source.name, target.parents[1] / other / target.name
        if other != gfx and len(other) == len(gfx) and theirs.exists() and up_to_date(theirs, code):
            if same_code(text, theirs.read_text().replace(other, gfx)):
                yield renamed(code.read_bytes(), other, gfx)


def assemble(clang: str, source: Path, target: Path) -> str:
    """Empty when done or up to date, else what clang said. A failure leaves no file behind."""
    if up_to_date(source, target):
        return ""
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_suffix(f".{os.getpid()}")
    alike = next(objects_alike(source, target), None)
    if alike:
        part.write_bytes(alike)
    else:
        arguments = command(clang, source.parent.name, Path(source.name), part.resolve())
        done = subprocess.run(arguments, capture_output=True, text=True, cwd=source.parent)
        if done.returncode:
            part.unlink(missing_ok=True)
            return f"{source}:\n{done.stderr}"
    part.rename(target)
    return ""


def stale(build: Path, sources: list[Path]) -> list[Path]:
    """Code objects of kernels that are listed no more."""
    wanted = {(s.parent.name, s.stem) for s in sources}
    return [h for h in build.glob("hsaco/*/*.hsaco") if (h.parent.name, h.stem) not in wanted]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=Path, help="holds asm/; hsaco/ goes there")
    parser.add_argument("--clang", required=True, help="clang of LLVM >= 20")
    parser.add_argument("--only", nargs="+", metavar=("GFX", "SYMBOL"), help="these kernels of a target")
    options = parser.parse_args()
    if options.only:
        gfx, *symbols = options.only
        sources = [options.build / "asm" / gfx / f"{symbol}.s" for symbol in symbols]
    else:
        sources = sorted(options.build.glob("asm/*/*.s"))
    objects = [options.build / "hsaco" / s.parent.name / f"{s.stem}.hsaco" for s in sources]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        said = [text for text in pool.map(lambda so: assemble(options.clang, *so), zip(sources, objects)) if text]
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
