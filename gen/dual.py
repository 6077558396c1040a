# SPDX-License-Identifier: MIT
"""Pairs the single instructions of a straight-line block into VOPD, by list scheduling.

A template writes one operation per line, in the order a person would; `schedule` reorders them within
their dependencies so that two halves share an issue slot wherever the rules of VOPD (gen/vopd.py) allow.
Then it puts the slots into the order in which they wait least for each other: VALU instructions of a SIMD execute
in the order of dispatch, so one that waits for its source holds up all waves (note T-050).
Comments stay with their instructions, headings with their phases (gen/listing.py).

Memory instructions and waits keep their order among themselves. A wait says which registers it makes
ready (`// ready v[v_w:v_w+3]: why`), and nothing reads those before it.
"""

from __future__ import annotations

import functools
import hashlib
import math
import os
import re
from bisect import insort
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from pathlib import Path

import listing
import vopd
from vopd import X_OPS, Half, Op, Parser, pair

LATENCY = 5  # cycles from a VALU result to its dependent (note T-050)
SLOW = {"v_dot2acc_f32_bf16": 2}  # cycles of the VALU, where it isn't one (note T-053)
WMMA, WMMA_TO_VALU = 32, 15  # the same of WMMA, and from its end to what reads its result, but as C (note T-054)
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
    """Ops with their dependencies turned round, and which of them may share a slot: none without `pairs`."""

    def __init__(self, lines: tuple[str, ...], symbols: dict[str, int], pairs: bool) -> None:
        parser = Parser(symbols)
        self.ops = [parser.op(i, line) for i, line in enumerate(lines)]
        self._halves = {op.index: Half(parser, op) for op in self.ops if pairs and op.dualable}
        link(self.ops)
        self.ordered = [op.ordered for op in self.ops]
        self.dualable = [op.dualable for op in self.ops]
        self.y_only = [op.mnemonic not in X_OPS for op in self.ops]
        self.takes = [0 if op.ordered else WMMA if "wmma" in op.mnemonic else SLOW.get(op.mnemonic, 1) for op in self.ops]
        self.after: list[list[tuple[int, int]]] = [[] for _ in self.ops]
        for op in self.ops:
            for index, gap in op.before.items():
                self.after[index].append((op.index, gap))
        self.pairs: list[dict[int, str | None]] = [{} for _ in self.ops]  # of each op, what `together` found for others

    def together(self, first: int, second: int) -> str | None:
        """VOPD text of two ops, in either order; None where there is none. Kept in `pairs`, where Plan.choose looks first."""
        a, b = self._halves.get(min(first, second)), self._halves.get(max(first, second))
        text = (pair(a, b) or pair(b, a)) if a and b else None
        self.pairs[first][second] = self.pairs[second][first] = text
        return text


@dataclass(frozen=True)
class Plan:
    window: int  # how many lines ahead of the first unissued one may issue
    eager: bool  # look for a pair further on before issuing a lone half
    y_first: bool  # the halves that fit only Y choose their partner first
    patience: int  # cycles of a result's latency that are left to other instructions to fill

    def choose(self, block: Block, current: list[int]) -> Slot:
        """What issues next of the ops that can: (op, partner, VOPD text)."""
        if block.ordered[current[0]]:
            return current[0], None, ""
        halves = [i for i in current if block.dualable[i]]
        firsts = halves if self.eager else [i for i in halves if i == current[0]]
        if self.y_first:
            halves = [*(i for i in halves if block.y_only[i]), *(i for i in halves if not block.y_only[i])]
            firsts = halves if self.eager else firsts
        for first in firsts:
            known = block.pairs[first]
            for other in halves:
                if other != first and (text := known[other] if other in known else block.together(first, other)):
                    return first, other, text
        whole = (i for i in current if not block.dualable[i] and not block.ordered[i])
        return next(whole, current[0]), None, ""


