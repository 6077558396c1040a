# SPDX-License-Identifier: MIT
"""Pairs the single instructions of a straight-line block into VOPD, by list scheduling.

A template writes one operation per line, in the order a person would; `schedule` reorders them within
their dependencies so that two halves share an issue slot wherever the rules of VOPD (note H-001) allow.
Operands keep the text they were written with, so the result reads like the source.

Memory instructions and waits keep their order among themselves. A wait says which registers it makes
ready (`// ready v[v_w:v_w+3]: why`), and nothing reads those before it.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

# VOPD opcodes: X takes these, Y takes them and the three integer ones.
X_OPS = {"v_dot2acc_f32_f16", "v_dot2acc_f32_bf16", "v_fmac_f32", "v_mul_f32", "v_add_f32", "v_sub_f32", "v_mov_b32"}
Y_OPS = X_OPS | {"v_and_b32", "v_lshlrev_b32", "v_add_nc_u32"}
COMMUTES = {"v_dot2acc_f32_f16", "v_dot2acc_f32_bf16", "v_fmac_f32", "v_mul_f32", "v_add_f32", "v_and_b32"}
ACCUMULATES = {"v_dot2acc_f32_f16", "v_dot2acc_f32_bf16", "v_fmac_f32"}
# The accumulating dots have no single form on every target: alone they are the three-source VOP3P.
ALONE = {"v_dot2acc_f32_f16": "v_dot2_f32_f16", "v_dot2acc_f32_bf16": "v_dot2_f32_bf16"}
LATENCY = 5  # cycles from a VALU result to its dependent (note T-001)

OPERAND = re.compile(r"(?P<bank>[vs])(?:(?P<plain>\d+)|\[(?P<first>[^:\]]+)(?::(?P<last>[^\]]+))?\])")


@dataclass
class Op:
    index: int
    mnemonic: str
    operands: list[str]
    comment: str
    text: str
    ordered: bool = False  # memory and waits
    writes: frozenset[str] = frozenset()
    reads: frozenset[str] = frozenset()
    before: dict[int, int] = field(default_factory=dict)  # predecessor -> cycles to leave between

    @property
    def dualable(self) -> bool:
        return self.mnemonic in Y_OPS


class Parser:
    def __init__(self, symbols: dict[str, int]) -> None:
        self._symbols = symbols

    def number(self, text: str) -> int:
        """Value of `v_acc+3`: a symbol or a number, plus or minus numbers."""
        total = 0
        for sign, term in re.findall(r"([+-]?)\s*([\w.]+)", text):
            value = int(term) if term.isdigit() else self._symbols[term]
            total += -value if sign == "-" else value
        return total

    def registers(self, text: str) -> set[str]:
        found: set[str] = set()
        for m in OPERAND.finditer(text):
            first = self.number(m["plain"] or m["first"])
            last = self.number(m["last"]) if m["last"] else first
            found |= {f"{m['bank']}{i}" for i in range(first, last + 1)}
        return found

    def op(self, index: int, line: str) -> Op:
        code, _, comment = line.partition("//")
        mnemonic, _, rest = code.strip().partition(" ")
        operands = [part.strip() for part in re.split(r",(?![^\[]*\])", rest)] if rest.strip() else []
        op = Op(index, mnemonic, operands, comment.strip(), line.strip())
        if mnemonic.startswith(("s_wait", "s_waitcnt")):
            made = re.match(r"ready ((?:, |v\[[^\]]*\]|v\d+)+)", op.comment)
            if not made:
                raise ValueError(f"a wait in a scheduled block says what it makes ready: {line.strip()}")
            op.ordered, op.writes = True, frozenset(self.registers(made[1]))
        elif mnemonic.startswith(("global_", "ds_")):
            op.ordered = True
            stores = "_store" in mnemonic
            op.writes = frozenset() if stores else frozenset(self.registers(operands[0]))
            op.reads = frozenset(self.registers(" ".join(operands if stores else operands[1:])))
        elif mnemonic.startswith("v_"):
            op.writes = frozenset(self.registers(operands[0]))
            op.reads = frozenset(self.registers(" ".join(operands[1:])))
            if mnemonic in ACCUMULATES:
                op.reads |= op.writes
        else:
            raise ValueError(f"a scheduled block holds VALU, memory and waits only, not: {line.strip()}")
        return op


def link(ops: list[Op]) -> None:
    """Fills `before`: true, anti and output dependencies, and program order of memory and waits."""
    writer: dict[str, Op] = {}
    readers: dict[str, list[Op]] = {}
    last_ordered: Op | None = None
    for op in ops:
        for register in op.reads:
            if register in writer:
                source = writer[register]
                op.before[source.index] = 1 if source.ordered else LATENCY
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


def bank(parser: Parser, operand: str, size: int) -> int | None:
    """VGPR bank (or parity) of an operand; None for constants and SGPRs."""
    m = OPERAND.fullmatch(operand)
    return parser.number(m["plain"] or m["first"]) % size if m and m["bank"] == "v" else None


def scalars(parser: Parser, op_sources: list[str]) -> tuple[set[str], set[str]]:
    """(SGPRs, literals) among sources; inline constants are free."""
    sgprs, literals = set(), set()
    for source in op_sources:
        m = OPERAND.fullmatch(source)
        if m is None:
            inline = re.fullmatch(r"-?\d+", source) and -16 <= int(source) <= 64
            inline = inline or source in {"0.5", "1.0", "2.0", "4.0", "-0.5", "-1.0", "-2.0", "-4.0"}
            if not inline:
                literals.add(source)
        elif m["bank"] == "s":
            sgprs |= parser.registers(source)
    return sgprs, literals


def orders(op: Op) -> list[list[str]]:
    """The ways to write an op's sources: vsrc1 must be a VGPR, so only VGPRs swap."""
    sources = op.operands[1:]
    if op.mnemonic in COMMUTES and all(source.startswith("v") for source in sources):
        return [sources, sources[::-1]]
    return [sources]


