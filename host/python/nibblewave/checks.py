# SPDX-License-Identifier: MIT
"""Checks of a product's operands, for every caller: types, shapes, strides. Each function returns the shape of its result.

ValueError names the value, the rule and the remedy. The C library checks rules of kernels (groups, alignment, limits).
"""

from __future__ import annotations

from typing import Any

from .gguf import block, columns
from .scalars import flag, whole
from .tensors import SIZES, Tensor

FP8 = ("u8", "e4m3")


def is_a(t: Tensor, name: str, dims: int, *dtypes: str) -> None:
    if t.dtype not in dtypes:
        raise ValueError(f"{name} is of type {t.dtype}: it must be {' or '.join(dtypes)}; convert it")
    if len(t.shape) != dims:
        raise ValueError(f"{name} has shape {list(t.shape)}: it must have {dims} dimensions; reshape it")
    if any(step < 0 for step in t.strides):
        raise ValueError(f"{name} has strides {list(t.strides)} in bytes: they must not be negative; make a copy that is contiguous")


def contiguous(t: Tensor, name: str) -> None:
    if 0 in t.shape:
        return
    step = SIZES[t.dtype]
    for extent, stride in zip(reversed(t.shape), reversed(t.strides)):
        if extent > 1 and stride != step:
            raise ValueError(f"{name} has strides {list(t.strides)} in bytes: it must be contiguous; make a copy that is")
        step *= extent


def rows(t: Tensor, name: str, shape: tuple[int, ...], says: str) -> None:
    """Checks the shape, and that rows are contiguous; the row stride is free."""
    if t.shape != shape:
        raise ValueError(f"{name} has shape {list(t.shape)}: it must be {says} = {list(shape)}")
    if t.shape[-1] > 1 and t.strides[-1] != SIZES[t.dtype]:
        raise ValueError(f"{name} has strides {list(t.strides)} in bytes: its rows must be contiguous; make a copy that is")


def result(t: Tensor, shape: tuple[int, ...], *dtypes: str) -> None:
    is_a(t, "out", len(shape), *dtypes)
    writable(t, "out")
    if t.shape != shape:
        raise ValueError(f"out has shape {list(t.shape)}: it must be {list(shape)}")
    contiguous(t, "out")


def writable(t: Tensor, name: str) -> None:
    if t.read_only:
        raise ValueError(f"{name} is read-only: it must be memory that the call may write; make a copy of it")


def _half(n: int, silu_gate_up: Any, name: str = "silu_gate_up") -> int:
    both = flag(silu_gate_up, name)
    if both and n % 2:
        raise ValueError(f"w has {n} rows: {name} takes an even number, gate and up")
    return n // 2 if both else n


def groups_of(k: int, group: Any) -> int:
    """Groups of a row. Which sizes have kernels is the C library's to say."""
    group = whole(group, "group", 1, 2**32 - 1, "32, 64 or 128")
    if k % group:
        raise ValueError(f"K = {k}: it must be a multiple of group = {group}; pad x and w with zeros")
    return k // group


def _groups(k: int, dwords: int, group: Any) -> int:
    if dwords * 8 != k:
        raise ValueError(f"w has {dwords} dwords in a row: they must be K/8 = {k // 8}{' and a rest' if k % 8 else ''}")
    return groups_of(k, group)


