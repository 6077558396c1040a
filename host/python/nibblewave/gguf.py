# SPDX-License-Identifier: MIT
"""Weights of GGUF files in plain NumPy, in double. Formulas: nibblewave.h, nw_gguf."""

from __future__ import annotations

from collections.abc import Callable

import numpy

from .arrays import Array, array
from .scalars import shown, whole

_IQ4 = numpy.array([-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113])
_E2M1 = numpy.array([0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12]) / 2
_D, _M, _QS = ("d", "<f2"), ("m", "<f2"), ("qs", "u1", 16)
_DMIN, _QS_128, _SCALES_12 = ("dmin", "<f2"), ("qs", "u1", 128), ("scales", "u1", 12)

# Quantization blocks as files have them.
_BLOCKS = {
    "q4_0": numpy.dtype([_D, _QS]),
    "q4_1": numpy.dtype([_D, _M, _QS]),
    "q5_0": numpy.dtype([_D, ("qh", "<u4"), _QS]),
    "q5_1": numpy.dtype([_D, _M, ("qh", "<u4"), _QS]),
    "q8_0": numpy.dtype([_D, ("qs", "i1", 32)]),
    "q2_K": numpy.dtype([("scales", "u1", 16), ("qs", "u1", 64), _D, _DMIN]),
    "q3_K": numpy.dtype([("hmask", "u1", 32), ("qs", "u1", 64), _SCALES_12, _D]),
    "q4_K": numpy.dtype([_D, _DMIN, _SCALES_12, _QS_128]),
    "q5_K": numpy.dtype([_D, _DMIN, _SCALES_12, ("qh", "u1", 32), _QS_128]),
    "q6_K": numpy.dtype([("ql", "u1", 128), ("qh", "u1", 64), ("scales", "i1", 16), _D]),
    "iq4_nl": numpy.dtype([_D, _QS]),
    "iq4_xs": numpy.dtype([_D, ("scales_h", "<u2"), ("scales_l", "u1", 4), _QS_128]),
    "mxfp4": numpy.dtype([("e", "u1"), _QS]),
    "nvfp4": numpy.dtype([("d", "u1", 4), ("qs", "u1", 32)]),
}


def block(type: str) -> tuple[int, int]:
    """Weights of a quantization block, and its bytes."""
    if not isinstance(type, str) or type not in _BLOCKS:
        raise ValueError(f"type = {shown(type)}: there are kernels for {', '.join(_BLOCKS)}")
    elements = 256 if type.endswith("_K") or type == "iq4_xs" else 64 if type == "nvfp4" else 32
    return elements, _BLOCKS[type].itemsize


def columns(type: str, row_bytes: int) -> int:
    """K of a row with that number of bytes."""
    elements, size = block(type)
    row_bytes = whole(row_bytes, "row_bytes", 0, 2**63 - 1)
    if row_bytes % size:
        raise ValueError(f"w has {row_bytes} bytes in a row: {type} has blocks of {size} bytes, so they must be a multiple of it")
    return row_bytes // size * elements


def _nibbles(qs: Array) -> Array:
    """[..., 2 * bytes]: all low ones, then all high ones."""
    return numpy.concatenate([qs & 15, qs >> 4], -1).astype(int)


def _bits(bytes_: Array, width: int, count: int) -> Array:
    """[..., count, bytes]: fields of `width` bits, from bit 0 up."""
    shifts = width * numpy.arange(count, dtype=bytes_.dtype)[:, None]
    return (bytes_[..., None, :] >> shifts & (1 << width) - 1).astype(int)


def _d(b: Array, name: str = "d") -> Array:
    return b[name].astype(float)[:, None]


def _fifth(b: Array) -> Array:
    return _nibbles(b["qs"]) | _bits(b["qh"][:, None], 1, 32)[..., 0] << 4


def _scaled(b: Array, scale: Array, quant: Array) -> Array:
    """d * scale * quant, with a scale for each sub-block."""
    q = quant.reshape(len(b), scale.shape[1], -1)
    return (_d(b)[..., None] * scale[..., None] * q).reshape(len(b), -1)


def _less_minima(b: Array, scale: Array, least: Array, quant: Array) -> Array:
    size = 256 // least.shape[1]
    return _scaled(b, scale, quant) - numpy.repeat(_d(b, "dmin") * least, size, -1)


def _six_bits(s: Array) -> tuple[Array, Array]:
    """Scales and minima of q4_K and q5_K: bytes 0-3 and 4-7 hold the first four of each in 6 bits, and the upper two bits of
    the others; bytes 8-11 their lower four."""
    low, high = s[:, :8] & 63, s[:, :8] >> 6 << 4
    scale = numpy.concatenate([low[:, :4], s[:, 8:] & 15 | high[:, :4]], -1)
    return scale.astype(int), numpy.concatenate([low[:, 4:], s[:, 8:] >> 4 | high[:, 4:]], -1).astype(int)


def _pairs(qs: Array) -> Array:
    """q4_K and q5_K: 32 bytes hold two sub-blocks."""
    return _nibbles(qs.reshape(len(qs), 4, 32)).reshape(len(qs), 8, 32)