class Half:
    """What the rules of VOPD ask of an op that may be half of a pair; asked for each partner that is tried."""

    def __init__(self, parser: Parser, op: Op) -> None:
        self.reads, self.writes = op.reads, op.writes
        self.may_be_x = op.mnemonic in X_OPS
        self.parity = bank(parser, op.operands[0], 2)
        self.sgprs, self.literals = scalars(parser, op.operands[1:])
        name = op.mnemonic.replace("v_", "v_dual_", 1)
        self.forms = [
            (f"{name} {', '.join([op.operands[0], *sources])}", [bank(parser, source, 4) for source in sources])
            for sources in orders(op)
        ]


def pair(x: Half, y: Half) -> str | None:
    """`x :: y` as VOPD text, or None where a rule of VOPD forbids it (note H-001)."""
    if not x.may_be_x or x.parity == y.parity:
        return None
    if x.writes & y.reads or x.writes & y.writes or y.writes & x.reads:
        return None
    literals = len(x.literals | y.literals)
    if literals > 1 or literals + len(x.sgprs | y.sgprs) > 2:
        return None
    for x_text, x_banks in x.forms:
        for y_text, y_banks in y.forms:
            if all(a is None or a != b for a, b in zip(x_banks, y_banks)):
                return f"{x_text} :: {y_text}"
    return None


def single(op: Op) -> str:
    if op.mnemonic in ALONE:
        return f"{ALONE[op.mnemonic]} {', '.join([*op.operands, op.operands[0]])}"
    return op.text.partition("//")[0].strip()


def emit(text: str, comment: str) -> str:
    mnemonic, _, rest = text.partition(" ")
    line = f"        {mnemonic:<15} {rest.strip()}".rstrip()
    return f"{line:<63} // {comment}" if comment else line


class Block:
    """Ops with their dependencies turned round, and which of them may share a slot: none without `pairs`."""

    def __init__(self, text: str, symbols: dict[str, int], pairs: bool) -> None:
        parser = Parser(symbols)
        lines = [line for line in text.splitlines() if line.split("//")[0].strip()]
        self.ops = [parser.op(i, line) for i, line in enumerate(lines)]
        self._halves = {op.index: Half(parser, op) for op in self.ops if pairs and op.dualable}
        link(self.ops)
        self.ordered = [op.ordered for op in self.ops]
        self.dualable = [op.dualable for op in self.ops]
        self.y_only = [op.mnemonic not in X_OPS for op in self.ops]
        self.after: list[list[tuple[int, int]]] = [[] for _ in self.ops]
        for op in self.ops:
            for index, gap in op.before.items():
                self.after[index].append((op.index, gap))
        self._pairs: dict[tuple[int, int], str | None] = {}

    def together(self, first: int, second: int) -> str | None:
        """VOPD text of two ops, either way round."""
        key = (first, second) if first < second else (second, first)
        if key not in self._pairs:
            a, b = (self._halves.get(i) for i in key)
            self._pairs[key] = (pair(a, b) or pair(b, a)) if a and b else None
        return self._pairs[key]


