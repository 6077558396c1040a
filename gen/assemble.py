# SPDX-License-Identifier: MIT
"""build/asm/<gfx>/<symbol>.s -> build/hsaco/<gfx>/<symbol>.hsaco, only what changed.

    assemble.py BUILD --clang C --lld L --fork-server F     all of asm/, on all cores; code objects of others are removed

clang that also links starts one more process than clang and ld.lld do. Both are loaded once (gen/fork_server.c).
Code object V5 (note A-006), with line tables, so that a pc maps to its .s line. These are DWARF 4: that has no digest of the
source, and no strings whose order depends on each other. Objects of two targets with the same code differ in the target's name
alone, so the second is patched from the first (tests/gen/test_assemble.py); BUILD/objects keeps each by its code. Concurrent
processes for such targets start with different kernels, so that each finds objects that the other has made.
"""

from __future__ import annotations

import argparse
import fcntl
import functools
import hashlib
import os
import queue
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import targets

FEW = 16  # kernels: fewer don't repay loading the programs once more
MACHINE_AT = 48  # e_flags of a 64-bit ELF file; its first byte is EF_AMDGPU_MACH
MACHINES = {name: facts["elf_machine"] for name, facts in targets.arches_of(Path(__file__).with_name("targets.toml")).items()}


@dataclass(frozen=True)
class Tools:
    clang: str
    lld: str
    fork_server: str  # the library of gen/fork_server.c


def commands(tools: Tools, gfx: str, source: Path, unlinked: Path, target: Path) -> Iterator[list[str]]:
    yield [
        tools.clang, "-target", "amdgcn-amd-amdhsa", f"-mcpu={gfx}", "-mcode-object-version=5", "-gdwarf-4",
        f"-fdebug-compilation-dir=asm/{gfx}",  # not this machine's: the same bytes everywhere
        "-x", "assembler", "-c", str(source), "-o", str(unlinked),
    ]  # fmt: skip
    yield [tools.lld, "--threads=1", "--no-undefined", "-shared", str(unlinked), "-o", str(target)]


class ForkServer:
    """A program that is loaded once for many commands."""

    def __init__(self, program: str, library: str) -> None:
        preloaded = {**os.environ, "LD_PRELOAD": str(Path(library).resolve())}
        self._process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=preloaded)

    def run(self, folder: Path, said: Path, arguments: list[str]) -> int | None:
        """The exit code of a command; None where a program can't be preloaded, e.g. a statically linked one."""
        words = [folder.resolve(), said.resolve(), *arguments]
        data = b"".join(os.fsencode(word) + b"\0" for word in words)
        try:
            self._process.stdin.write(b"%d %d\n" % (len(data), len(words)) + data)
            self._process.stdin.flush()
        except BrokenPipeError:
            return None
        answer = self._process.stdout.readline()
        return int(answer) if answer else None

    def close(self) -> None:
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


class Programs:
    """clang and ld.lld of one thread, loaded when they are needed."""

    def __init__(self, tools: Tools) -> None:
        self._library = tools.fork_server
        self._servers: dict[str, ForkServer] = {}

    def run(self, folder: Path, words: list[str], said: Path) -> str | None:
        """Output of a command that failed; None on success."""
        program, *arguments = words
        if program not in self._servers:
            self._servers[program] = ForkServer(program, self._library)
        code = self._servers[program].run(folder, said, arguments)
        if code is None:
            with said.open("w") as file:
                code = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=file, cwd=folder).returncode
        return said.read_text() if code else None

    def close(self) -> None:
        for server in self._servers.values():
            server.close()


COMMENTS = re.compile(r"^[ \t]*//.*$", re.MULTILINE)


def code_of(source: Path, gfx: str) -> str:
    """Source text that determines the object: without the target's name and comment lines."""
    return COMMENTS.sub("//", source.read_text().replace(gfx, "gfx"))


@functools.cache
def assembly(tools: Tools, assembler: Path) -> hashlib._Hash:
    """Digest of the assembler and its options, which all objects depend on."""
    anywhere = Path("source")
    words = [assembler.read_text() if assembler.exists() else "", *commands(tools, "gfx", anywhere, anywhere, anywhere)]
    return hashlib.sha256(repr(words).encode())


def stored(tools: Tools, source: Path) -> Path:
    """Path of the object of this code in BUILD/objects, whether it exists or not."""
    gfx, build = source.parent.name, source.parents[2]
    key = assembly(tools, build / "assembler.txt").copy()
    key.update(f"{source.name} {len(gfx)} {code_of(source, gfx)}".encode())
    return build / "objects" / key.hexdigest()[:2] / key.hexdigest()[2:]


def renamed(code: bytes, other: str) -> bytes:
    """A code object, patched to target `other`, whose name has the same length."""
    gfx = next(name for name, machine in MACHINES.items() if machine == code[MACHINE_AT])
    out = bytearray(code.replace(gfx.encode(), other.encode()))
    out[MACHINE_AT] = MACHINES[other]
    return bytes(out)


