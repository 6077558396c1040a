# SPDX-License-Identifier: MIT
"""Queues an op whose operands are data, as ops.py has them: checks arrays, fills the C struct, calls."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import abi, checks
from .library import call, struct
from .tensors import Tensor, stream_of

if TYPE_CHECKING:
    from .context import Context


@dataclass(frozen=True)
class Operand:
    name: str
    written: bool
    optional: bool
    dtypes: tuple[str, ...]
    shape: tuple[str, ...]  # names of sizes
    strides: tuple[str, ...]  # members for bytes from one to the next, of each dimension but the last; or none: contiguous


@dataclass(frozen=True)
class Word:
    """A member that an operand's type decides."""

    name: str
    operand: str
    values: dict[str, int]


@dataclass(frozen=True)
class Choice:
    """A member that the caller names by a word."""

    name: str
    values: dict[str, int]

    def value(self, word: Any) -> int:
        if not isinstance(word, str) or word not in self.values:
            raise ValueError(f"{self.name} = {word!r}: it must be one of {', '.join(self.values)}")
        return self.values[word]


@dataclass(frozen=True)
class Face:
    struct: str
    call: str
    operands: tuple[Operand, ...]
    words: tuple[Word, ...]
    choices: tuple[Choice, ...] = ()


def members(face: Face, tensors: dict[str, Tensor], names: dict[str, str]) -> dict[str, int]:
    """Members of the C struct for these operands. `names`: their names in messages. ValueError names the value, the rule and the remedy."""
    sizes: dict[str, int] = {}
    out: dict[str, int] = {}
    for operand in face.operands:
        if operand.name not in tensors:
            continue
        t, name = tensors[operand.name], names[operand.name]
        checks.is_a(t, name, len(operand.shape), *operand.dtypes)
        for size, extent in zip(operand.shape, t.shape):
            sizes.setdefault(size, extent)
        checks.rows(t, name, tuple(sizes[size] for size in operand.shape), f"[{', '.join(size.upper() for size in operand.shape)}]")
        if not operand.strides:
            checks.contiguous(t, name)
        if operand.written:
            checks.writable(t, name)
        out |= {operand.name: t.pointer} | dict(zip(operand.strides, t.strides))
    return out | sizes | {word.name: word.values[tensors[word.operand].dtype] for word in face.words}


def queue(context: Context, face: Face, stream: Any, operands: dict[str, Any], **values: Any) -> None:
    """`operands`: by their members' names; results are called `out` where there is one."""
    values |= {choice.name: choice.value(values[choice.name]) for choice in face.choices}
    on = stream_of(stream)
    results = [operand.name for operand in face.operands if operand.written]
    names = {operand.name: "out" if results == [operand.name] else operand.name for operand in face.operands}
    optional = {operand.name for operand in face.operands if operand.optional}
    given = {names[name]: x for name, x in operands.items() if x is not None or name not in optional}
    tensors = dict(zip((name for name in operands if names[name] in given), context._operands(on, **given)))
    filled = struct(getattr(abi, face.struct), **members(face, tensors, names), **values)
    call(face.call, context._handle, ctypes.byref(filled), ctypes.c_void_p(on))
