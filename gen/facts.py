# SPDX-License-Identifier: MIT
"""What emitters read of a rendered kernel (gen/render.py)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from family import Family


class Kernel(Protocol):
    contract: Family
    gfx: str
    symbol: str
    params: Mapping[str, str | int]
    purpose: str
    candidate: bool
    block: int
    rows_per_workgroup: int


class Rendered(Protocol):
    kernel: Kernel
    vgprs: int
    sgprs: int
    lds_bytes: int
    waves_per_simd: int
