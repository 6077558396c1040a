# SPDX-License-Identifier: MIT
"""Launch parameters from hsaco/manifest.json: Manifest(folder).launch("carrier_w4a16_f16", "gfx1151", n=40, k=256, ...)."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any


@dataclass(frozen=True)
class Launch:
    file: Path
    symbol: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    dynamic_lds: int
    kernarg: bytes


class _Names(dict[str, Any]):
    """The caller's values, and values that follow from them. The manifest's expressions are Python's."""

    def __init__(self, values: dict[str, Any], follows: dict[str, str], functions: dict[str, Any]) -> None:
        super().__init__(values)
        self._follows, self._functions = follows, functions

    def of(self, text: str) -> Any:
        return eval(text, self._functions, self)

    def __missing__(self, name: str) -> Any:
        return self.of(self._follows[name])


class Manifest:
    def __init__(self, folder: Path) -> None:
        self.folder, self.contents = folder, json.loads((folder / "manifest.json").read_text())
        self._functions = {name: eval(text) for name, text in self.contents["functions"].items()}

    def launch(self, symbol: str, gfx: str, **given: Any) -> Launch:
        """With the kernel's arguments by name, pointers as numbers. ValueError in the manifest's words if a rule is broken."""
        kernel = next(k for k in self.contents["kernels"] if (k["symbol"], k["gfx"]) == (symbol, gfx))
        family = self.contents["families"][kernel["family"]]
        names = self._names(kernel, family, given)
        for rule in family["rules"]:
            if names.of(rule.get("when", "1")) and not names.of(rule["expr"]):
                raise ValueError(names.of(f"f'''{rule['text']}'''"))
        kernarg = bytearray(kernel["kernarg_bytes"])
        for a in family["arguments"]:
            struct.pack_into("<Q" if a["size"] == 8 else "<I", kernarg, a["offset"], names[a["name"]])
        x, y, z = (names.of(extent) for extent in family["grid"])
        return Launch(self.folder / kernel["file"], symbol, (x, y, z), tuple(kernel["block"]), names.of(family["dynamic_lds_bytes"]), bytes(kernarg))

    def _names(self, kernel: dict[str, Any], family: dict[str, Any], given: dict[str, Any]) -> _Names:
        params = {name: family["named"].get(name, {}).get(value, value) for name, value in kernel["params"].items()}
        facts = {"p": params, "kernel": kernel | {"block": kernel["block"][0]}, "target": self.contents["targets"][kernel["gfx"]]}
        follows = family["let"] | {a["name"]: a[how] for a in family["arguments"] for how in ("value", "default") if how in a}
        values = {name: SimpleNamespace(**row) for name, row in facts.items()} | given
        return _Names(values | {value: params[name] for value, name in family["match"].items()}, follows, self._functions)
