# SPDX-License-Identifier: MIT
"""Packing of weights, and the products in plain NumPy: slow, in double. Arrays of uint16 are bits of bf16, which NumPy lacks.

GGUF's types: nibblewave.gguf.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy

from .arrays import Array, array, within
from .gguf import block, columns
from .gguf import dequantize as dequantize_gguf
from .scalars import flag, real, whole

ORDER = (0, 2, 4, 6, 1, 3, 5, 7)  # k of each nibble of a dword, from bit 0 up
BYTES = (0, 4, 1, 5, 2, 6, 3, 7)  # k of each of eight int8 activations: that of the nibbles in a dword's bytes
_SHIFTS = 4 * numpy.arange(8, dtype=numpy.uint32)


def _groups_of(k: int, group: Any) -> int:
    """Groups of a row of k columns."""
    group = whole(group, "group", 1, max(k, 1), f"of 1 to K = {k}")
    if k % group:
        raise ValueError(f"group = {group}: K = {k} must be a multiple of it; pad with zeros")
    return k // group


def _multiple_of_8(k: int, name: str) -> None:
    if k % 8:
        raise ValueError(f"{name} has K = {k}: it must be a multiple of 8; pad with zeros")


def pack(q: Array) -> Array:
    """int32 [..., N, K/8] of q [..., N, K] with values 0..15; K a multiple of 8. The w of Context.linear."""
    within(array(q, "q", "whole", ..., None, None, says="[..., N, K]"), "q", 0, 15)
    _multiple_of_8(q.shape[-1], "q")
    nibbles = q.reshape(*q.shape[:-1], -1, 8)[..., ORDER].astype(numpy.uint32)
    return (nibbles << _SHIFTS).sum(-1, dtype=numpy.uint32).view(numpy.int32)


def unpack(w: Array) -> Array:
    """uint8 [..., N, K] with values 0..15 of what pack() makes."""
    array(w, "w", "dwords", ..., None, says="[..., K/8]")
    nibbles = numpy.empty((*w.shape, 8), numpy.uint8)
    nibbles[..., ORDER] = numpy.ascontiguousarray(w).view(numpy.uint32)[..., None] >> _SHIFTS & 15
    return nibbles.reshape(*w.shape[:-1], 8 * w.shape[-1])


def pack_zeros(z: Array) -> Array:
    """int32 [..., ceil(N/8), K/group] of z [..., N, K/group] with values 0..15: row n in bits 4 * (n % 8)."""
    within(array(z, "z", "whole", ..., None, None, says="[..., N, K/group]"), "z", 0, 15)
    rows = -(-z.shape[-2] // 8)
    padded = numpy.zeros((*z.shape[:-2], 8 * rows, z.shape[-1]), numpy.uint32)
    padded[..., : z.shape[-2], :] = z
    parts = padded.reshape(*z.shape[:-2], rows, 8, z.shape[-1])
    return (parts << _SHIFTS[:, None]).sum(-2, dtype=numpy.uint32).view(numpy.int32)


def unpack_zeros(zeros: Array, n: int) -> Array:
    """uint8 [..., n, K/group] of what pack_zeros() makes."""
    most = 8 * array(zeros, "zeros", "dwords", ..., None, None, says="[..., ceil(N/8), K/group]").shape[-2]
    n = whole(n, "n", max(most - 7, 0), most)
    parts = numpy.ascontiguousarray(zeros).view(numpy.uint32)[..., None, :] >> _SHIFTS[:, None] & 15
    return parts.reshape(*zeros.shape[:-2], -1, zeros.shape[-1])[..., :n, :].astype(numpy.uint8)


def values(x: Array) -> Array:
    """float64; of uint16 the numbers whose bf16 bits they are."""
    array(x, "x", "zeros", ...)
    return (x.astype(numpy.uint32) << 16).view(numpy.float32).astype(float) if x.dtype == numpy.uint16 else x.astype(float)


def dequantize(q: Array, scales: Array, z: Array | None, group: int) -> Array:
    """float64 [..., N, K]: (q - z) * scales; z None: 8, else whole numbers or, typed, of the scales' type."""
    array(q, "q", "whole", ..., None, None, says="[..., N, K]")
    wanted = (*q.shape[:-1], _groups_of(q.shape[-1], group))
    array(scales, "scales", "numbers", *wanted, says="[..., N, K/group]")
    if z is not None and array(z, "z", "zeros", *wanted, says="[..., N, K/group]").dtype == numpy.uint16 != scales.dtype:
        raise ValueError(f"z is of type uint16, bits of bf16, and scales of {scales.dtype}: typed zero points must be of the type of scales, "
                         "whole numbers of another type than uint16")  # fmt: skip
    zero = 8.0 if z is None else numpy.repeat(values(z), group, -1)
    return (q.astype(float) - zero) * numpy.repeat(values(scales), group, -1)


