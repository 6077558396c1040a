# SPDX-License-Identifier: MIT
"""Register and LDS names for one kernel: each name once, no overlap, and the totals."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import dual
import spelling

LIMIT = {"s": 106, "v": 256, "lds": 65536}  # of a wave; LDS bytes of a workgroup


class Regs:
    """Allocates registers and LDS in the order of calls, as assembler symbols.

    v0 is the work-item id and s[0:entry_sgprs-1] hold what the hardware put there (note A-001).
    """

    def __init__(self, entry_sgprs: int, *, vopd: bool = True, facts: Mapping[str, object] = {"dot2": True, "vopd_banks": 4}) -> None:
        self._facts = facts
        self._pairs: bool | None = vopd or None
        self._next = {"s": entry_sgprs, "v": 1, "lds": 0}
        self.symbols: dict[str, int] = {"s_args": 0, "v_tid": 0}
        self._counts: dict[str, int] = {}
        self._apart: list[str] | None = None  # names that apart() has given again
        self._kept: frozenset[str] = frozenset()
        self._ended: list[int] = []

    def s(self, name: str, count: int = 1, *, align: int = 1) -> str:
        """`.set s_NAME, first` for `count` SGPRs; scalar loads need align = count, up to 4."""
        return self._take("s", name, count, align)

    def v(self, name: str, count: int = 1, *, align: int = 1, odd: bool = False) -> str:
        """`.set v_NAME, first` for `count` VGPRs; align 4 fixes the VOPD banks (note H-001). `odd`: where parities of a pair's sources
        differ (note H-026), one further on. The two factors of a product are then of two parities, and either may come first."""
        if odd and self._facts["vopd_banks"] == 2:
            return self._take("v", name, count, max(align, 2), 1)
        return self._take("v", name, count, align)

    def lds(self, name: str, count: int, *, align: int = 16) -> str:
        """`.set lds_NAME, first` for `count` bytes of LDS."""
        return self._take("lds", name, count, align)

    def alias(self, name: str, of: str, skip: int = 0) -> str:
        """A second name for a register or LDS block whose uses don't overlap the first name's."""
        if name in self.symbols:
            raise ValueError(f"register {name} is named twice")
        self.symbols[name] = self.symbols[of] + skip
        return f".set {name}, {of}" + (f"+{skip}" if skip else "")

    def apart(self, caller: object, *, prefix: str, kept: Iterable[str], ended: Iterable[str]) -> str:
        """`{% call R.apart(prefix="third", kept=.., ended=..) %}`: a block in which s() and v() may give names once more, to macros whose names are
        taken: `v_w` becomes `v_third_w`. It is the same register if `kept` has its name and it has enough of them, else another;
        SGPRs are those of the names in `ended`, whose use is over."""
        before, self.symbols = self.symbols, dict(self.symbols)
        self._apart, self._kept = [], frozenset(kept)
        self._ended = [self.symbols[name] + i for name in ended for i in range(self._counts[name])]
        text = caller()  # type: ignore[operator]
        named = {name: f"{name[:2]}{prefix}_{name[2:]}" for name in self._apart}
        self.symbols, self._apart = before | {named[name]: self.symbols[name] for name in named}, None
        return re.sub(r"\b(" + "|".join(map(re.escape, named)) + r")\b", lambda found: named[found[0]], text)

    def used(self, bank: str) -> int:
        return self._next[bank]

    def unpaired(self) -> str:
        """Makes dual() only reorder from now on, to measure the gain of pairing."""
        self._pairs = False
        return ""

    def dual(self, caller: object, *, spread: bool = True) -> str:
        """`{% call R.dual() %}`: the block with its halves paired into VOPD (gen/dual.py)."""
        text = spelling.with_dots(caller(), self._facts)  # type: ignore[operator]
        return dual.schedule(text, self.symbols, self._pairs, spread, self._facts["vopd_banks"] if self._pairs else 4)  # type: ignore[arg-type]

    def _take(self, bank: str, name: str, count: int, align: int, skip: int = 0) -> str:
        symbol = f"{bank}_{name}"
        if symbol in (self.symbols if self._apart is None else self._apart):
            raise ValueError(f"register {symbol} is named twice")
        if count < 1:
            raise ValueError(f"{symbol} has {count} registers: must be at least 1")
        if self._apart is not None and (old := self._old(bank, symbol, count, align, skip)) is not None:
            return f".set {symbol}, {old}"
        first = -(-(self._next[bank] - skip) // align) * align + skip
        if first + count > LIMIT[bank]:
            raise ValueError(f"{symbol} needs {bank}[{first}:{first + count - 1}], limit is {LIMIT[bank]}")
        self.symbols[symbol], self._counts[symbol] = first, count
        self._next[bank] = first + count
        return f".set {symbol}, {first}"

    def _old(self, bank: str, symbol: str, count: int, align: int, skip: int) -> int | None:
        """Within apart() a register that is there already; None: it takes another."""
        self._apart.append(symbol)  # type: ignore[union-attr]
        if bank == "s":
            if count != 1 or not self._ended:
                raise ValueError(f"{symbol} needs {count} SGPRs: apart() has {len(self._ended)} left, and gives them one by one")
            self.symbols[symbol] = self._ended.pop(0)
            return self.symbols[symbol]
        old = self.symbols.get(symbol)
        return old if symbol in self._kept and old is not None and count <= self._counts[symbol] and old % align == skip else None
