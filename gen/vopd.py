# SPDX-License-Identifier: MIT
"""One instruction of a scheduled block: what it reads and writes, and what it may share an issue slot with.

The rules of VOPD (note H-001) are here; gen/dual.py chooses which instructions share a slot. Operands keep the text they
were written with, so the result reads like the source.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, field

# VOPD opcodes: X takes these, Y takes them and the three integer ones.
X_OPS = {"v_dot2acc_f32_f16", "v_dot2acc_f32_bf16", "v_fmac_f32", "v_mul_f32", "v_add_f32", "v_sub_f32", "v_mov_b32"}
Y_OPS = X_OPS | {"v_and_b32", "v_lshlrev_b32", "v_add_nc_u32"}
COMMUTES = {"v_dot2acc_f32_f16", "v_dot2acc_f32_bf16", "v_fmac_f32", "v_mul_f32", "v_add_f32", "v_and_b32"}
ACCUMULATES = {"v_dot2acc_f32_f16", "v_dot2acc_f32_bf16", "v_fmac_f32"}
# The accumulating dots have no single form on every target: alone they are the three-source VOP3P.
ALONE = {"v_dot2acc_f32_f16": "v_dot2_f32_f16", "v_dot2acc_f32_bf16": "v_dot2_f32_bf16"}
OPERAND = re.compile(r"(?P<bank>[vs])(?:(?P<plain>\d+)|\[(?P<first>[^:\]]+)(?::(?P<last>[^\]]+))?\])")
READY = re.compile(r"ready ((?:, |v\[[^\]]*\]|v\d+)+)")


def instruction(line: str) -> tuple[str, str]:
    """A line's code and, of its comment, the registers that a wait makes ready (`// ready v[v_w:v_w+3]: why`)."""
    code, _, comment = line.partition("//")
    made = READY.match(comment.strip())
    return code.strip(), made[1].rstrip(", ") if made else ""


def split(code: str) -> tuple[str, list[str]]:
    """Mnemonic and operands."""
    mnemonic, _, rest = code.partition(" ")
    return mnemonic, [part.strip() for part in re.split(r",(?![^\[]*\])", rest)] if rest.strip() else []


@dataclass
class Op:
    index: int
    mnemonic: str
    operands: list[str]
    ordered: bool = False  # memory and waits
    writes: frozenset[str] = frozenset()
    reads: frozenset[str] = frozenset()
    before: dict[int, int] = field(default_factory=dict)  # predecessor -> cycles to leave between

    @property
    def dualable(self) -> bool:
        return self.mnemonic in Y_OPS and not any(re.match(r"-[sv]", o) for o in self.operands)  # no modifiers in VOPD


class Parser:
    def __init__(self, symbols: dict[str, int]) -> None:
        self._symbols = symbols
        self._numbers: dict[str, int] = {}  # a block names its operands many times
        self._registers: dict[str, frozenset[str]] = {}

    def number(self, text: str) -> int:
        """Value of `v_acc+3`: a symbol or a number, plus or minus numbers."""
        if text not in self._numbers:
            total = 0
            for sign, term in re.findall(r"([+-]?)\s*([\w.]+)", text):
                value = int(term) if term.isdigit() else self._symbols[term]
                total += -value if sign == "-" else value
            self._numbers[text] = total
        return self._numbers[text]

    def registers(self, text: str) -> frozenset[str]:
        if text not in self._registers:
            self._registers[text] = frozenset(self._read(text))
        return self._registers[text]

    def _read(self, text: str) -> set[str]:
        found: set[str] = set()
        for m in OPERAND.finditer(text):
            first = self.number(m["plain"] or m["first"])
            last = self.number(m["last"]) if m["last"] else first
            found |= {f"{m['bank']}{i}" for i in range(first, last + 1)}
        return found

    def _all(self, operands: list[str]) -> frozenset[str]:
        return frozenset().union(*map(self.registers, operands))

    def op(self, index: int, line: str) -> Op:
        code, made = instruction(line)
        mnemonic, operands = split(code)
        op = Op(index, mnemonic, operands)
        if mnemonic.startswith(("s_wait", "s_waitcnt")):
            if not made:
                raise ValueError(f"a wait in a scheduled block says what it makes ready: {line.strip()}")
            op.ordered, op.writes = True, self.registers(made)
        elif mnemonic.startswith(("global_", "ds_")):
            op.ordered = True
            stores = "_store" in mnemonic
            op.writes = frozenset() if stores else self.registers(operands[0])
            op.reads = self._all(operands if stores else operands[1:])
        elif mnemonic.startswith("v_"):
            op.writes = self.registers(operands[0])
            op.reads = self._all(operands[1:])
            if mnemonic in ACCUMULATES:
                op.reads |= op.writes
        else:
            raise ValueError(f"a scheduled block holds VALU, memory and waits only, not: {line.strip()}")
        return op


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
    """The orders of an op's sources: vsrc1 must be a VGPR, so only VGPRs swap."""
    sources = op.operands[1:]
    if op.mnemonic in COMMUTES and all(source.startswith("v") for source in sources):
        return [sources, sources[::-1]]
    return [sources]


@dataclass(frozen=True)
class Kind:
    """What the rules of VOPD ask of an op that may be half of a pair, but for its registers; many ops are of one kind."""

    may_be_x: bool
    parity: int | None
    sgprs: frozenset[str]
    literals: frozenset[str]
    banks: tuple[tuple[int | None, ...], ...]  # of the sources, for each order of them


class Half:
    def __init__(self, parser: Parser, op: Op) -> None:
        self.reads, self.writes = op.reads, op.writes
        sgprs, literals = scalars(parser, op.operands[1:])
        name = op.mnemonic.replace("v_", "v_dual_", 1)
        self.texts = [f"{name} {', '.join([op.operands[0], *sources])}" for sources in orders(op)]
        banks = tuple(tuple(bank(parser, source, 4) for source in sources) for sources in orders(op))
        self.kind = Kind(op.mnemonic in X_OPS, bank(parser, op.operands[0], 2), frozenset(sgprs), frozenset(literals), banks)


@functools.cache
def form(x: Kind | None, y: Kind | None) -> tuple[int, int] | None:
    """In which orders of their sources `x :: y` keeps the rules of VOPD (note H-001); None where a rule forbids it."""
    if not x or not y or not x.may_be_x or x.parity == y.parity:
        return None
    literals = len(x.literals | y.literals)
    if literals > 1 or literals + len(x.sgprs | y.sgprs) > 2:
        return None
    for i, x_banks in enumerate(x.banks):
        for j, y_banks in enumerate(y.banks):
            if all(a is None or a != b for a, b in zip(x_banks, y_banks)):
                return i, j
    return None


def pair(x: Half, y: Half) -> str | None:
    """`x :: y` as VOPD text, or None where that can't be."""
    if x.writes & y.reads or x.writes & y.writes or y.writes & x.reads:
        return None
    found = form(x.kind, y.kind)
    return f"{x.texts[found[0]]} :: {y.texts[found[1]]}" if found else None


def single(code: str) -> str:
    """An instruction that shares its slot with none."""
    mnemonic, operands = split(code)
    return f"{ALONE[mnemonic]} {', '.join([*operands, operands[0]])}" if mnemonic in ALONE else code