def silu_gate_up(y: Array) -> Array:
    """[..., N/2] of y [..., N]: SiLU(y[n]) * y[n + N/2]."""
    if array(y, "y", "floats", ..., None, says="[..., N]").shape[-1] % 2:
        raise ValueError(f"y has N = {y.shape[-1]}: it must be even, gate and up")
    gate, up = numpy.split(y, 2, -1)
    with numpy.errstate(over="ignore"):  # exp(-gate) = inf: SiLU is -0
        return gate / (1 + numpy.exp(-gate)) * up


def linear(x: Array, q: Array, scales: Array, z: Array | None, group: int, *, bias: Array | None = None, silu: bool = False,
           perm: Array | None = None) -> Array:  # fmt: skip
    """float64 [M, N]: x [M, K] times the dequantized [N, K], transposed, plus bias [N]. `silu`: [M, N/2] by silu_gate_up(). perm
    [K]: column k of q belongs to x[:, perm[k]]."""
    array(q, "q", "whole", None, None, says="[N, K]")
    n, k = q.shape
    array(x, "x", "numbers", None, k, says="[M, K]")
    if bias is not None:
        array(bias, "bias", "numbers", n, says="[N]")
    if perm is not None:
        within(array(perm, "perm", "whole", k, says="[K]"), "perm", 0, k - 1)
    y = values(x if perm is None else x[:, perm]) @ dequantize(q, scales, z, group).T + (0.0 if bias is None else values(bias))
    return silu_gate_up(y) if flag(silu, "silu") else y


def _tokens_or_slots(x: Array, ids: Array) -> None:
    if len(x) not in (len(ids), ids.size):
        raise ValueError(f"x has {len(x)} rows: they must be {len(ids)}, or {ids.size} for slots")


def _rows(w: Array, type: str, x: Array, kind: str, *front: int | None, says: str) -> None:
    """x has the K of weights [N, row bytes] of a GGUF type."""
    block(type)
    array(x, "x", kind, *front, columns(type, array(w, "w", "bytes", None, None, says="[N, row bytes]").shape[1]), says=says)


def _row_scales(x: Array, largest: int) -> Array:
    scale = numpy.abs(x).max(1, initial=0) * numpy.float32(1 / largest)
    scale[scale < numpy.finfo(numpy.float32).tiny] = 0
    scale[~numpy.isfinite(x).all(1)] = numpy.nan
    return scale


def quantize_rows(x: Array) -> tuple[Array, Array]:
    """int8 [M, K], in the order of Context.quantize_rows(), and float32 [M] of x [M, K] in f16 or bf16 bits; K a multiple of 8."""
    _multiple_of_8(array(x, "x", "numbers", None, None, says="[M, K]").shape[1], "x")
    single = values(x).astype(numpy.float32)
    scale = _row_scales(single, 127)
    used = scale > 0
    q = numpy.zeros(x.shape, numpy.int8)
    q[used] = numpy.rint(single[used].astype(float) * (1 / scale[used])[:, None])
    return q.reshape(len(x), -1, 8)[..., BYTES].reshape(x.shape), scale