def attempt(block: Block, plan: Plan, most: float = math.inf) -> tuple[int, list[Slot]] | None:
    """One list schedule: how many VALU slots, and what issues in which order; None if that takes more than `most` slots."""
    missing = [len(op.before) for op in block.ops]
    ready_at = [0] * len(missing)
    end = min(plan.window, len(missing))  # of the window: each op that issues lets one more in
    later = [(0, i) for i in range(end) if not missing[i]]  # ops of the window whose sources have issued, by when they are there
    there: list[int] = []  # those whose results are there now, in their order
    now, slots, order = 0, 0, []
    while there or later:
        while later and later[0][0] <= now:
            insort(there, heappop(later)[1])
        current, soonest = there, now
        if not there:
            soonest = later[0][0]
            current = sorted(i for at, i in later if at <= soonest)
        chosen, partner, text = plan.choose(block, current)
        order.append((chosen, partner, text))
        both = (chosen,) if partner is None else (chosen, partner)
        if current is there:
            for done in both:
                there.remove(done)
        else:
            later = [(at, i) for at, i in later if i not in both]
            heapify(later)
        slot = not block.ordered[chosen]
        if slot:
            now = soonest
            slots += 1
            if slots > most:
                return None
        for done in both:
            for index, gap in block.after[done]:
                missing[index] -= 1
                at = now + (gap if gap < plan.patience else plan.patience)
                if ready_at[index] < at:
                    ready_at[index] = at
                if not missing[index] and index < end:
                    heappush(later, (ready_at[index], index))
        for index in range(end, min(end + len(both), len(missing))):
            if not missing[index]:
                heappush(later, (ready_at[index], index))
        end = min(end + len(both), len(missing))
        now += slot
    return slots, order


class Slots:
    """The slots of a schedule, to be put into another order: a list of their numbers."""

    def __init__(self, block: Block, order: list[Slot]) -> None:
        self.order = order
        members = [(a,) if b is None else (a, b) for a, b, _ in order]
        of = {op: slot for slot, ops in enumerate(members) for op in ops}
        self._takes = [max(block.takes[i] for i in ops) for ops in members]
        self._ordered = [block.ordered[ops[0]] for ops in members]
        self._missing = [0] * len(order)
        self._after: list[list[tuple[int, int]]] = []
        for slot, ops in enumerate(members):
            following: dict[int, int] = {}
            for op in ops:
                for index, gap in block.after[op]:
                    if (other := of[index]) != slot and gap > following.get(other, -1):
                        following[other] = gap
            for other in following:
                self._missing[other] += 1
            self._after.append(list(following.items()))
        self._left = [0] * len(order)  # cycles from a slot to the end of all that waits for it
        for slot in reversed(range(len(order))):
            self._left[slot] = max([gap + self._left[i] for i, gap in self._after[slot]], default=0)

    def cycles(self, order: Iterable[int], most: float = math.inf) -> float:
        """Cycles of the VALU that one wave alone keeps: those of its slots, and those in which a result isn't there yet.
        `most`, if they aren't fewer."""
        takes, after, ready_at = self._takes, self._after, [0] * len(self._takes)
        now, spare = 0, most - sum(takes)
        for slot in order:
            if ready_at[slot] > now:
                spare -= ready_at[slot] - now
                if spare <= 0:
                    return most
                now = ready_at[slot]
            for i, gap in after[slot]:
                if ready_at[i] < now + gap:
                    ready_at[i] = now + gap
            now += takes[slot]
        return now

    def spread(self, window: int, longest: bool, most: float = math.inf) -> list[int] | None:
        """What depends on each other further apart: of the first `window` slots left the first whose sources are there, or the
        one with the longest chain behind it. Memory instructions and waits issue when they are the first left.
        None if that can't take fewer than `most` cycles."""
        after, takes, ordered, count = self._after, self._takes, self._ordered, len(self._takes)
        missing, ready_at, issued = list(self._missing), [0] * count, [False] * count
        urgency = [-left for left in self._left] if longest else [0] * count
        later: list[tuple[int, int]] = []  # slots of the window whose sources have issued, by when those are there
        there: list[tuple[int, int]] = []  # those whose sources are there, the next one first
        oldest, end, now, spare, out = 0, 0, 0, most - sum(takes), []
        for _ in range(count):
            while end < count and end < window + len(out):
                if not missing[end] and not ordered[end]:
                    heappush(later, (ready_at[end], end))
                end += 1
            while issued[oldest]:
                oldest += 1
            chosen = oldest
            if not ordered[oldest]:
                while later and later[0][0] <= now:
                    i = heappop(later)[1]
                    heappush(there, (urgency[i], i))
                if there:
                    chosen = heappop(there)[1]
                else:
                    at, chosen = heappop(later)
                    spare -= at - now
                    now = at
                if spare <= 0:
                    return None
            out.append(chosen)
            issued[chosen] = True
            for i, gap in after[chosen]:
                missing[i] -= 1
                if ready_at[i] < now + gap:
                    ready_at[i] = now + gap
                if not missing[i] and i < end and not ordered[i]:
                    heappush(later, (ready_at[i], i))
            now += takes[chosen]
        return out


# No plan wins everywhere; these found the fewest slots of all combinations on at least one kernel.
PLANS = [
    Plan(80, True, True, 1), Plan(48, True, True, 1), Plan(32, True, True, 1), Plan(20, True, True, 1),
    Plan(12, False, True, 1), Plan(80, True, False, 1), Plan(80, True, False, 3), Plan(12, False, True, 5),
]

