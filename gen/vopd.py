# SPDX-License-Identifier: MIT
"""One instruction of a scheduled block: its sources and destinations, and possible partners in an issue slot.

The rules of VOPD (notes H-001, H-026) are here; gen/dual.py chooses the instructions that share a slot. Operands keep the text they
were written with, so the result reads like the source.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

# VOPD opcodes: X takes these, Y takes them and the three integer ones.
X_OPS = {"v_dot2acc_f32_f16", "v_dot2acc_f32_bf16", "v_fmac_f32", "v_mul_f32", "v_add_f32", "v_sub_f32", "v_mov_b32"}
Y_OPS = X_OPS | {"v_and_b32", "v_lshlrev_b32", "v_add_nc_u32"}
COMMUTES = {"v_dot2acc_f32_f16", "v_dot2acc_f32_bf16", "v_fmac_f32", "v_mul_f32", "v_add_f32", "v_and_b32"}
ACCUMULATES = {"v_dot2acc_f32_f16", "v_dot2acc_f32_bf16", "v_fmac_f32"}
# The accumulating dots have no single form on every target: alone they are the three-source VOP3P.
ALONE = {"v_dot2acc_f32_f16": "v_dot2_f32_f16", "v_dot2acc_f32_bf16": "v_dot2_f32_bf16"}
OPERAND = re.compile(r"(?P<bank>[vs])(?:(?P<plain>\d+)|\[(?P<first>[^:\]]+)(?::(?P<last>[^\]]+))?\])")
READY = re.compile(r"ready ((?:, |v\[[^\]]*\]|v\d+)+)")


@functools.cache  # blocks have many lines in common
def instruction(line: str) -> tuple[str, str]:
    """A line's code and, of its comment, the registers that a wait makes ready (`// ready v[v_w:v_w+3]: why`)."""
    code, _, comment = line.partition("//")
    made = READY.match(comment.strip())
    return code.strip(), made[1].rstrip(", ") if made else ""


COMMA = re.compile(r",(?![^\[]*\])")


@functools.cache
def split(code: str) -> tuple[str, tuple[str, ...]]:
    """Mnemonic and operands."""
    mnemonic, _, rest = code.partition(" ")
    return mnemonic, tuple(part.strip() for part in COMMA.split(rest)) if rest.strip() else ()


@functools.cache
def dualable(code: str) -> bool:
    mnemonic, operands = split(code)
    return mnemonic in Y_OPS and not any(o.startswith(("-s", "-v")) for o in operands)  # no modifiers in VOPD


@dataclass
class Op:
    index: int
    mnemonic: str
    operands: tuple[str, ...]
    dualable: bool
    ordered: bool = False  # memory and waits
    writes: frozenset[str] = frozenset()
    reads: frozenset[str] = frozenset()
    before: dict[int, int] = field(default_factory=dict)  # predecessor -> cycles to leave between


INLINE = {"0.5", "1.0", "2.0", "4.0", "-0.5", "-1.0", "-2.0", "-4.0"}  # with the integers from -16 to 64
NOTHING: frozenset[str] = frozenset()


class Source(NamedTuple):
    """Properties of a source that the rules of VOPD depend on."""

    bank: int | None  # of its VGPR: its number mod `banks`
    sgprs: frozenset[str]
    literals: frozenset[str]  # inline constants are free


class Parser:
    """Sources of a pair's halves lie in different ones of `banks`: 4 by the ISA document, 2 where parities must differ (note H-026)."""

    def __init__(self, symbols: dict[str, int], banks: int = 4) -> None:
        self._symbols, self._banks = symbols, banks
        self._numbers: dict[str, int] = {}  # a block names its operands many times
        self._registers: dict[str, frozenset[str]] = {}
        self._sources: dict[str, Source] = {}

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

    def _all(self, operands: tuple[str, ...]) -> frozenset[str]:
        return frozenset().union(*map(self.registers, operands))

    def source(self, text: str) -> Source:
        if text not in self._sources:
            m = OPERAND.fullmatch(text)
            vector = bool(m) and m["bank"] == "v"
            bank = self.number(m["plain"] or m["first"]) % self._banks if vector else None
            inline = m or text in INLINE or re.fullmatch(r"-?\d+", text) and -16 <= int(text) <= 64
            self._sources[text] = Source(bank, self.registers(text) if m and not vector else NOTHING, NOTHING if inline else frozenset({text}))
        return self._sources[text]

    def op(self, index: int, line: str) -> Op:
        code, made = instruction(line)
        mnemonic, operands = split(code)
        op = Op(index, mnemonic, operands, dualable(code))
        if mnemonic.startswith(("s_wait", "s_waitcnt")):
            if not made:
                raise ValueError(f"a wait in a scheduled block must name the registers that it makes ready: {line.strip()}")
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