def linear_w4a8(x: Array, x_scales: Array, q: Array, scales: Array, z: Array | None, group: int, *, bias: Array | None = None,
                silu: bool = False) -> Array:  # fmt: skip
    """linear() of x int8 [M, K] and x_scales [M] as quantize_rows() makes them."""
    _multiple_of_8(array(x, "x", "int8", None, None, says="[M, K]").shape[1], "x")
    array(x_scales, "x_scales", "numbers", len(x), says="[M]")
    in_order = numpy.empty((*x.shape[:-1], x.shape[-1] // 8, 8))
    in_order[..., BYTES] = x.reshape(in_order.shape)
    return linear(in_order.reshape(x.shape) * values(x_scales)[:, None], q, scales, z, group, bias=bias, silu=silu)


def e4m3(x: Array) -> Array:
    """float64 of uint8, bits of fp8 e4m3: 0x7f and 0xff are NaN, there is no infinity."""
    array(x, "x", "uint8", ...)
    exponent, fraction = (x >> 3 & 15).astype(int), (x & 7).astype(float)
    size = numpy.where(exponent == 0, numpy.ldexp(fraction, -9), numpy.ldexp(8 + fraction, exponent - 10))
    size[x & 127 == 127] = numpy.nan
    return numpy.where(x & 128, -size, size)


_E4M3 = e4m3(numpy.arange(127, dtype=numpy.uint8))  # ascending, 0 to 448


def to_e4m3(x: Array) -> Array:
    """uint8 of numbers of up to 448: the nearest, halves to even. Up to 464 that is 448."""
    size = numpy.abs(array(x, "x", "floats", ...))
    if not (size <= 464).all():
        raise ValueError(f"x has {float(size.max())}: e4m3 has numbers of up to 448; divide by a scale")
    above = numpy.clip(numpy.searchsorted(_E4M3, size), 1, len(_E4M3) - 1)
    low, high = size - _E4M3[above - 1], _E4M3[above] - size
    up = (high < low) | ((high == low) & (above % 2 == 0))
    return (above - 1 + up + 128 * numpy.signbit(x)).astype(numpy.uint8)


def quantize_fp8(x: Array) -> tuple[Array, Array]:
    """uint8 [M, K], bits of e4m3, and float32 [M] of x [M, K] in f16 or bf16 bits, as Context.quantize_fp8() makes them. Rows with
    the scale NaN may have others there."""
    single = values(array(x, "x", "numbers", None, None, says="[M, K]")).astype(numpy.float32)
    scale = _row_scales(single, 448)
    used = scale > 0
    q = numpy.where(numpy.signbit(single), 128, 0).astype(numpy.uint8)
    q[used] = to_e4m3((single[used] * (1 / scale[used])[:, None]).astype(numpy.float32))
    return q, scale


def gguf_linear_fp8(x: Array, x_scales: Array, w: Array, type: str) -> Array:
    """float64 [M, N]: gguf_linear() of x uint8 [M, K] and x_scales [M] as quantize_fp8() makes them."""
    _rows(w, type, x, "uint8", None, says="[M, K]")
    array(x_scales, "x_scales", "numbers", len(x), says="[M]")
    return e4m3(x) * values(x_scales)[:, None] @ dequantize_gguf(w, type).T


def moe_linear(x: Array, q: Array, scales: Array, z: Array | None, ids: Array, group: int, *, bias: Array | None = None,
               weights: Array | None = None, silu: bool = False, out: Array | None = None, perm: Array | None = None) -> Array:  # fmt: skip
    """float64 [T * used, N or N/2] for q [experts, N, K] and ids [T, used]; x has a row for each token, or for each slot.
    bias [experts, N]. weights [T, used] multiply the result. Slots with an id of no expert keep their rows of `out`, by default 0. perm
    [experts, K]: each expert's, as of linear()."""
    array(q, "q", "whole", None, None, None, says="[experts, N, K]")
    slots = array(ids, "ids", "whole", None, None, says="[T, used]").reshape(-1)
    n = q.shape[1] // (2 if flag(silu, "silu") else 1)
    _tokens_or_slots(array(x, "x", "numbers", None, q.shape[2], says="[T or T * used, K]"), ids)
    groups = _groups_of(q.shape[2], group)
    array(scales, "scales", "numbers", *q.shape[:2], groups, says="[experts, N, K/group]")
    for given, name, kind, shape, says in (
        (z, "z", "zeros", (*q.shape[:2], groups), "[experts, N, K/group]"), (bias, "bias", "numbers", q.shape[:2], "[experts, N]"),
        (weights, "weights", "numbers", ids.shape, "[T, used]"), (out, "out", "numbers", (slots.size, n), "[T * used, N or N/2]"),
        (perm, "perm", "whole", (len(q), q.shape[2]), "[experts, K]"),
    ):  # fmt: skip
        if given is not None:
            array(given, name, kind, *shape, says=says)
    y = numpy.zeros((slots.size, n)) if out is None else values(out)
    factor = numpy.ones(slots.size) if weights is None else values(weights).reshape(-1)
    for expert in range(len(q)):
        chosen = numpy.nonzero(slots == expert)[0]
        if chosen.size:
            zero, added, order = (None if a is None else a[expert] for a in (z, bias, perm))
            part = linear(x[chosen * x.shape[0] // slots.size], q[expert], scales[expert], zero, group, bias=added, silu=silu, perm=order)
            y[chosen] = factor[chosen, None] * part
    return y


def gguf_linear(x: Array, w: Array, type: str) -> Array:
    """float64 [M, N]: x [M, K] times the weights w [N, row bytes], transposed."""
    _rows(w, type, x, "numbers", None, says="[M, K]")
    return values(x) @ dequantize_gguf(w, type).T


def gguf_moe_linear(x: Array, w: Array, type: str, ids: Array) -> Array:
    """float64 [T, used, N] for w [experts, N, row bytes] and ids [T, used]; x [T, 1 or used, K]. Slots with an id of no expert
    are 0."""
    array(w, "w", "bytes", None, None, None, says="[experts, N, row bytes]")
    tokens, used = array(ids, "ids", "whole", None, None, says="[T, used]").shape
    k = columns(type, w.shape[2])
    if array(x, "x", "numbers", tokens, None, k, says="[T, 1 or used, K]").shape[1] not in (1, used):
        raise ValueError(f"x has shape {list(x.shape)}: it must be [T, 1 or used, K] = [{tokens}, 1 or {used}, {k}]")
    y = numpy.zeros((*ids.shape, w.shape[1]))
    for expert in range(len(w)):
        token, slot = numpy.nonzero(ids == expert)
        if token.size:
            y[token, slot] = gguf_linear(x[token, slot % x.shape[1]], w[expert], type)
    return y


def gguf_moe_linear_fp8(x: Array, x_scales: Array, w: Array, type: str, ids: Array) -> Array:
    """float64 [T, used, N]: gguf_moe_linear() of x uint8 [T or T * used, K] and x_scales as quantize_fp8() makes them."""
    _tokens_or_slots(array(x, "x", "uint8", None, None, says="[T or T * used, K]"), array(ids, "ids", "whole", None, None, says="[T, used]"))
    array(x_scales, "x_scales", "numbers", len(x), says="[T or T * used]")
    return gguf_moe_linear((e4m3(x) * values(x_scales)[:, None]).reshape(len(ids), -1, x.shape[1]), w, type, ids)


def gguf_moe_act(x: Array, w: Array, type: str, ids: Array, bias: Array | None = None, swiglu: bool = False,
                 alpha: float = 1.702, limit: float = 7.0) -> Array:  # fmt: skip
    """float64 [T, used, N], with swiglu [T, used, N/2]: gguf_moe_linear with bias [experts, N], then gpt-oss's SwiGLU of rows of gate and
    up in turn."""
    y, alpha, limit = gguf_moe_linear(x, w, type, ids), real(alpha, "alpha"), real(limit, "limit")
    if flag(swiglu, "swiglu") and w.shape[1] % 2:
        raise ValueError(f"w has {w.shape[1]} rows: swiglu takes an even number, gate and up")
    there = (ids >= 0) & (ids < len(w))
    if bias is not None:
        y[there] += values(array(bias, "bias", "numbers", *w.shape[:2], says="[experts, N]"))[ids[there]]
    if not swiglu:
        return y
    gate, up = numpy.minimum(y[..., ::2], limit), numpy.clip(y[..., 1::2], -limit, limit)
    power = numpy.minimum(-alpha * gate, 700)  # larger ones would overflow
    return numpy.where(there[..., None], (up + 1) * gate / (1 + numpy.exp(power)), 0)


def rms_norm(x: Array, w: Array | None = None, eps: float = 1e-6) -> Array:
    """float64 [M, K]: rows of x [M, K] divided by the root of their mean square + eps, times w [K] or 1."""
    rows = values(array(x, "x", "numbers", None, None, says="[M, K]"))
    y = rows / numpy.sqrt((rows**2).mean(-1, keepdims=True) + real(eps, "eps"))
    return y if w is None else y * values(array(w, "w", "numbers", x.shape[1], says="[K]"))


def glu(gate: Array, up: Array, act: str, alpha: float = 1.702, limit: float = 7.0) -> Array:
    """float64 [M, K]: act(gate) * up of gate and up [M, K], as Context.glu."""
    g = values(array(gate, "gate", "numbers", None, None, says="[M, K]"))
    u = values(array(up, "up", "numbers", *g.shape, says="[M, K], as gate's"))
    alpha, limit = real(alpha, "alpha"), real(limit, "limit")
    acts: dict[str, Callable[[], numpy.ndarray]] = {
        "swiglu": lambda: _gated(g, g),
        "swiglu_oai": lambda: _gated(numpy.minimum(g, limit), alpha * numpy.minimum(g, limit)),
        "geglu": lambda: numpy.where(g <= -10, 0, _gated(g, 2 * math.sqrt(2 / math.pi) * (g + 0.044715 * g**3))),
        "geglu_erf": lambda: g / 2 * numpy.vectorize(math.erfc, otypes=[float])(-g / math.sqrt(2)),
        "geglu_quick": lambda: _gated(g, 1.702 * g),
        "reglu": lambda: numpy.maximum(g, 0),
    }
    if not isinstance(act, str) or act not in acts:
        raise ValueError(f"act = {act!r}: it must be one of {', '.join(acts)}")
    return acts[act]() * (numpy.clip(u, -limit, limit) + 1 if act == "swiglu_oai" else u)


def _gated(x: Array, z: Array) -> Array:
    """x / (1 + e^-z)"""
    with numpy.errstate(over="ignore"):
        return x / (1 + numpy.exp(-z))


def attention(q: Array, k: Array, v: Array, causal: bool = True, scale: float | None = None) -> numpy.ndarray:
    """float64 [B, Sq, H, D] of q [B, Sq, H, D] and k, v [B, Sk, Hk, D]."""
    (b, sq, h, d), hk = array(q, "q", "numbers", None, None, None, None, says="[B, Sq, H, D]").shape, 0
    if array(k, "k", "numbers", b, None, None, d, says="[B, Sk, Hk, D]").shape[2] == 0 or h % (hk := k.shape[2]):
        raise ValueError(f"q has H = {h} and k Hk = {hk}: H must be a multiple of Hk, above 0")
    array(v, "v", "numbers", *k.shape, says="k's shape")
    if flag(causal, "causal") and sq > k.shape[1]:
        raise ValueError(f"q has Sq = {sq} and k Sk = {k.shape[1]}: with causal there must be a key for each query")
    scale = d**-0.5 if scale is None else real(scale, "scale")
    q, k, v = (values(x).transpose(0, 2, 1, 3) for x in (q, k, v))
    k, v = (numpy.repeat(x, q.shape[1] // x.shape[1], 1) for x in (k, v))
    s = q @ k.transpose(0, 1, 3, 2) * scale
    if causal:
        first = s.shape[-1] - s.shape[-2]
        s = numpy.where(numpy.arange(s.shape[-1]) > first + numpy.arange(s.shape[-2])[:, None], -numpy.inf, s)
    p = numpy.exp(s - s.max(-1, keepdims=True))
    return (p / p.sum(-1, keepdims=True) @ v).transpose(0, 2, 1, 3)