@dataclass(frozen=True)
class Plan:
    window: int  # how many lines ahead of the first unissued one may issue
    eager: bool  # look for a pair further on before issuing a lone half
    y_first: bool  # the halves that fit only Y choose their partner first
    patience: int  # cycles of a result's latency that are left to other instructions to fill

    def choose(self, block: Block, current: list[int]) -> tuple[int, int | None, str]:
        """What issues next of the ops that can: (op, partner, VOPD text)."""
        if block.ordered[current[0]]:
            return current[0], None, ""
        halves = [i for i in current if block.dualable[i]]
        firsts = halves if self.eager else [i for i in halves if i == current[0]]
        if self.y_first:
            halves = [*(i for i in halves if block.y_only[i]), *(i for i in halves if not block.y_only[i])]
            firsts = halves if self.eager else firsts
        for first in firsts:
            for other in halves:
                if other != first and (text := block.together(first, other)):
                    return first, other, text
        whole = (i for i in current if not block.dualable[i] and not block.ordered[i])
        return next(whole, current[0]), None, ""


def attempt(block: Block, plan: Plan) -> tuple[int, list[tuple[int, int | None, str]]]:
    """One list schedule: its cost (VALU slots first, then cycles) and what issues in which order."""
    missing = [len(op.before) for op in block.ops]
    ready_at = [0] * len(missing)
    left = list(range(len(missing)))
    now, slots, order = 0, 0, []
    while left:
        view = [i for i in left[: plan.window] if not missing[i]]
        soonest = max(now, min([ready_at[i] for i in view]))
        chosen, partner, text = plan.choose(block, [i for i in view if ready_at[i] <= soonest])
        order.append((chosen, partner, text))
        slot = not block.ordered[chosen]
        if slot:
            now = soonest
            slots += 1
        for done in (chosen,) if partner is None else (chosen, partner):
            left.remove(done)
            for index, gap in block.after[done]:
                missing[index] -= 1
                at = now + (gap if gap < plan.patience else plan.patience)
                if ready_at[index] < at:
                    ready_at[index] = at
        now += slot
    return slots * 10000 + cycles(block, order), order


def cycles(block: Block, order: list[tuple[int, int | None, str]]) -> int:
    """Issue cycles of one wave alone: a slot each, and the stalls of dependent results."""
    now, ready_at = 0, [0] * len(block.ops)
    for chosen, partner, _ in order:
        both = (chosen,) if partner is None else (chosen, partner)
        for i in both:
            if ready_at[i] > now:
                now = ready_at[i]
        for i in both:
            for index, gap in block.after[i]:
                if ready_at[index] < now + gap:
                    ready_at[index] = now + gap
        now += not block.ordered[chosen]
    return now


def lines(block: Block, order: list[tuple[int, int | None, str]]) -> Iterator[str]:
    for chosen, partner, text in order:
        done = [block.ops[i] for i in (chosen, partner) if i is not None]
        yield emit(text or single(done[0]), "; ".join(dict.fromkeys(op.comment for op in done if op.comment)))


# No plan wins everywhere; these found the fewest slots of all combinations on at least one kernel.
PLANS = [
    Plan(80, True, True, 1), Plan(48, True, True, 1), Plan(32, True, True, 1), Plan(20, True, True, 1),
    Plan(12, False, True, 1), Plan(80, True, False, 1), Plan(80, True, False, 3), Plan(12, False, True, 5),
]


@functools.cache
def _schedule(text: str, symbols: tuple[tuple[str, int], ...], pairs: bool) -> str:
    block = Block(text, dict(symbols), pairs)
    _, order = min((attempt(block, plan) for plan in PLANS), key=lambda t: t[0])
    return "\n".join(lines(block, order)) + "\n"


_OURSELVES = Path(__file__).read_text()
_kept: Path | None = None


def keep(folder: Path | None) -> None:
    """From here on schedules are kept in files of this folder, for later runs of the generator; None: no longer."""
    global _kept
    _kept = folder


def _kept_schedule(text: str, symbols: tuple[tuple[str, int], ...], pairs: bool) -> str:
    if _kept is None:
        return _schedule(text, symbols, pairs)
    key = hashlib.sha256(repr((_OURSELVES, text, symbols, pairs)).encode()).hexdigest()
    file = _kept / key[:2] / key[2:]
    try:
        return file.read_text()
    except FileNotFoundError:
        out = _schedule(text, symbols, pairs)
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_name(f"{file.name}.{os.getpid()}")
        part.write_text(out)
        part.replace(file)  # whole or not at all: other processes read it
        return out


def schedule(text: str, symbols: dict[str, int], pairs: bool = True) -> str:
    """The block with its halves paired: fewest VALU slots first, then fewest stall cycles. `pairs` false: only
    reordered, to see what pairing is worth.

    Cached: targets that differ only in their SGPR numbers share one schedule.
    """
    named = set(re.findall(r"\bv_\w+", text))
    vectors = {name: number for name, number in symbols.items() if name in named}
    scalar_names = sorted(set(re.findall(r"\bs_[a-z]\w*\b(?=[+:\]-])", text)))
    scalar = {name: 8 * i for i, name in enumerate(scalar_names)}
    return _kept_schedule(text, tuple((vectors | scalar).items()), pairs)
