# SPDX-License-Identifier: MIT
"""build/asm/<gfx>/<symbol>.s -> build/hsaco/<gfx>/<symbol>.hsaco, on all cores, only what changed.

Code object V5 (note A-006), with line tables, so that a pc maps to its .s line.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path


def command(clang: str, gfx: str, source: Path, target: Path) -> list[str]:
    return [
        clang, "-target", "amdgcn-amd-amdhsa", f"-mcpu={gfx}", "-mcode-object-version=5", "-g",
        f"-fdebug-compilation-dir=asm/{gfx}",  # not this machine's: the same bytes everywhere
        "-x", "assembler", str(source), "-o", str(target),
    ]


def assemble(clang: str, source: Path, target: Path) -> str:
    """Empty when done or up to date, else what clang said. A failure leaves no file behind."""
    if target.exists() and target.stat().st_mtime_ns >= source.stat().st_mtime_ns:
        return ""
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_suffix(".part")
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
    options = parser.parse_args()
    sources = sorted(options.build.glob("asm/*/*.s"))
    targets = [options.build / "hsaco" / s.parent.name / f"{s.stem}.hsaco" for s in sources]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        said = [text for text in pool.map(lambda st: assemble(options.clang, *st), zip(sources, targets)) if text]
    for file in stale(options.build, sources):
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