def _two_bits(qs: Array) -> Array:
    return _bits(qs.reshape(len(qs), 2, 32), 2, 4).reshape(len(qs), 256)


def _q2_k(b: Array) -> Array:
    return _less_minima(b, b["scales"] & 15, b["scales"] >> 4, _two_bits(b["qs"]))


def _q3_k(b: Array) -> Array:
    s = b["scales"]
    scale = _nibbles(s[:, :8]) | _bits(s[:, 8:], 2, 4).reshape(len(b), 16) << 4
    return _scaled(b, scale - 32, _two_bits(b["qs"]) + 4 * _bits(b["hmask"], 1, 8).reshape(len(b), 256) - 4)


def _q4_k(b: Array) -> Array:
    return _less_minima(b, *_six_bits(b["scales"]), _pairs(b["qs"]))


def _q5_k(b: Array) -> Array:
    return _less_minima(b, *_six_bits(b["scales"]), _pairs(b["qs"]) | _bits(b["qh"], 1, 8) << 4)


def _q6_k(b: Array) -> Array:
    """Each half has four rows of 32: rows 0 and 1 are low nibbles of ql, 2 and 3 the high ones."""
    low = _nibbles(b["ql"].reshape(len(b), 2, 64)).reshape(len(b), 256)
    high = _bits(b["qh"].reshape(len(b), 2, 32), 2, 4).reshape(len(b), 256)
    return _scaled(b, b["scales"].astype(int), (low | high << 4) - 32)


def _iq4_xs(b: Array) -> Array:
    low = numpy.stack([b["scales_l"] & 15, b["scales_l"] >> 4], -1).reshape(len(b), 8).astype(int)
    scale = low | _bits(b["scales_h"][:, None], 2, 8)[..., 0] << 4
    return _scaled(b, scale - 32, _IQ4[_nibbles(b["qs"].reshape(len(b), 8, 16))])


def _ue4m3(d: Array) -> Array:
    """fp8 e4m3 without its sign; 0x7f, its NaN, is 0, as in ggml."""
    exponent, fraction = d.astype(int) >> 3 & 15, d.astype(int) & 7
    value = numpy.ldexp(numpy.where(exponent > 0, 8 + fraction, fraction).astype(float), numpy.maximum(exponent, 1) - 10)
    return numpy.where(d == 0x7F, 0, value)


def _nvfp4(b: Array) -> Array:
    values = _E2M1[_nibbles(b["qs"].reshape(len(b), 4, 8))]
    return (_ue4m3(b["d"])[..., None] * values).reshape(len(b), -1)


_VALUES: dict[str, Callable[[Array], Array]] = {
    "q4_0": lambda b: _d(b) * (_nibbles(b["qs"]) - 8),
    "q4_1": lambda b: _d(b) * _nibbles(b["qs"]) + _d(b, "m"),
    "q5_0": lambda b: _d(b) * (_fifth(b) - 16),
    "q5_1": lambda b: _d(b) * _fifth(b) + _d(b, "m"),
    "q8_0": lambda b: _d(b) * b["qs"],
    "q2_K": _q2_k,
    "q3_K": _q3_k,
    "q4_K": _q4_k,
    "q5_K": _q5_k,
    "q6_K": _q6_k,
    "iq4_nl": lambda b: _d(b) * _IQ4[_nibbles(b["qs"])],
    "iq4_xs": _iq4_xs,
    "mxfp4": lambda b: numpy.ldexp(1.0, b["e"].astype(int) - 127)[:, None] * _E2M1[_nibbles(b["qs"])],
    "nvfp4": _nvfp4,
}


def dequantize(w: Array, type: str) -> Array:
    """float64 [..., K] of uint8 [..., row bytes], the bytes of a GGUF file. `type`: its name in ggml, such as "q4_K"."""
    k = columns(type, array(w, "w", "bytes", ..., None, says="[..., row bytes]").shape[-1])
    blocks = numpy.ascontiguousarray(w).view(numpy.uint8).reshape(-1).view(_BLOCKS[type])
    return _VALUES[type](blocks).reshape(*w.shape[:-1], k)


def quantize_q8_0(w: Array) -> Array:
    """uint8 [..., K/32 * 34] of w [..., K]."""
    if array(w, "w", "floats", ..., None, says="[..., K]").shape[-1] % 32:
        raise ValueError(f"w has shape {list(w.shape)}: K must be a multiple of 32; pad with zeros")
    if not numpy.isfinite(w).all() or numpy.abs(w).max(initial=0) > 127 * 65504:
        raise ValueError("w has a NaN, an infinity or a number above 127 * 65504: scales of q8_0 are float16")
    blocks = w.reshape(*w.shape[:-1], -1, 32).astype(float)
    scale = (numpy.abs(blocks).max(-1) / 127).astype(numpy.float16)
    inverse = numpy.divide(1, scale.astype(float), where=scale != 0, out=numpy.zeros(scale.shape))
    values = numpy.clip(numpy.rint(blocks * inverse[..., None]), -127, 127).astype(numpy.int8)
    out = numpy.concatenate([scale[..., None].view(numpy.uint8), values.view(numpy.uint8)], -1)
    return numpy.ascontiguousarray(out.reshape(*w.shape[:-1], -1))
