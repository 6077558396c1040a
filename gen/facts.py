# SPDX-License-Identifier: MIT
"""What is known of one rendered kernel: what its header and its row of the manifest say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class KernelFacts:
    symbol: str
    gfx: str
    params: Mapping[str, str | int]
    purpose: str
    candidate: bool
    block: int
    rows_per_workgroup: int
    vgprs: int
    sgprs: int
    lds_bytes: int
    waves_per_simd: int