def up_to_date(source: Path, target: Path) -> bool:
    """Newer than its source, than this file, and than build/assembler.txt, which names the assembler."""
    made_of = [source, Path(__file__), source.parents[2] / "assembler.txt"]
    return target.exists() and all(target.stat().st_mtime_ns >= f.stat().st_mtime_ns for f in made_of if f.exists())


@contextmanager
def turn(source: Path, wait: bool) -> Iterator[bool]:
    """Locks this kernel against other processes, for all targets; yields false if it is locked, unless `wait`."""
    texts = (source.parents[1] / gfx / source.name for gfx in MACHINES)
    with next((text for text in texts if text.exists()), source).open() as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            yield False
        else:
            yield True


def run(tools: Tools, programs: Programs, source: Path, part: Path) -> str:
    """Empty on success, else the output of the first command that failed."""
    unlinked, said = part.with_suffix(part.suffix + ".o"), part.with_suffix(part.suffix + ".said")
    try:
        for words in commands(tools, source.parent.name, Path(source.name), unlinked.resolve(), part.resolve()):
            if (text := programs.run(source.parent, words, said)) is not None:
                return f"{source}:\n{text}"
    finally:
        unlinked.unlink(missing_ok=True)
        said.unlink(missing_ok=True)
    return ""


def assemble(tools: Tools, programs: Programs, source: Path, target: Path) -> str:
    """Empty on success or if up to date, else the output of clang or ld.lld. A failure leaves no file behind."""
    if up_to_date(source, target):
        return ""
    target.parent.mkdir(parents=True, exist_ok=True)
    part, kept = target.with_suffix(f".{os.getpid()}"), stored(tools, source)
    if kept.exists():
        part.write_bytes(renamed(kept.read_bytes(), source.parent.name))
        part.chmod(kept.stat().st_mode)
    elif said := run(tools, programs, source, part):
        part.unlink(missing_ok=True)
        return said
    else:
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.unlink(missing_ok=True)
        os.link(part, kept)
    part.replace(target)
    return ""


def assemble_all(tools: Tools, wanted: list[tuple[Path, Path]]) -> list[str]:
    """Messages of failed kernels. Kernels locked by other processes come last."""
    wanted = [one for one in wanted if not up_to_date(*one)]
    idle: queue.LifoQueue[Programs] = queue.LifoQueue()  # loaded programs before new ones
    workers = min(os.cpu_count() or 1, 1 + len(wanted) // FEW)

    def attempt(one: tuple[Path, Path], wait: bool) -> str | None:
        with turn(one[0], wait) as free:
            if not free:
                return None
            programs = idle.get()
            try:
                return assemble(tools, programs, *one)
            finally:
                idle.put(programs)

    if not wanted:
        return []
    for _ in range(workers):
        idle.put(Programs(tools))
    with ThreadPoolExecutor(workers) as pool:
        said = list(pool.map(lambda one: attempt(one, wait=False), wanted))
        later = [one for one, text in zip(wanted, said) if text is None]
        said += pool.map(lambda one: attempt(one, wait=True), later)
    while not idle.empty():
        idle.get().close()
    return [text for text in said if text]


def objects_of(build: Path, sources: list[Path]) -> list[tuple[Path, Path]]:
    return [(source, build / "hsaco" / source.parent.name / f"{source.stem}.hsaco") for source in sources]


def report(said: list[str], count: int) -> int:
    """The exit code of a script."""
    for text in said[:5]:
        print(text, file=sys.stderr)
    if said:
        print(f"assemble: {len(said)} of {count} kernels failed", file=sys.stderr)
    return 1 if said else 0


def add_tools(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--clang", required=True, help="clang of LLVM >= 20")
    parser.add_argument("--lld", required=True, help="ld.lld of the same")
    parser.add_argument("--fork-server", required=True, help="the library of gen/fork_server.c")


def stale(build: Path, sources: list[Path]) -> list[Path]:
    """Code objects of kernels that are no longer listed."""
    wanted = {(s.parent.name, s.stem) for s in sources}
    return [h for h in build.glob("hsaco/*/*.hsaco") if (h.parent.name, h.stem) not in wanted]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=Path, help="holds asm/; hsaco/ goes there")
    add_tools(parser)
    options = parser.parse_args()
    sources = sorted(options.build.glob("asm/*/*.s"))
    said = assemble_all(Tools(options.clang, options.lld, options.fork_server), objects_of(options.build, sources))
    for file in stale(options.build, sources):
        file.unlink()
        if not any(file.parent.iterdir()):  # a target that is no longer built
            file.parent.rmdir()
    return report(said, len(sources))


if __name__ == "__main__":
    sys.exit(main())
