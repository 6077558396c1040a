# SPDX-License-Identifier: MIT
"""Descriptions of callers' arrays: pointer, shape, strides, type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from . import dlpack
from .scalars import whole

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
    device: int | None = None  # HIP's number, where the array says it
    read_only: bool = False


def _contiguous(shape: tuple[int, ...], size: int) -> tuple[int, ...]:
    out: tuple[int, ...] = ()
    for extent in reversed(shape):
        out = (size, *out)
        size *= extent
    return out


# DLDeviceType, as messages name the memory
_PLACES = {2: "of a CUDA device", 4: "of an OpenCL device", 7: "of a Vulkan device", 8: "of a Metal device", 14: "of a oneAPI device",
           15: "of a WebGPU device"}  # fmt: skip
_CODES = {0: "int", 1: "uint", 2: "float", 4: "bfloat", 5: "complex", 6: "bool"}  # DLDataTypeCode


def _wrap(name: str) -> str:
    return f"wrap it by nibblewave.DeviceArray({name})"


def _type_of(dtype: str, name: str) -> str:
    if dtype not in NAMES:
        raise ValueError(f"{name} is of type {dtype}: it must be one of {', '.join(sorted(NAMES))}; convert it")
    return NAMES[dtype]


def _of_torch(x: Any, name: str) -> Tensor:
    device = getattr(x, "device", None)
    where = getattr(device, "type", "cuda")
    if where != "cuda":
        raise ValueError(f"{name} is on {where}: it must be in the GPU's memory; move it there")
    dtype, size = _type_of(str(x.dtype).removeprefix("torch."), name), x.element_size()
    return Tensor(x.data_ptr(), tuple(x.shape), tuple(step * size for step in x.stride()), dtype, x, getattr(device, "index", None))


def _of_interface(x: Any, name: str) -> Tensor:
    face = x.__cuda_array_interface__
    if face["typestr"] not in _TYPESTR:
        raise ValueError(f"{name} is of type {face['typestr']}: it must be one of {', '.join(_TYPESTR)}; convert it")
    if face.get("mask") is not None:
        raise ValueError(f"{name} has a mask: it must be an array without one; fill what is masked")
    dtype, shape = _TYPESTR[face["typestr"]], tuple(face["shape"])
    pointer, read_only = face["data"]
    return Tensor(pointer or 0, shape, tuple(face.get("strides") or _contiguous(shape, SIZES[dtype])), dtype, x, None, bool(read_only))


def _of_dlpack(x: Any, name: str, stream: int) -> Tensor:
    kind, ordinal = x.__dlpack_device__()
    if int(kind) not in (dlpack.ROCM, dlpack.ROCM_HOST):
        where = f"in memory {_PLACES.get(int(kind), 'of another kind of device')}: move it to the ROCm device, or {_wrap(f'a NumPy copy of {name}')}"
        raise ValueError(f"{name} is {f'on the host: {_wrap(name)}' if int(kind) == 1 else where}")
    capsule = x.__dlpack__(stream=stream or None)
    t = dlpack.tensor_of(capsule)
    dtype, shape = dlpack.TYPES.get((t.code, t.bits)), tuple(t.shape[: t.ndim])
    if dtype is None or t.lanes != 1:
        has = f"{_CODES.get(t.code, 'another type of ')}{t.bits}{f', {t.lanes} to an element' if t.lanes != 1 else ''}"
        raise ValueError(f"{name} is of type {has}: it must be one of {', '.join(sorted(set(dlpack.TYPES.values())))}; convert it")
    strides = tuple(step * SIZES[dtype] for step in t.strides[: t.ndim]) if t.strides else _contiguous(shape, SIZES[dtype])
    return Tensor((t.data or 0) + t.byte_offset, shape, strides, dtype, capsule, int(ordinal) if int(kind) == dlpack.ROCM else None)


def tensor(x: Any, name: str, *, stream: int = 0) -> Tensor:
    """`x`, with data_ptr(), __cuda_array_interface__ or __dlpack__, in memory that a GPU reads."""
    if hasattr(x, "data_ptr"):
        return _of_torch(x, name)
    if hasattr(x, "__cuda_array_interface__"):
        return _of_interface(x, name)
    if hasattr(x, "__array_interface__"):  # NumPy's, of any type
        raise ValueError(f"{name} is on the host: {_wrap(name)}")
    if hasattr(x, "__dlpack__") and hasattr(x, "__dlpack_device__"):
        return _of_dlpack(x, name, stream)
    raise ValueError(f"{name} is a {type(x).__name__}: it must have data_ptr(), __cuda_array_interface__ or __dlpack__; "
                     f"{_wrap(f'a NumPy array of {name}')}")  # fmt: skip


def stream_of(stream: Any) -> int:
    """A hipStream_t: a number, or an object with cuda_stream (torch), ptr (CuPy) or __cuda_stream__; None: the null stream."""
    if stream is None:
        return 0
    if hasattr(stream, "__cuda_stream__"):
        stream = stream.__cuda_stream__()[1]
    else:
        stream = next((getattr(stream, attribute) for attribute in ("cuda_stream", "ptr") if hasattr(stream, attribute)), stream)
    if isinstance(stream, bool) or not hasattr(stream, "__index__"):
        raise ValueError(f"stream is a {type(stream).__name__}: it must be a number, or have cuda_stream, ptr or __cuda_stream__")
    return whole(stream, "stream", 0, 2**64 - 1, "a hipStream_t's address")
