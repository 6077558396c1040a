# SPDX-License-Identifier: MIT
"""Packing of weights, and the products in plain NumPy: slow, in double."""

from __future__ import annotations

import numpy

ORDER = (0, 2, 4, 6, 1, 3, 5, 7)  # k of each nibble of a dword, from bit 0 up


def pack(q: numpy.ndarray) -> numpy.ndarray:
    """int32 [..., N, K/8] of q [..., N, K] with values 0..15; K a multiple of 8. The w of Context.linear."""
    if q.shape[-1] % 8 or q.min() < 0 or q.max() > 15:
        raise ValueError(f"q has shape {list(q.shape)} and values {q.min()}..{q.max()}: K must be a multiple of 8, values 0..15")
    nibbles = q.reshape(*q.shape[:-1], -1, 8)[..., ORDER].astype(numpy.uint32)
    return (nibbles << (4 * numpy.arange(8, dtype=numpy.uint32))).sum(-1, dtype=numpy.uint32).view(numpy.int32)


def pack_zeros(z: numpy.ndarray) -> numpy.ndarray:
    """int32 [..., ceil(N/8), K/group] of z [..., N, K/group] with values 0..15: row n in bits 4 * (n % 8)."""
    if z.min() < 0 or z.max() > 15:
        raise ValueError(f"z has values {z.min()}..{z.max()}: they must be 0..15")
    rows = -(-z.shape[-2] // 8)
    padded = numpy.zeros((*z.shape[:-2], 8 * rows, z.shape[-1]), numpy.uint32)
    padded[..., : z.shape[-2], :] = z
    parts = padded.reshape(*z.shape[:-2], rows, 8, z.shape[-1])
    return (parts << (4 * numpy.arange(8, dtype=numpy.uint32))[:, None]).sum(-2, dtype=numpy.uint32).view(numpy.int32)


def dequantize(q: numpy.ndarray, scales: numpy.ndarray, z: numpy.ndarray | None, group: int) -> numpy.ndarray:
    """float64 [..., N, K]: (q - z) * scales; z None: 8."""
    zero = 8.0 if z is None else numpy.repeat(z.astype(float), group, -1)
    return (q.astype(float) - zero) * numpy.repeat(scales.astype(float), group, -1)


def linear(x: numpy.ndarray, q: numpy.ndarray, scales: numpy.ndarray, z: numpy.ndarray | None, group: int) -> numpy.ndarray:
    """float64 [M, N]: x [M, K] times the dequantized [N, K], transposed."""
    return x.astype(float) @ dequantize(q, scales, z, group).T


def moe_linear(x: numpy.ndarray, q: numpy.ndarray, scales: numpy.ndarray, z: numpy.ndarray | None, ids: numpy.ndarray, group: int) -> numpy.ndarray:
    """float64 [T * used, N] for q [experts, N, K] and ids [T, used]; x has a row for each token, or for each slot."""
    slots = ids.reshape(-1)
    rows = numpy.arange(slots.size) * x.shape[0] // slots.size
    w = dequantize(q, scales, z, group)
    return numpy.stack([w[expert] @ x[row].astype(float) for row, expert in zip(rows, slots)])


def quantize_q8_0(w: numpy.ndarray) -> numpy.ndarray:
    """uint8 [..., K/32 * 34]: blocks of a f16 scale and 32 int8."""
    blocks = w.reshape(*w.shape[:-1], -1, 32).astype(float)
    scale = (numpy.abs(blocks).max(-1) / 127).astype(numpy.float16)
    inverse = numpy.divide(1, scale.astype(float), where=scale != 0, out=numpy.zeros(scale.shape))
    values = numpy.clip(numpy.rint(blocks * inverse[..., None]), -127, 127).astype(numpy.int8)
    out = numpy.concatenate([scale[..., None].view(numpy.uint8), values.view(numpy.uint8)], -1)
    return numpy.ascontiguousarray(out.reshape(*w.shape[:-1], -1))


def dequantize_q8_0(w: numpy.ndarray) -> numpy.ndarray:
    """float64 [..., K] of what quantize_q8_0 makes."""
    blocks = numpy.ascontiguousarray(w).reshape(*w.shape[:-1], -1, 34)
    scale = numpy.ascontiguousarray(blocks[..., :2]).view(numpy.float16).astype(float)
    return (scale * numpy.ascontiguousarray(blocks[..., 2:]).view(numpy.int8)).reshape(*w.shape[:-1], -1)


def attention(q: numpy.ndarray, k: numpy.ndarray, v: numpy.ndarray, causal: bool = True, scale: float | None = None) -> numpy.ndarray:
    """float64 [B, Sq, H, D] of q [B, Sq, H, D] and k, v [B, Sk, Hk, D]."""
    q, k, v = (x.astype(float).transpose(0, 2, 1, 3) for x in (q, k, v))
    k, v = (numpy.repeat(x, q.shape[1] // x.shape[1], 1) for x in (k, v))
    s = q @ k.transpose(0, 1, 3, 2) * (q.shape[-1] ** -0.5 if scale is None else scale)
    if causal:
        first = s.shape[-1] - s.shape[-2]
        s = numpy.where(numpy.arange(s.shape[-1]) > first + numpy.arange(s.shape[-2])[:, None], -numpy.inf, s)
    p = numpy.exp(s - s.max(-1, keepdims=True))
    return (p / p.sum(-1, keepdims=True) @ v).transpose(0, 2, 1, 3)
