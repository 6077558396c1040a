# SPDX-License-Identifier: MIT
"""What a caller's array is: pointer, shape, strides, type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from . import dlpack

NAMES = {
    "float16": "f16", "half": "f16", "bfloat16": "bf16", "bf16": "bf16", "float32": "f32", "float": "f32", "int32": "i32", "uint32": "u32",
    "uint8": "u8", "int8": "i8", "float8_e4m3fn": "e4m3",
}  # fmt: skip
_TYPESTR = {"<f2": "f16", "<f4": "f32", "<i4": "i32", "<u4": "u32", "|u1": "u8", "|i1": "i8"}
SIZES = {"f16": 2, "bf16": 2, "f32": 4, "i32": 4, "u32": 4, "u8": 1, "i8": 1, "e4m3": 1}


@dataclass(frozen=True)
class Tensor:
    pointer: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]  # bytes
    dtype: str
    owner: object = None  # keeps the memory


def _contiguous(shape: tuple[int, ...], size: int) -> tuple[int, ...]:
    out: tuple[int, ...] = ()
    for extent in reversed(shape):
        out = (size, *out)
        size *= extent
    return out


def _of_torch(x: Any, name: str) -> Tensor:
    where = getattr(getattr(x, "device", None), "type", "cuda")
    if where != "cuda":
        raise ValueError(f"{name} is on {where}: it must be in the GPU's memory; move it there")
    dtype = str(x.dtype).removeprefix("torch.")
    if dtype not in NAMES:
        raise ValueError(f"{name} is of type {dtype}: it must be one of {', '.join(sorted(NAMES))}")
    size = x.element_size()
    return Tensor(x.data_ptr(), tuple(x.shape), tuple(step * size for step in x.stride()), NAMES[dtype], x)


def _of_interface(x: Any, name: str) -> Tensor:
    face = x.__cuda_array_interface__
    if face["typestr"] not in _TYPESTR:
        raise ValueError(f"{name} is of type {face['typestr']}: it must be one of {', '.join(_TYPESTR)}")
    dtype, shape = _TYPESTR[face["typestr"]], tuple(face["shape"])
    return Tensor(face["data"][0], shape, tuple(face.get("strides") or _contiguous(shape, SIZES[dtype])), dtype, x)


def _of_dlpack(x: Any, name: str, stream: int) -> Tensor:
    if x.__dlpack_device__()[0] not in (dlpack.ROCM, dlpack.ROCM_HOST):
        raise ValueError(f"{name} is on DLPack device {x.__dlpack_device__()}: it must be on one of type 10, kDLROCM")
    capsule = x.__dlpack__(stream=stream or None)
    t = dlpack.tensor_of(capsule)
    dtype, shape = dlpack.TYPES.get((t.code, t.bits)), tuple(t.shape[: t.ndim])
    if dtype is None or t.lanes != 1:
        raise ValueError(f"{name} has DLPack type (code {t.code}, {t.bits} bits, {t.lanes} lanes), which no kernel takes")
    strides = tuple(step * SIZES[dtype] for step in t.strides[: t.ndim]) if t.strides else _contiguous(shape, SIZES[dtype])
    return Tensor((t.data or 0) + t.byte_offset, shape, strides, dtype, capsule)


def tensor(x: Any, name: str, *dtypes: str, dims: int | None = None, stream: int = 0) -> Tensor:
    """`x`, with data_ptr(), __cuda_array_interface__ or __dlpack__. ValueError if its type is not of `dtypes`, or its
    dimensions not `dims`."""
    if hasattr(x, "data_ptr"):
        out = _of_torch(x, name)
    elif hasattr(x, "__cuda_array_interface__"):
        out = _of_interface(x, name)
    elif hasattr(x, "__dlpack__") and hasattr(x, "__dlpack_device__"):
        out = _of_dlpack(x, name, stream)
    else:
        raise ValueError(f"{name} is a {type(x).__name__}: it must have data_ptr(), __cuda_array_interface__ or __dlpack__")
    if dtypes and out.dtype not in dtypes:
        raise ValueError(f"{name} is of type {out.dtype}: it must be {' or '.join(dtypes)}")
    if dims is not None and len(out.shape) != dims:
        raise ValueError(f"{name} has shape {list(out.shape)}: it must have {dims} dimensions")
    return out


def stream_of(stream: Any) -> int:
    """A hipStream_t: a number, or an object with cuda_stream (torch), ptr (CuPy) or __cuda_stream__; None: the null stream."""
    if stream is None or isinstance(stream, int):
        return stream or 0
    if hasattr(stream, "__cuda_stream__"):
        return int(stream.__cuda_stream__()[1])
    for attribute in ("cuda_stream", "ptr"):
        if hasattr(stream, attribute):
            return int(getattr(stream, attribute))
    raise ValueError(f"stream is a {type(stream).__name__}: it must be a number, or have cuda_stream, ptr or __cuda_stream__")
