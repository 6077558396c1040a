# SPDX-License-Identifier: MIT
"""Bodies of kernels that several targets share: rendered for one, reused by the others.

A body depends on its kernel's parameters, on its templates, on the generator, and on the facts of the target that were
read while it was rendered. build/asm/<gfx>/<family>.json keeps these beside the .s files; a body whose facts are equal on
another target is the same there, but for the name of the target and the waits of its series."""

from __future__ import annotations

import functools
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from catalogue import Kernel
from emit_header import RULER
from files import write_if_changed
from series_waits import without_waits


@dataclass(frozen=True)
class Body:
    text: str  # without the waits of its series
    vgprs: int
    sgprs: int
    lds_bytes: int
    facts: Mapping[str, object]  # of the target, that it depends on
    templates: list[str]  # that it was rendered from, perhaps more
    sides: list[str]  # of their conditions that were taken (gen/cover.py)


class Recorder(dict):
    """Facts of a target, which records the facts that were read."""

    def __init__(self, facts: Mapping[str, object]) -> None:
        super().__init__(facts)
        self.read: dict[str, object] = {}

    def __getitem__(self, name: str) -> object:
        value = super().__getitem__(name)
        self.read[name] = value
        return value


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@functools.cache
def generator() -> str:
    return digest("".join(file.read_text() for file in sorted(Path(__file__).parent.glob("*.py"))))


def body_of(text: str) -> str:
    return without_waits(text.split(RULER + "\n", 2)[2])


def renamed(text: str, gfx: str, other: str) -> str:
    """The text for `gfx` with the name of target `other`."""
    return re.sub(rf"{gfx}\b", other, text)


class Shared:
    """Shared bodies of one family during one run of the generator."""

    def __init__(self, root: Path, build: Path, family: str, contract: list[Path]) -> None:
        self._root, self._build, self._family = root, build, family
        self._contract = digest("".join(file.read_text() for file in contract)) + generator()
        self._rows: dict[str, dict] = {}
        self._others = {file.parent.name: json.loads(file.read_text()) for file in sorted(build.glob(f"asm/*/{family}.json"))}
        self._templates: dict[str, str] = {}

    def _digest_of(self, template: str) -> str:
        if template not in self._templates:
            file = self._root / "asm" / template
            self._templates[template] = digest(file.read_text()) if file.exists() else ""
        return self._templates[template]

    def _inputs(self, k: Kernel, templates: list[str]) -> str:
        return digest(repr((self._contract, sorted(k.params.items()), k.purpose, [(t, self._digest_of(t)) for t in templates])))

    def _candidates(self, symbol: str) -> Iterator[tuple[str, dict]]:
        yield from ((gfx, rows[symbol]) for gfx, rows in self._others.items() if symbol in rows)

    def find(self, k: Kernel, arch: Mapping[str, object]) -> Body | None:
        for gfx, row in self._candidates(k.symbol):
            if any(arch[name] != value for name, value in row["facts"].items()) or row["inputs"] != self._inputs(k, row["templates"]):
                continue
            try:
                text = body_of((self._build / "asm" / gfx / f"{k.symbol}.s").read_text())
            except (OSError, IndexError):
                continue
            if digest(text) == row["text"]:  # else it is being rendered anew
                return Body(renamed(text, gfx, k.gfx), *row["resources"], row["facts"], row["templates"], row["sides"])
        return None

    def keep(self, k: Kernel, body: Body) -> None:
        self._rows[k.symbol] = {
            "inputs": self._inputs(k, body.templates), "templates": body.templates, "facts": dict(body.facts), "text": digest(body.text),
            "resources": [body.vgprs, body.sgprs, body.lds_bytes], "sides": body.sides,
        }  # fmt: skip

    def templates(self) -> list[Path]:
        return [self._root / "asm" / name for name in sorted(self._templates)]

    def write(self, gfx: str, symbols: set[str]) -> None:
        rows = {symbol: row for symbol, row in self._rows.items() if symbol in symbols}
        write_if_changed(self._build / "asm" / gfx / f"{self._family}.json", json.dumps(rows) + "\n")
