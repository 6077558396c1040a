# SPDX-License-Identifier: MIT
"""Checks of the reference's NumPy arrays. ValueError names the value, the rule and the remedy."""

from __future__ import annotations

from types import EllipsisType
from typing import Any

import numpy

from .scalars import shown

Array = numpy.ndarray[Any, Any]

# By kind: NumPy's kinds of types, or types; and what a message says of them.
_KINDS: dict[str, tuple[tuple[str, ...], str]] = {
    "whole": (("i", "u"), "whole numbers, as int64 or uint8"),
    "numbers": (("f", "uint16"), "float16, float32, float64, or uint16, bits of bf16"),
    "zeros": (("f", "i", "u"), "whole numbers, or of the type of scales"),
    "dwords": (("int32", "uint32"), "int32 or uint32"),
    "bytes": (("uint8", "int8"), "uint8 or int8"),
    "uint8": (("uint8",), "uint8"),
    "int8": (("int8",), "int8"),
    "floats": (("f",), "float16, float32 or float64"),
}


def array(x: Any, name: str, kind: str, *shape: int | None | EllipsisType, says: str = "") -> Array:
    """x, if it is an array of this kind and shape: an int is an extent, None any, and ... before the others any extents. `says`: what the
    shape is of, for messages."""
    if not isinstance(x, numpy.ndarray):
        raise ValueError(f"{name} = {shown(x)}: it must be a NumPy array{says and f', {says}'}")
    types, rule = _KINDS[kind]
    if x.dtype.kind not in types and x.dtype.name not in types or not x.dtype.isnative:
        order = "" if x.dtype.isnative else " of the other byte order"
        raise ValueError(f"{name} is of type {x.dtype.name}{order}: it must be {rule}; convert it")
    wanted = tuple(extent for extent in shape if not isinstance(extent, EllipsisType))
    leading = len(wanted) < len(shape)
    have = x.shape[x.ndim - len(wanted) :] if leading and x.ndim >= len(wanted) else x.shape
    if len(have) != len(wanted) or any(want is not None and want != extent for want, extent in zip(wanted, have)):
        extents = [*(["..."] if leading else []), *("any" if want is None else str(want) for want in wanted)]
        raise ValueError(f"{name} has shape {list(x.shape)}: it must be {says and f'{says} = '}[{', '.join(extents)}]")
    return x


def within(x: Array, name: str, least: int, most: int, remedy: str = "") -> Array:
    """x, if all of it lies there; an empty array does."""
    if x.size and (x.min() < least or x.max() > most):
        raise ValueError(f"{name} has values {x.min()}..{x.max()}: they must be {least}..{most}{remedy and f'; {remedy}'}")
    return x