def weights(w: Tensor, scales: Tensor, group: Any, zeros: Tensor | None, dims: int, *, typed: bool) -> tuple[int, int]:
    """N and K of packed weights, of experts where dims is 3. `typed`: zero points of the scales' type are allowed."""
    is_a(w, "w", dims, "i32", "u32")
    is_a(scales, "scales", dims, "f16", "bf16")
    *front, n, dwords = w.shape
    groups, of = groups_of(dwords * 8, group), "experts, " if front else ""
    rows(w, "w", w.shape, f"[{of}N, K/8]")
    rows(scales, "scales", (*front, n, groups), f"[{of}N, K/group]")
    if zeros is not None:
        is_a(zeros, "zeros", dims, "i32", "u32", *((scales.dtype,) if typed else ()))
        each = zeros.dtype == scales.dtype
        rows(zeros, "zeros", (*front, n if each else -(-n // 8), groups), f"[{of}N, K/group]" if each else f"[{of}ceil(N/8), K/group]")
    return n, dwords * 8


def linear(x: Tensor, w: Tensor, scales: Tensor, group: Any, zeros: Tensor | None, bias: Tensor | None, silu_gate_up: Any,
           perm: Tensor | None = None) -> tuple[int, int]:  # fmt: skip
    is_a(x, "x", 2, "f16", "bf16")
    is_a(scales, "scales", 2, x.dtype)
    if perm is not None:
        is_a(perm, "perm", 1, "i32", "u32")
        rows(perm, "perm", (x.shape[1],), "[K]")
    return _product(x, w, scales, group, zeros, bias, silu_gate_up, typed=True)


def _product(x: Tensor, w: Tensor, scales: Tensor, group: Any, zeros: Tensor | None, bias: Tensor | None, silu_gate_up: Any, *,
             typed: bool) -> tuple[int, int]:  # fmt: skip
    is_a(w, "w", 2, "i32", "u32")
    (m, k), n = x.shape, w.shape[0]
    _groups(k, w.shape[1], group)
    contiguous(x, "x")
    weights(w, scales, group, zeros, 2, typed=typed)
    if bias is not None:
        is_a(bias, "bias", 1, scales.dtype)
        rows(bias, "bias", (n,), "[N]")
    return m, _half(n, silu_gate_up)


def quantize_rows(x: Tensor, scales: Tensor) -> tuple[int, int]:
    is_a(x, "x", 2, "f16", "bf16")
    m, k = x.shape
    rows(x, "x", (m, k), "[M, K]")
    is_a(scales, "scales", 1, "f32")
    rows(scales, "scales", (m,), "[M]")
    writable(scales, "scales")
    return m, k


def linear_w4a8(x: Tensor, x_scales: Tensor, w: Tensor, scales: Tensor, group: Any, zeros: Tensor | None, bias: Tensor | None,
                silu_gate_up: Any) -> tuple[int, int]:  # fmt: skip
    is_a(x, "x", 2, "i8")
    is_a(x_scales, "x_scales", 1, "f32")
    rows(x_scales, "x_scales", (x.shape[0],), "[M]")
    is_a(scales, "scales", 2, "f16", "bf16")
    return _product(x, w, scales, group, zeros, bias, silu_gate_up, typed=False)


def moe_linear(x: Tensor, w: Tensor, scales: Tensor, ids: Tensor, group: Any, zeros: Tensor | None, bias: Tensor | None,
               factors: Tensor | None, silu_gate_up: Any, perm: Tensor | None = None) -> tuple[int, int]:  # fmt: skip
    is_a(x, "x", 2, "f16", "bf16")
    is_a(w, "w", 3, "i32", "u32")
    is_a(scales, "scales", 3, x.dtype)
    is_a(ids, "ids", 2, "i32")
    (experts, n, dwords), (tokens, used), k = w.shape, ids.shape, x.shape[1]
    _groups(k, dwords, group)
    slots = tokens * used
    if x.shape[0] not in (tokens, slots):
        raise ValueError(f"x has {x.shape[0]} rows: they must be {tokens}, or {slots} for slots")
    contiguous(x, "x")
    contiguous(ids, "ids")
    weights(w, scales, group, zeros, 3, typed=False)
    if bias is not None:
        is_a(bias, "bias", 2, x.dtype)
        rows(bias, "bias", (experts, n), "[experts, N]")
        contiguous(bias, "bias")
    if factors is not None:
        is_a(factors, "weights", 2, "f32")
        rows(factors, "weights", (tokens, used), "[T, used]")
        contiguous(factors, "weights")
    if perm is not None:
        is_a(perm, "perm", 2, "i32", "u32")
        rows(perm, "perm", (experts, k), "[experts, K]")
        contiguous(perm, "perm")
    return slots, _half(n, silu_gate_up)


def moe_lists(sorted_ids: Tensor, blocks: Tensor, entries: Tensor) -> tuple[int, int]:
    """Blocks, and slots of a block."""
    is_a(sorted_ids, "sorted_ids", 2, "i32")
    count, size = sorted_ids.shape
    is_a(blocks, "blocks", 1, "i32")
    is_a(entries, "entries", 1, "i32")
    rows(blocks, "blocks", (count,), "[blocks]")
    rows(entries, "entries", (1,), "[1]")
    contiguous(sorted_ids, "sorted_ids")
    return count, size


def attention(q: Tensor, k: Tensor, v: Tensor, out: Tensor) -> None:
    is_a(q, "q", 4, "f16", "bf16")
    (b, _, _, d), (_, sk, hk, _) = q.shape, k.shape if len(k.shape) == 4 else (0, 0, 0, 0)
    keys = (b, sk, hk, d)
    for t, name, shape, says in ((q, "q", q.shape, ""), (k, "k", keys, "[B, Sk, Hk, D]"), (v, "v", keys, "k's"), (out, "out", q.shape, "q's")):
        is_a(t, name, 4, q.dtype)
        if t.shape != shape:
            raise ValueError(f"{name} has shape {list(t.shape)}: it must be {says} = {list(shape)}")
        if d > 1 and t.strides[3] != SIZES[t.dtype]:
            raise ValueError(f"{name} has strides {list(t.strides)} in bytes: heads must be contiguous; make a copy that is")
    writable(out, "out")


def gguf_linear(x: Tensor, w: Tensor, type: str) -> tuple[int, int]:
    block(type)
    is_a(x, "x", 2, "f32")
    is_a(w, "w", 2, "u8", "i8")
    _gguf_row(x.shape[1], w.shape[1], type)
    contiguous(w, "w")
    rows(x, "x", x.shape, "[M, K]")
    return x.shape[0], w.shape[0]


def gguf_linear_fp8(x: Tensor, x_scales: Tensor, w: Tensor, type: str) -> tuple[int, int]:
    block(type)
    is_a(x, "x", 2, *FP8)
    is_a(x_scales, "x_scales", 1, "f32")
    is_a(w, "w", 2, "u8", "i8")
    m, k = x.shape
    _gguf_row(k, w.shape[1], type)
    contiguous(x, "x")
    rows(x_scales, "x_scales", (m,), "[M]")
    contiguous(w, "w")
    return m, w.shape[0]


def gguf_moe_linear(x: Tensor, w: Tensor, type: str, ids: Tensor) -> tuple[int, int, int]:
    block(type)
    is_a(x, "x", 3, "f32")
    is_a(w, "w", 3, "u8", "i8")
    is_a(ids, "ids", 2, "i32")
    tokens, used = ids.shape
    _gguf_row(x.shape[2], w.shape[2], type)
    if x.shape[:2] not in ((tokens, 1), (tokens, used)):
        raise ValueError(f"x has shape {list(x.shape)}: it must be [{tokens}, 1 or {used}, K]")
    contiguous(x, "x")
    contiguous(w, "w")
    rows(ids, "ids", (tokens, used), "[T, used]")
    return tokens, used, w.shape[1]


def gguf_moe_linear_fp8(x: Tensor, x_scales: Tensor, w: Tensor, type: str, ids: Tensor) -> tuple[int, int, int]:
    block(type)
    is_a(x, "x", 2, *FP8)
    is_a(x_scales, "x_scales", 1, "f32")
    is_a(w, "w", 3, "u8", "i8")
    is_a(ids, "ids", 2, "i32")
    (tokens, used), (m, k) = ids.shape, x.shape
    _gguf_row(k, w.shape[2], type)
    if m not in (tokens, tokens * used):
        raise ValueError(f"x has {m} rows: they must be {tokens}, or {tokens * used} for slots")
    rows(x_scales, "x_scales", (m,), "[T or T * used]")
    for t, name in ((x, "x"), (w, "w"), (ids, "ids")):
        contiguous(t, name)
    return tokens, used, w.shape[1]


def gguf_moe_act(x: Tensor, w: Tensor, type: str, ids: Tensor, bias: Tensor | None, swiglu: Any) -> tuple[int, int, int]:
    tokens, used, n = gguf_moe_linear(x, w, type, ids)
    contiguous(ids, "ids")
    half = _half(n, swiglu, "swiglu")
    if bias is not None:
        is_a(bias, "bias", 2, "f32")
        contiguous(bias, "bias")
        if bias.shape != (w.shape[0], n):
            raise ValueError(f"bias has shape {list(bias.shape)}: it must be [{w.shape[0]}, {n}]")
    return tokens, used, half


def _gguf_row(k: int, row_bytes: int, type: str) -> None:
    want = columns(type, row_bytes)
    if want != k:
        raise ValueError(f"w has {row_bytes} bytes in a row: of {type} they have {want} weights, but K = {k}")
