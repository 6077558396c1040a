# SPDX-License-Identifier: MIT
"""Takes every wait, nop and barrier out of kernels, or weakens it, one at a time, and counts what finds that.

    python3 tests/lint/mutants.py --build build [--gfx gfx1151] [--only SUBSTRING] [--sample N] [--run N] [--json FILE]

The lint is asked of each mutant (nw_mutate). What it doesn't find is either proven to be harmless, by an analysis
of its own (proof.h), or run under the simulated GPU's checkers, as the family's tests run the kernel: of each
sequence of waits and barriers the first kernel, at most N mutants in all.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import struct
import subprocess
import tempfile
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue

EXECUTABLE, CODE = 4, 1
FIRST_LAUNCH_SECONDS = 120
COLUMNS = ("mutants", "lint", "run", "harmless", "survive", "not run")


@dataclass
class Mutant:
    kernel: str
    gfx: str
    file: Path
    row: dict
    times: int  # kernels with the same code
    verdict: str = ""  # one of COLUMNS
    why: str = ""

    @property
    def name(self) -> str:
        return f"{self.gfx} {self.kernel} + 0x{self.row['offset']:x}: {self.row['text']} ({self.row['change']})"


@dataclass
class Result:
    mutants: list[Mutant] = field(default_factory=list)

    def count(self, verdict: str, mnemonic: str | None = None) -> int:
        return sum(m.times for m in self.mutants
                   if verdict in ("mutants", m.verdict) and mnemonic in (None, m.row["mnemonic"]))  # fmt: skip

    @property
    def found_percent(self) -> float:
        """Found mutants, in percent of the relevant and judged ones."""
        found = self.count("lint") + self.count("run")
        return 100 * found / max(1, found + self.count("survive"))

    def table(self) -> str:
        rows: dict[tuple[str, str], Counter] = defaultdict(Counter)
        for m in self.mutants:
            for key in ((m.row["mnemonic"], m.row["change"]), ("all", "")):
                rows[key].update({"mutants": m.times, m.verdict: m.times})
        out = ["| instruction | change | " + " | ".join(COLUMNS) + " |", "|---|---|" + "---:|" * len(COLUMNS)]
        for (mnemonic, change), counts in sorted(rows.items(), key=lambda row: (row[0][0] == "all", row[0])):
            out.append(f"| {mnemonic} | {change} | " + " | ".join(str(counts[c]) for c in COLUMNS) + " |")
        return "\n".join(out)


def code_of(path: Path) -> str:
    """Equal for kernels of equal code. Targets of one generation have the same hazards."""
    elf = path.read_bytes()
    (sections,) = struct.unpack_from("<Q", elf, 0x28)
    (count,) = struct.unpack_from("<H", elf, 0x3C)
    digest = hashlib.sha1(path.parent.name[:6].encode())
    for n in range(count):
        _, kind, flags, _, offset, size = struct.unpack_from("<IIQQQQ", elf, sections + 64 * n)
        if kind == CODE and flags & EXECUTABLE:
            digest.update(elf[offset : offset + size])
    return digest.hexdigest()


def lint(build: Path, files: list[Path], sample: int, seed: int) -> tuple[list[Mutant], dict[tuple[str, str], str]]:
    """The mutants of one kernel of each code, judged by the lint; the variant of each kernel."""
    same: dict[str, list[Path]] = defaultdict(list)
    for path in files:
        same[code_of(path)].append(path)
    first = {str(paths[0]): len(paths) for paths in same.values()}
    command = [build / "bin/tests/nw_mutate", "--sample", str(sample), "--seed", str(seed), *first]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{command[0]}: {done.stderr}")
    mutants, variants = [], {}
    for line in sorted(done.stdout.splitlines()):
        kernel = json.loads(line)
        if kernel["errors"]:
            raise RuntimeError(f"{kernel['file']}: it has {kernel['errors']} errors as it is: see nw lint")
        variants[kernel["kernel"], kernel["gfx"]] = f"{kernel['variant']} {kernel['gfx'][:6]} {kernel['kernel'].split('_')[0]}"
        for row in kernel["mutants"]:
            mutant = Mutant(kernel["kernel"], kernel["gfx"], Path(kernel["file"]), row, first[kernel["file"]])
            if "lint" in row:
                mutant.verdict, mutant.why = "lint", row["lint"]
            elif row["proof"]:
                mutant.verdict, mutant.why = "harmless", f"{row['proof']} {row.get('note', '')}".strip()
            else:
                mutant.verdict = "not run"
            mutants.append(mutant)
    return mutants, variants


class Runner:
    """Runs a kernel's tests on a mutant of it, in a folder that is else the build's."""

    def __init__(self, build: Path, folder: Path) -> None:
        self.build, self.folder = build, folder
        for gfx in (build / "hsaco").glob("gfx*"):
            (folder / gfx.name).mkdir(parents=True)
            for path in gfx.iterdir():
                (folder / gfx.name / path.name).symlink_to(path)

    def run(self, m: Mutant) -> None:
        path = self.folder / m.gfx / m.file.name
        code = bytearray(m.file.read_bytes())
        for place, word in m.row["edits"]:
            struct.pack_into("<I", code, place, word)
        path.unlink()
        path.write_bytes(code)
        command = [self.build / "bin/tests/check_kernels", "--device", f"sim:{m.gfx}", "--kernel", m.kernel, "--seed", "1", "--checkers"]
        environment = os.environ | {"NIBBLEWAVE_HSACO": str(self.folder)}
        try:
            done = subprocess.run(command, cwd=self.build, env=environment, capture_output=True, text=True, timeout=FIRST_LAUNCH_SECONDS)
            failed, said = done.returncode != 0, done.stderr + done.stdout
        except subprocess.TimeoutExpired:
            failed, said = True, "no end"
        path.unlink()
        path.symlink_to(m.file)
        if failed:
            m.verdict, m.why = "run", next((line.strip() for line in said.splitlines() if line.strip()), "")
        elif m.row.get("lds_across") is False:
            m.verdict, m.why = "harmless", "no LDS is shared across it, and no memory: it ran without a race"
        elif m.row.get("memory") is False:
            m.verdict, m.why = "harmless", "only on ways that no condition allows a register is touched sooner: it ran clean"
        else:
            m.verdict = "survive"


def run_all(build: Path, mutants: list[Mutant]) -> None:
    with tempfile.TemporaryDirectory(dir=build) as folder:
        runners: SimpleQueue[Runner] = SimpleQueue()
        threads = os.cpu_count() or 1
        for n in range(threads):
            runners.put(Runner(build, Path(folder) / str(n)))

        def run(m: Mutant) -> None:
            runner = runners.get()
            try:
                runner.run(m)
            finally:
                runners.put(runner)

        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(run, mutants))


def judge(build: Path, files: list[Path], sample: int = 0, seed: int = 1, most_runs: int = 0) -> Result:
    mutants, variants = lint(build, files, sample, seed)
    chosen: dict[str, tuple[str, str]] = {}  # of each variant, the first kernel
    for kernel, variant in variants.items():
        chosen.setdefault(variant, kernel)
    kernels = set(chosen.values())
    todo = [m for m in mutants if m.verdict == "not run" and (m.kernel, m.gfx) in kernels]
    step = max(1, -(-len(todo) // most_runs)) if most_runs else 1
    run_all(build, todo[::step])
    return Result(mutants)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--gfx", default="gfx*", help="default: all")
    parser.add_argument("--only", default="", help="kernels whose symbol contains this")
    parser.add_argument("--sample", type=int, default=0, help="mutants of each kernel; default: all")
    parser.add_argument("--seed", type=int, default=1, help="which ones")
    parser.add_argument("--run", type=int, default=0, help="at most that many on the simulated GPU; default: all")
    parser.add_argument("--json", type=Path, help="all mutants and what was said of them")
    o = parser.parse_args()
    build = o.build.resolve()
    files = sorted(path for path in (build / "hsaco").glob(f"{o.gfx}/*.hsaco") if o.only in path.stem)
    result = judge(build, files, o.sample, o.seed, o.run)
    print(result.table())
    print(f"\n{result.found_percent:.2f} % of the mutants that matter are found")
    for m in result.mutants:
        if m.verdict == "survive":
            print(f"survives: {m.name}")
    if o.json:
        o.json.write_text(json.dumps([vars(m) | {"file": str(m.file)} for m in result.mutants], indent=1))


if __name__ == "__main__":
    main()
