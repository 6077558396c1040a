# SPDX-License-Identifier: MIT
"""Launches a .hsaco of the build by manifest.json alone: launch("carrier_w4a16_f16", "gfx1151", n=40, k=256, ...)."""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path
from typing import Any

BUILD = Path(os.environ["NW_BUILD_DIR"])
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "host/python/examples"))
from manifest import Manifest  # noqa: E402

_manifest = Manifest(BUILD / "hsaco")
MANIFEST = _manifest.contents
hip = ctypes.CDLL(str(BUILD / "hipsim/libamdhip64.so"))


def must(result: int) -> None:
    assert result == 0, f"hipError {result}"


def launch(symbol: str, gfx: str, **given: Any) -> None:
    to = _manifest.launch(symbol, gfx, **given)
    kernarg, size = ctypes.create_string_buffer(to.kernarg, len(to.kernarg)), ctypes.c_size_t(len(to.kernarg))
    module, function, config = ctypes.c_void_p(), ctypes.c_void_p(), (ctypes.c_void_p * 5)(1, ctypes.addressof(kernarg), 2, ctypes.addressof(size), 3)
    must(hip.hipModuleLoad(ctypes.byref(module), os.fsencode(to.file)))
    must(hip.hipModuleGetFunction(ctypes.byref(function), module, symbol.encode()))
    must(hip.hipModuleLaunchKernel(function, *to.grid, *to.block, to.dynamic_lds, None, None, config))
    must(hip.hipDeviceSynchronize())
