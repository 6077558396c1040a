# SPDX-License-Identifier: MIT
"""libnibblewave.so, with its structs."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any, TypeVar

from . import abi

HERE = Path(__file__).resolve().parent
KERNELS = HERE / "hsaco"
S = TypeVar("S", bound=ctypes.Structure)


class Error(RuntimeError):
    """A call was refused or failed. `status` is the nw_status of nibblewave.h."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


def _load() -> ctypes.CDLL:
    library = ctypes.CDLL(str(HERE / "lib/libnibblewave.so"))
    library.nw_last_error.restype = library.nw_context_gfx.restype = ctypes.c_char_p
    library.nw_gguf_row_bytes.restype = library.nw_weight_row_stride.restype = ctypes.c_uint64
    library.nw_moe_blocks.restype = ctypes.c_uint64
    library.nw_context_gfx.argtypes = library.nw_context_destroy.argtypes = [ctypes.c_void_p]
    library.nw_weight_row_stride.argtypes = [ctypes.c_char_p, ctypes.c_uint32]
    return library


LIBRARY = _load()


def call(name: str, *arguments: Any) -> None:
    """Calls a function that returns nw_status; raises Error unless it is NW_OK."""
    status = getattr(LIBRARY, name)(*arguments)
    if status != abi.NW_OK:
        raise Error(status, LIBRARY.nw_last_error().decode())


def struct(kind: type[S], **values: Any) -> S:
    """As the _INIT macro makes it, with these members."""
    defaults: dict[str, float] = getattr(kind, "DEFAULTS")  # noqa: B009  ctypes' type has no such member
    return kind(**({"size": ctypes.sizeof(kind)} | defaults | values))
