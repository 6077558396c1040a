# SPDX-License-Identifier: MIT
"""What the operands of a product must be, for every caller: types, shapes, strides. Each function gives the shape of its result.

ValueError names the value, the rule and the remedy. What depends on kernels (groups, alignment, limits) is the C library's.
"""

from __future__ import annotations

from .gguf import block, columns
from .tensors import SIZES, Tensor

FP8 = ("u8", "e4m3")


def is_a(t: Tensor, name: str, dims: int, *dtypes: str) -> None:
    if t.dtype not in dtypes:
        raise ValueError(f"{name} is of type {t.dtype}: it must be {' or '.join(dtypes)}")
    if len(t.shape) != dims:
        raise ValueError(f"{name} has shape {list(t.shape)}: it must have {dims} dimensions")


def contiguous(t: Tensor, name: str) -> None:
    if 0 in t.shape:
        return
    step = SIZES[t.dtype]
    for extent, stride in zip(reversed(t.shape), reversed(t.strides)):
        if extent > 1 and stride != step:
            raise ValueError(f"{name} has strides {list(t.strides)} in bytes: it must be contiguous; make a copy that is")
        step *= extent


def rows(t: Tensor, name: str, shape: tuple[int, ...], says: str) -> None:
    """Of that shape, its rows contiguous; from row to row any stride."""
    if t.shape != shape:
        raise ValueError(f"{name} has shape {list(t.shape)}: it must be {says} = {list(shape)}")
    if t.shape[-1] > 1 and t.strides[-1] != SIZES[t.dtype]:
        raise ValueError(f"{name} has strides {list(t.strides)} in bytes: its rows must be contiguous; make a copy that is")


def result(t: Tensor, shape: tuple[int, ...], *dtypes: str) -> None:
    is_a(t, "out", len(shape), *dtypes)
    if t.shape != shape:
        raise ValueError(f"out has shape {list(t.shape)}: it must be {list(shape)}")
    contiguous(t, "out")


def _half(n: int, silu_gate_up: bool) -> int:
    if silu_gate_up and n % 2:
        raise ValueError(f"w has {n} rows: silu_gate_up takes an even number, gate and up")
    return n // 2 if silu_gate_up else n


def _groups(k: int, dwords: int, group: int) -> int:
    if dwords * 8 != k:
        raise ValueError(f"w has {dwords} dwords in a row: they must be K/8 = {k // 8}{' and a rest' if k % 8 else ''}")
    if group <= 0:
        raise ValueError(f"group = {group}: it must be 32, 64 or 128")
    if k % group:
        raise ValueError(f"K = {k}: it must be a multiple of group = {group}; pad x and w with zeros")
    return k // group


def linear(x: Tensor, w: Tensor, scales: Tensor, group: int, zeros: Tensor | None, bias: Tensor | None, silu_gate_up: bool,
           perm: Tensor | None = None) -> tuple[int, int]:  # fmt: skip
    is_a(x, "x", 2, "f16", "bf16")
    is_a(scales, "scales", 2, x.dtype)
    if perm is not None:
        is_a(perm, "perm", 1, "i32", "u32")
        rows(perm, "perm", (x.shape[1],), "[K]")
    return _product(x, w, scales, group, zeros, bias, silu_gate_up, typed=True)


def _product(x: Tensor, w: Tensor, scales: Tensor, group: int, zeros: Tensor | None, bias: Tensor | None, silu_gate_up: bool, *,
             typed: bool) -> tuple[int, int]:  # fmt: skip
    """`typed`: zero points of the scales' type are allowed."""
    is_a(w, "w", 2, "i32", "u32")
    (m, k), n = x.shape, w.shape[0]
    groups = _groups(k, w.shape[1], group)
    contiguous(x, "x")
    rows(w, "w", (n, k // 8), "[N, K/8]")
    rows(scales, "scales", (n, groups), "[N, K/group]")
    if zeros is not None:
        is_a(zeros, "zeros", 2, "i32", "u32", *((scales.dtype,) if typed else ()))
        each = zeros.dtype == scales.dtype
        rows(zeros, "zeros", (n if each else -(-n // 8), groups), "[N, K/group]" if each else "[ceil(N/8), K/group]")
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
    return m, k


def linear_w4a8(x: Tensor, x_scales: Tensor, w: Tensor, scales: Tensor, group: int, zeros: Tensor | None, bias: Tensor | None,
                silu_gate_up: bool) -> tuple[int, int]:  # fmt: skip
    is_a(x, "x", 2, "i8")
    is_a(x_scales, "x_scales", 1, "f32")
    rows(x_scales, "x_scales", (x.shape[0],), "[M]")
    is_a(scales, "scales", 2, "f16", "bf16")
    return _product(x, w, scales, group, zeros, bias, silu_gate_up, typed=False)


def moe_linear(x: Tensor, w: Tensor, scales: Tensor, ids: Tensor, group: int, zeros: Tensor | None, bias: Tensor | None,
               weights: Tensor | None, silu_gate_up: bool, perm: Tensor | None = None) -> tuple[int, int]:  # fmt: skip
    is_a(x, "x", 2, "f16", "bf16")
    is_a(w, "w", 3, "i32", "u32")
    is_a(scales, "scales", 3, x.dtype)
    is_a(ids, "ids", 2, "i32")
    (experts, n, dwords), (tokens, used), k = w.shape, ids.shape, x.shape[1]
    groups = _groups(k, dwords, group)
    slots = tokens * used
    if x.shape[0] not in (tokens, slots):
        raise ValueError(f"x has {x.shape[0]} rows: they must be {tokens}, or {slots} for slots")
    contiguous(x, "x")
    contiguous(ids, "ids")
    rows(w, "w", (experts, n, k // 8), "[experts, N, K/8]")
    rows(scales, "scales", (experts, n, groups), "[experts, N, K/group]")
    if zeros is not None:
        is_a(zeros, "zeros", 3, "i32", "u32")
        rows(zeros, "zeros", (experts, -(-n // 8), groups), "[experts, ceil(N/8), K/group]")
    if bias is not None:
        is_a(bias, "bias", 2, x.dtype)
        rows(bias, "bias", (experts, n), "[experts, N]")
        contiguous(bias, "bias")
    if weights is not None:
        is_a(weights, "weights", 2, "f32")
        rows(weights, "weights", (tokens, used), "[T, used]")
        contiguous(weights, "weights")
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


def gguf_moe_act(x: Tensor, w: Tensor, type: str, ids: Tensor, bias: Tensor | None, swiglu: bool) -> tuple[int, int, int]:
    tokens, used, n = gguf_moe_linear(x, w, type, ids)
    contiguous(ids, "ids")
    if swiglu and n % 2:
        raise ValueError(f"w has {n} rows: with swiglu they must be even, gate and up in turn")
    if bias is not None:
        is_a(bias, "bias", 2, "f32")
        contiguous(bias, "bias")
        if bias.shape != (w.shape[0], n):
            raise ValueError(f"bias has shape {list(bias.shape)}: it must be [{w.shape[0]}, {n}]")
    return tokens, used, n // 2 if swiglu else n


def _gguf_row(k: int, row_bytes: int, type: str) -> None:
    want = columns(type, row_bytes)
    if want != k:
        raise ValueError(f"w has {row_bytes} bytes in a row: of {type} they have {want} weights, but K = {k}")
