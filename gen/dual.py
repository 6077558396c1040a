# SPDX-License-Identifier: MIT
"""Pairs the single instructions of a straight-line block into VOPD, by list scheduling.

A template has one operation per line, in reading order; `schedule` reorders them within
their dependencies so that two halves share an issue slot wherever the rules of VOPD (gen/vopd.py) allow.
Then it orders the slots for the fewest stalls: VALU instructions of a SIMD execute
in the order of dispatch, so one that waits for its source holds up all waves (note T-050).
Comments stay with their instructions, headings with their phases (gen/listing.py).

This module finds dependencies; gen/list_schedule.cpp, a program of the build, tries orders.

Memory instructions and waits keep their order among themselves. A wait names the registers that it makes
ready (`// ready v[v_w:v_w+3]: why`), and no instruction reads them before it.
"""

from __future__ import annotations

import functools
import hashlib
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import listing
import vopd
from files import write_if_changed
from vopd import X_OPS, Half, Op, Parser, form, pair

LATENCY = 5  # cycles from a VALU result to its dependent (note T-050)
SLOW = {"v_dot2acc_f32_bf16": 2}  # cycles of the VALU, where it isn't one (note T-053)
WMMA, WMMA_TO_VALU = 32, 15  # cycles of a WMMA, and from its end to an instruction that reads its result other than as C (note T-054)
Slot = tuple[int, int | None, str]  # an issue slot: an instruction, its partner, and the VOPD text of both


def after(source: Op, op: Op) -> int:
    """Cycles from `source` to `op`, which reads its result."""
    if "wmma" in source.mnemonic:
        return WMMA if op.mnemonic == source.mnemonic and op.operands[0] == source.operands[0] else WMMA + WMMA_TO_VALU
    return 1 if source.ordered else LATENCY


def link(ops: list[Op]) -> None:
    """Fills `before`: true, anti and output dependencies, and program order of memory and waits."""
    writer: dict[str, Op] = {}
    readers: dict[str, list[Op]] = {}
    last_ordered: Op | None = None
    for op in ops:
        for register in op.reads:
            if register in writer:
                op.before[writer[register].index] = after(writer[register], op)
            readers.setdefault(register, []).append(op)
        for register in op.writes:
            for other in [writer.get(register), *readers.get(register, [])]:
                if other is not None and other is not op:
                    op.before.setdefault(other.index, 1)
            writer[register] = op
            readers[register] = [op] if register in op.reads else []
        if op.ordered:
            if last_ordered:
                op.before.setdefault(last_ordered.index, 0)
            last_ordered = op


class Block:
    """Ops with their dependencies, and the ops that may share a slot: none without `pairs`."""

    def __init__(self, lines: tuple[str, ...], symbols: dict[str, int], pairs: bool, banks: int = 4) -> None:
        parser = Parser(symbols, banks)
        self.ops = [parser.op(i, line) for i, line in enumerate(lines)]
        self._halves = {op.index: Half(parser, op) for op in self.ops if pairs and op.dualable}
        link(self.ops)

    def _op(self, op: Op, kind: int) -> str:
        cycles = 0 if op.ordered else WMMA if "wmma" in op.mnemonic else SLOW.get(op.mnemonic, 1)
        before = " ".join([f"{index} {gap}" for index, gap in op.before.items()])
        return f"{op.ordered:d} {cycles} {op.dualable:d} {op.mnemonic not in X_OPS:d} {kind} {len(op.before)} {before}"

    def numbers(self, spread: bool, pairing: bool) -> str:
        """The block as gen/list_schedule.cpp reads it. Ops that depend on each other aren't tried as a pair: their registers don't matter."""
        kinds: dict[vopd.Kind | None, int] = {None: 0}
        of = {index: kinds.setdefault(half.kind, len(kinds)) for index, half in self._halves.items()}
        together = "".join("1 " if form(a, b) or form(b, a) else "0 " for a in kinds for b in kinds)
        ops = " ".join([self._op(op, of.get(op.index, 0)) for op in self.ops])
        return f"{spread:d} {pairing:d} {len(self.ops)} {len(kinds)} {together}{ops}"

    def slot(self, first: int, second: int | None) -> Slot:
        if second is None:
            return first, None, ""
        a, b = self._halves[min(first, second)], self._halves[max(first, second)]
        return first, second, pair(a, b) or pair(b, a) or ""


