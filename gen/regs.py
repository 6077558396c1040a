# SPDX-License-Identifier: MIT
"""Register and LDS names for one kernel: each name once, no overlap, and the totals."""

from __future__ import annotations

from collections.abc import Mapping

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
        if symbol in self.symbols:
            raise ValueError(f"register {symbol} is named twice")
        if count < 1:
            raise ValueError(f"{symbol} has {count} registers: must be at least 1")
        first = -(-(self._next[bank] - skip) // align) * align + skip
        if first + count > LIMIT[bank]:
            raise ValueError(f"{symbol} needs {bank}[{first}:{first + count - 1}], limit is {LIMIT[bank]}")
        self.symbols[symbol] = first
        self._next[bank] = first + count
        return f".set {symbol}, {first}"