@dataclass(frozen=True, eq=False)
class Kind:
    """Properties, other than registers, of an op that may be half of a pair; many ops are of one kind."""

    may_be_x: bool
    parity: int | None  # of the destination
    sgprs: frozenset[str]
    literals: frozenset[str]
    banks: tuple[tuple[int | None, ...], ...]  # of the sources, for each order of them


@functools.cache  # one object for each
def kind_of(may_be_x: bool, commutes: bool, parity: int | None, sources: tuple[Source, ...]) -> Kind:
    """vsrc1 must be a VGPR, so only VGPRs swap."""
    banks = tuple(source.bank for source in sources)
    orders = (banks, banks[::-1]) if commutes and None not in banks else (banks,)
    return Kind(may_be_x, parity, NOTHING.union(*(s.sgprs for s in sources)), NOTHING.union(*(s.literals for s in sources)), orders)


class Half:
    def __init__(self, parser: Parser, op: Op) -> None:
        self.op = op
        result = parser.source(op.operands[0]).bank
        parity = None if result is None else result % 2
        self.kind = kind_of(op.mnemonic in X_OPS, op.mnemonic in COMMUTES, parity, tuple(map(parser.source, op.operands[1:])))

    def text(self, order: int) -> str:
        destination, *sources = self.op.operands
        return f"{self.op.mnemonic.replace('v_', 'v_dual_', 1)} {', '.join([destination, *(sources[::-1] if order else sources)])}"


@functools.cache
def form(x: Kind | None, y: Kind | None) -> tuple[int, int] | None:
    """Orders of their sources in which `x :: y` obeys the rules of VOPD (notes H-001, H-026); None if a rule forbids it."""
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
    """`x :: y` as VOPD text, or None if it is not allowed."""
    if x.op.writes & y.op.reads or x.op.writes & y.op.writes or y.op.writes & x.op.reads:
        return None
    found = form(x.kind, y.kind)
    return f"{x.text(found[0])} :: {y.text(found[1])}" if found else None


def single(code: str) -> str:
    """An instruction that shares its slot with none."""
    mnemonic, operands = split(code)
    return f"{ALONE[mnemonic]} {', '.join([*operands, operands[0]])}" if mnemonic in ALONE else code


# ---- pairs in a listing, from dual() or written by hand

SET = re.compile(r"^\.set ([sv]_\w+), ([^/\n]+)", re.MULTILINE)
REMEDY = "give them numbers of different parity, swap the factors of one half, or write two instructions"


def _broken(parser: Parser, code: str, banks: int) -> Iterator[str]:
    x, y = (split(half.strip())[1] for half in code.split("::"))
    for name, first, second in zip(("src0", "vsrc1"), x[1:], y[1:]):
        a, b = parser.source(first).bank, parser.source(second).bank
        if a is not None and a == b:
            numbers = " and ".join(min(parser.registers(operand)) for operand in (first, second))
            yield f"{name} of its halves are {numbers}, equal mod {banks}: they must differ (notes H-001, H-026): {REMEDY}"
    if read := parser.registers(x[0]) & parser.registers(" ".join(y[1:])):
        yield f"its first half writes {min(read)}, which the second reads: no pair may (note H-001): write two instructions"


def broken(text: str, banks: int) -> Iterator[str]:
    """The pairs of a listing that break a rule of this target which the assembler does not know, each as a message."""
    symbols: dict[str, int] = {}
    parser = Parser(symbols, banks)
    for name, value in SET.findall(text):
        symbols[name] = parser.number(value)
    for number, line in enumerate(text.splitlines(), 1):
        if " :: " in line and "::" in (code := line.partition("//")[0]):
            yield from (f"line {number}: {' '.join(code.split())}: {what}" for what in _broken(parser, code.strip(), banks))
