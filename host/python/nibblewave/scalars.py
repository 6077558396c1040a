# SPDX-License-Identifier: MIT
"""Numbers and flags that callers pass. ValueError names the value, the rule and the remedy."""

from __future__ import annotations

import math
import operator
from typing import Any


def shown(value: Any) -> str:
    """A value for a message; of a long one its type."""
    if isinstance(value, int) and value.bit_length() > 128:
        return f"a number of {value.bit_length()} bits"
    text = repr(value)
    return text if len(text) <= 60 and not text.startswith("<") and "\n" not in text else f"a {type(value).__name__}"


def whole(value: Any, name: str, least: int, most: int, rule: str = "") -> int:
    """`value` as an int. Bools and floats are refused, even whole ones."""
    try:
        number = None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = None
    if number is None or not least <= number <= most:
        what = f"a whole number, {rule}" if rule else f"a whole number of {least} to {most}"
        raise ValueError(f"{name} = {shown(value)}: it must be {what}")
    return number


def flag(value: Any, name: str) -> bool:
    """True or False, NumPy's too, and 1 or 0."""
    if type(value).__name__ in ("bool", "bool_") or (isinstance(value, int) and value in (0, 1)):
        return bool(value)
    raise ValueError(f"{name} = {shown(value)}: it must be True or False")


def real(value: Any, name: str) -> float:
    """`value` as a float. Text, bools and NaN are refused."""
    kinds = (hasattr(value, "__float__") or hasattr(value, "__index__")) and not isinstance(value, bool) and not getattr(value, "shape", ())
    try:
        number = float(value) if kinds else math.nan
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if math.isnan(number):
        raise ValueError(f"{name} = {shown(value)}: it must be a number")
    return number


def text(value: Any, name: str, rule: str) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{name} = {shown(value)}: it must be {rule}")
    return value