# Where there is no VOPD, one is as good as all of them, but for 0.6 % of the cycles of the worst of nine blocks.
LONE_PLAN, LONE_SPREAD = Plan(200, True, True, 5), (200, True)

FEW_MORE = 1.06  # so many times the fewest slots, if they wait less
# As PLANS, of the orders in which slots issue: how far ahead, and whether long chains go first.
SPREADS = [(n, longest) for n in (8, 16, 32, 64, 200) for longest in (False, True)]


def _paired(block: Block, more: float) -> list[Slots]:
    """The schedules of PLANS, each once, that take at most `more` times the fewest slots; those with few slots first."""
    fewest, found = math.inf, []
    for plan in PLANS:
        done = attempt(block, plan, fewest * more)
        if done and done not in found:
            found.append(done)
            fewest = min(fewest, done[0])
    found.sort(key=lambda done: done[0])
    return [Slots(block, order) for slots, order in found if slots <= fewest * more]


@functools.cache
def _slots(lines: tuple[str, ...], symbols: tuple[tuple[str, int], ...], pairs: bool | None, spread: bool) -> list[Slot]:
    block = Block(lines, dict(symbols), bool(pairs))
    if pairs is None:
        slots = Slots(block, attempt(block, LONE_PLAN)[1])
        return [slots.order[i] for i in slots.spread(*LONE_SPREAD)] if spread else slots.order
    found = _paired(block, FEW_MORE if spread else 1)
    least, best = math.inf, []
    for slots in found:
        as_paired = range(len(slots.order))
        if (cycles := slots.cycles(as_paired, least)) < least:
            least, best = cycles, slots.order
    for slots in found if spread else []:
        for window, longest in SPREADS:
            order = slots.spread(window, longest, least)
            if order and (cycles := slots.cycles(order, least)) < least:
                least, best = cycles, [slots.order[i] for i in order]
    return best


_OURSELVES = Path(__file__).read_text() + Path(vopd.__file__).read_text()
_kept: Path | None = None


def keep(folder: Path | None) -> None:
    """From here on schedules are kept in files of this folder, for later runs of the generator; None: no longer."""
    global _kept
    _kept = folder


def _written(slots: list[Slot]) -> str:
    """A line is a slot: its instruction, or both and their text."""
    return "".join(f"{a}\n" if b is None else f"{a} {b} {text}\n" for a, b, text in slots)


def _read(text: str) -> Iterator[Slot]:
    for line in text.splitlines():
        first, _, rest = line.partition(" ")
        partner, _, both = rest.partition(" ")
        yield int(first), int(partner) if partner else None, both


def _kept_slots(lines: tuple[str, ...], symbols: tuple[tuple[str, int], ...], pairs: bool | None, spread: bool) -> list[Slot]:
    if _kept is None:
        return _slots(lines, symbols, pairs, spread)
    key = hashlib.sha256(repr((_OURSELVES, lines, symbols, pairs, spread)).encode()).hexdigest()
    file = _kept / key[:2] / key[2:]
    try:
        return list(_read(file.read_text()))
    except FileNotFoundError:
        out = _slots(lines, symbols, pairs, spread)
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_name(f"{file.name}.{os.getpid()}")
        part.write_text(_written(out))
        part.replace(file)  # whole or not at all: other processes read it
        return out


def _issued(lines: tuple[str, ...], first: int, partner: int | None, both: str) -> tuple[tuple[int, ...], str]:
    if partner is None:
        return (first,), vopd.single(vopd.instruction(lines[first])[0])
    return (first, partner), both


def schedule(text: str, symbols: dict[str, int], pairs: bool | None = True, spread: bool = True) -> str:
    """The block with its halves paired: few VALU slots, and of such orders the fewest stall cycles. `pairs` false: only
    reordered, to see what pairing is worth; None: as there is no VOPD. `spread` false: slots stay as pairing left them, stalls and all, which is
    what a stand-in for compiled code wants (note T-058).

    Cached by instructions, whatever their comments: targets that differ only in their SGPR numbers share one schedule.
    """
    source = listing.Source(text)
    lines = tuple(f"{code} // ready {made}" if made else code for code, made in map(vopd.instruction, source.lines))
    code = "\n".join(lines)
    named = set(re.findall(r"\bv_\w+", code))
    vectors = {name: number for name, number in symbols.items() if name in named}
    scalar_names = sorted(set(re.findall(r"\bs_[a-z]\w*\b(?=[+:\]-])", code)))
    scalar = {name: 8 * i for i, name in enumerate(scalar_names)}
    slots = _kept_slots(lines, tuple((vectors | scalar).items()), pairs, spread)
    return listing.scheduled(source, [_issued(lines, *slot) for slot in slots])
