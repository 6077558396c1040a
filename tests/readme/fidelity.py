# SPDX-License-Identifier: MIT
"""host/sim/fidelity.md: what of the simulated GPU is as hardware has it, from `nw isa`, its tables, and the notes' titles."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "gen"))
import targets  # noqa: E402

STATES = ("exact", "approximate", "open", "missing", "out of scope")
CHECKERS = {"both": "`wait` checker, `nw lint`", "lint": "`nw lint`", "note": "`nw lint`, as a note"}
HAZARD = re.compile(r'^HAZARD\(\w+,\s*"(H-\d+)",\s*(\w+),\s*\w+,\s*(\w+), "([^"]*)"', re.MULTILINE)
RULE = re.compile(r'^RULE\(\w+,\s*"([A-Z]-\d+)",\s*(\w+),\s*"([^"]*)"\)', re.MULTILINE)
TARGETS = {"all_but_gfx103x": "all but gfx103x", "since_gfx11": "gfx11, gfx12"}


def states(build: Path, gfx: str) -> dict[str, tuple[str, str]]:
    """Mnemonic -> state and remark."""
    said = subprocess.run([build / "bin/nw", "isa", "--gfx", gfx], check=True, capture_output=True, text=True).stdout
    rows = [line.split(None, 1) for line in said.splitlines()[:-1]]
    out = {}
    for mnemonic, text in rows:
        state, _, remark = text.partition(": ")
        out[mnemonic] = (state, remark)
    return out


def note(name: str) -> str:
    """Its title, linked."""
    (path,) = (ROOT / "isa_notes").glob(f"{name}-*.md")
    title = path.read_text().partition("\n")[0].removeprefix(f"# {name}").strip()
    return f"[{name}](../../isa_notes/{path.name}) {title}"


def counted(every: dict[str, dict[str, tuple[str, str]]]) -> list[str]:
    out = [f"| target | {' | '.join(STATES)} |", "|---" * (len(STATES) + 1) + "|"]
    for gfx, rows in every.items():
        found = [state for state, _ in rows.values()]
        out.append(f"| {gfx} | {' | '.join(str(found.count(state)) for state in STATES)} |")
    return out


def not_exact(every: dict[str, dict[str, tuple[str, str]]]) -> list[str]:
    """A row for each note on which a result rests."""
    notes: dict[tuple[str, str, str], set[str]] = {}
    for rows in every.values():
        for mnemonic, (state, remark) in rows.items():
            if state in ("approximate", "open"):
                name, _, bound = remark.partition(", ")
                notes.setdefault((name, state, bound), set()).add(mnemonic)
    out = ["| note | state | instructions |", "|---|---|---|"]
    for (name, state, bound), mnemonics in sorted(notes.items()):
        shown = ", ".join(f"`{one}`" for one in sorted(mnemonics))
        out.append(f"| {note(name)} | {state}{f', {bound}' if bound else ''} | {shown} |")
    return out


def functions() -> list[str]:
    text = (ROOT / "host/sim/hip/entry_points.inc").read_text()
    simulated = len(re.findall(r"^HIP_ENTRY\(", text, re.MULTILINE))
    missing = re.findall(r"^HIP_MISSING\([\w.]+, (\w+)", text, re.MULTILINE)
    return [f"{simulated} functions are simulated. {len(missing)} return `hipErrorNotSupported`, with a line on stderr: {', '.join(missing)}."]


def hazards() -> list[str]:
    out = ["| hazard | targets | found by |", "|---|---|---|"]
    found = HAZARD.findall((ROOT / "host/sim/isa/hazards/hazards.inc").read_text())
    out += [f"| {note(name)} | {TARGETS.get(where, where)} | {CHECKERS[who]} |" for name, where, who, _ in found]
    return out


def rules() -> list[str]:
    out = ["| rule | severity | finding |", "|---|---|---|"]
    out += [f"| {name} | {severity} | {title} |" for name, severity, title in sorted(RULE.findall((ROOT / "host/lint/rules.inc").read_text()))]
    return out


def lines(build: Path) -> list[str]:
    every = {t.name: states(build, t.name) for t in targets.read(ROOT / "gen/targets.toml").supported}
    parts = [("Instructions", counted(every)), ("Not exact", not_exact(every)), ("HIP", functions()), ("Hazards", hazards()),
             ("Other rules of nw lint", rules())]  # fmt: skip
    return "\n\n".join(f"## {title}\n\n" + "\n".join(part) for title, part in parts).splitlines()
