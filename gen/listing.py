# SPDX-License-Identifier: MIT
"""Layout of a rendered file: the comments of a scheduled block, and blank lines."""

from __future__ import annotations

import re
from collections.abc import Iterator

CODE_WIDTH = 63


class Source:
    """A block as its template wrote it. A line that is all comment is a heading: a phase of the block begins there."""

    def __init__(self, text: str) -> None:
        self.lines: list[str] = []  # instructions with their comments
        self.words: list[str] = []  # the comments alone
        self.phases: list[int] = []  # for each instruction: the number of headings above it
        self.headings: list[list[str]] = []  # lines of each
        began = False
        for line in filter(str.strip, text.splitlines()):
            code, _, comment = line.partition("//")
            if code.strip():
                self.lines.append(line)
                self.words.append(comment.strip())
                self.phases.append(len(self.headings))
                began = False
            elif began:
                self.headings[-1].append(comment.strip())
            else:
                self.headings.append([comment.strip()])
                began = True

    def label(self, phase: int) -> str:
        """A phase's name: its heading up to the colon."""
        return self.headings[phase - 1][0].partition(":")[0] if phase else "begin"


Slots = list[tuple[tuple[int, ...], str]]  # in order of issue: which instructions, and their text


def heading_places(phases: list[int], slots: Slots, count: int) -> list[int]:
    """For each heading the slot it stands before, so that the fewest instructions are on the wrong side of it."""
    places = []
    of_slots = [[phases[i] for i in done] for done, _ in slots]
    for heading in range(1, count + 1):
        wrong = best = sum([phase < heading for phase in phases])  # before the first slot: all of earlier phases
        place = 0
        for at, here in enumerate(of_slots, 1):
            for phase in here:
                wrong += 1 if phase >= heading else -1
            if wrong < best:
                best, place = wrong, at
        places.append(place)
    return places


def emit(text: str, comment: str) -> str:
    mnemonic, _, rest = text.partition(" ")
    line = f"        {mnemonic:<15} {rest.strip()}".rstrip()
    return f"{line:<{CODE_WIDTH}} // {comment}" if comment else line


def _lines(source: Source, slots: Slots) -> Iterator[str]:
    places = heading_places(source.phases, slots, len(source.headings))
    here = 0
    for at, (done, text) in enumerate(slots):
        while here < len(places) and places[here] == at:
            yield from (f"        // {line}" for line in source.headings[here])
            here += 1
        words = []
        for i in done:
            elsewhere = f"[{source.label(source.phases[i])}]" if source.phases[i] != here else ""
            words.append(f"{source.words[i]} {elsewhere}".strip())
        yield emit(text, "; ".join(filter(None, dict.fromkeys(words))))


def scheduled(source: Source, slots: Slots) -> str:
    """The block in its new order. Each comment stays with its instruction; a heading stands where most of its phase begins,
    and an instruction that issues among another phase's names its own in brackets."""
    return "\n".join(_lines(source, slots)) + "\n"


INSTRUCTION = re.compile(r"\s+[a-z]|\.set ")


def tidy(text: str) -> str:
    """Removes blank lines at the beginning, in a row, or before an instruction or register: macros without output leave them
    in templates."""
    out: list[str] = []
    for line in map(str.rstrip, text.strip().splitlines()):
        if line and out and not out[-1] and INSTRUCTION.match(line):
            out.pop()
        if line or out and out[-1]:
            out.append(line)
    return "\n".join(out) + "\n"
