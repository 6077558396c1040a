# SPDX-License-Identifier: MIT
"""libnibblewave.so, with its structs."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any, TypeVar

from . import abi
from .scalars import real, whole

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
    library.nw_moe_blocks.argtypes = [ctypes.c_uint32] * 3
    return library


LIBRARY = _load()


def call(name: str, *arguments: Any) -> None:
    """Calls a function that returns nw_status; raises Error unless it is NW_OK."""
    status = getattr(LIBRARY, name)(*arguments)
    if status != abi.NW_OK:
        raise Error(status, LIBRARY.nw_last_error().decode(errors="replace"))


_LEAST_AND_MOST: dict[Any, tuple[int, int]] = {ctypes.c_int32: (-(2**31), 2**31 - 1), ctypes.c_uint32: (0, 2**32 - 1), ctypes.c_uint64: (0, 2**64 - 1)}


def fill(to: ctypes.Structure, **values: Any) -> None:
    """Sets members. ctypes takes what does not fit modulo 2^32 or 2^64: here it is a ValueError."""
    kinds: dict[str, Any] = {name: kind for name, kind, *_ in to._fields_}
    for name, value in values.items():
        if kinds[name] in _LEAST_AND_MOST:
            value = whole(value, name, *_LEAST_AND_MOST[kinds[name]])
        elif kinds[name] is ctypes.c_float:
            value = real(value, name)
        setattr(to, name, value)


def struct(kind: type[S], **values: Any) -> S:
    """As the _INIT macro makes it, with these members."""
    defaults: dict[str, float] = getattr(kind, "DEFAULTS")  # noqa: B009  ctypes' type has no such member
    out = kind(**({"size": ctypes.sizeof(kind)} | defaults))
    fill(out, **values)
    return out