_scheduler: Path | None = None


def use(scheduler: Path) -> None:
    """Sets the program, gen/list_schedule.cpp's, that makes further schedules."""
    global _scheduler
    _scheduler = scheduler


@functools.cache
def _running(scheduler: Path) -> subprocess.Popen[str]:
    return subprocess.Popen([scheduler], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def schedule_of(block: Block, pairs: bool | None, spread: bool) -> tuple[int, list[Slot]]:
    """Cycles of a schedule, and its slots in issue order."""
    if _scheduler is None:
        raise ValueError("no program for schedules: say which by --scheduler; the build makes it of gen/list_schedule.cpp")
    process = _running(_scheduler)
    process.stdin.write(block.numbers(spread, pairs is not None) + "\n")
    process.stdin.flush()
    cycles, *slots = process.stdout.readline().split()
    if sum(1 + (":" in slot) for slot in slots) != len(block.ops):
        raise ValueError(f"{_scheduler}: a schedule for {len(block.ops)} instructions has {len(slots)} slots")
    both = (slot.partition(":") for slot in slots)
    return int(cycles), [block.slot(int(first), int(second) if second else None) for first, _, second in both]


@functools.cache
def _slots(lines: tuple[str, ...], symbols: tuple[tuple[str, int], ...], pairs: bool | None, spread: bool, banks: int) -> list[Slot]:
    return schedule_of(Block(lines, dict(symbols), bool(pairs), banks), pairs, spread)[1]


_OURSELVES = hashlib.sha256(b"".join(Path(__file__).with_name(name).read_bytes() for name in ("dual.py", "vopd.py", "listing.py", "list_schedule.cpp")))
_kept: Path | None = None


def keep(folder: Path | None) -> None:
    """Sets the folder in which scheduled blocks are cached for later runs of the generator; None: no cache."""
    global _kept
    _kept = folder


def _issued(lines: tuple[str, ...], first: int, partner: int | None, both: str) -> tuple[tuple[int, ...], str]:
    if partner is None:
        return (first,), vopd.single(vopd.instruction(lines[first])[0])
    return (first, partner), both


@functools.cache
def _scheduled(text: str, vectors: tuple[tuple[str, int], ...], pairs: bool | None, spread: bool, banks: int) -> str:
    source = listing.Source(text)
    lines = tuple(f"{code} // ready {made}" if made else code for code, made in map(vopd.instruction, source.lines))
    names = sorted(set(re.findall(r"\bs_[a-z]\w*\b(?=[+:\]-])", "\n".join(lines))))
    scalars = tuple((name, 8 * i) for i, name in enumerate(names))
    return listing.scheduled(source, [_issued(lines, *slot) for slot in _slots(lines, vectors + scalars, pairs, spread, banks)])


def schedule(text: str, symbols: dict[str, int], pairs: bool | None = True, spread: bool = True, banks: int = 4) -> str:
    """The block with its halves paired: few VALU slots, and among such orders the fewest stall cycles. `pairs` false: only
    reordered, to measure the gain of pairing; None: the target has no VOPD. `spread` false: slots stay in the order of pairing, with its stalls,
    as in compiled code (note T-058). `banks`: of the target (gen/vopd.py).

    Cached: targets that differ only in their SGPR numbers share one schedule.
    """
    vectors = tuple((name, symbols[name]) for name in sorted(set(re.findall(r"\bv_\w+", text))) if name in symbols)
    if _kept is None:
        return _scheduled(text, vectors, pairs, spread, banks)
    of = _OURSELVES.copy()
    of.update(repr((vectors, pairs, spread, banks, text)).encode())
    key = of.hexdigest()
    file = _kept / key[:2] / key[2:]
    try:
        return file.read_text()
    except FileNotFoundError:
        out = _scheduled(text, vectors, pairs, spread, banks)
        write_if_changed(file, out)  # whole or not at all: other processes read it
        return out
