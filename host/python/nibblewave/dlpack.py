# SPDX-License-Identifier: MIT
"""DLPack's structs, and capsules of memory on a ROCm device."""

from __future__ import annotations

import atexit
import ctypes
from typing import Any

ROCM, ROCM_HOST = 10, 11  # kDLROCM, kDLROCMHost
TYPES = {(2, 16): "f16", (4, 16): "bf16", (2, 32): "f32", (0, 32): "i32", (1, 32): "u32", (1, 8): "u8", (0, 8): "i8"}
_NAME = b"dltensor"  # a consumer renames its capsule, and then has to call the deleter


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]  # fmt: skip


class _Managed(ctypes.Structure):
    _fields_ = [("tensor", DLTensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


def _api(name: str, result: Any, *arguments: Any) -> Any:
    """With arguments of its own, which other users of ctypes do not change."""
    return ctypes.PYFUNCTYPE(result, *arguments)((name, ctypes.pythonapi))


_new = _api("PyCapsule_New", ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
_is_named = _api("PyCapsule_IsValid", ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)
_pointer = _api("PyCapsule_GetPointer", ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
_pointer_of_dying = _api("PyCapsule_GetPointer", ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)

_kept: dict[int, tuple[_Managed, object]] = {}  # what consumers use, and what owns its memory


_CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


def _delete(managed: int) -> None:
    _kept.pop(managed, None)


def _drop(capsule: int) -> None:
    """The destructor of a capsule: without a consumer there is nobody else to call the deleter."""
    if _is_named(capsule, _NAME):
        _delete(_pointer_of_dying(capsule, _NAME))


_deleter, _destructor = _CALLBACK(_delete), _CALLBACK(_drop)


@atexit.register
def _leave() -> None:
    """A consumer may outlive Python: it must not call into it then, and its struct must stay."""
    for managed, _ in _kept.values():
        managed.deleter = None
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(managed))


def export(owner: object, pointer: int, device: int, shape: tuple[int, ...], strides: tuple[int, ...], dtype: str) -> object:
    """A capsule; strides in elements. `owner` lives until its consumer is done."""
    code, bits = next((key for key, name in TYPES.items() if name == dtype), (None, None))
    if code is None:
        raise BufferError(f"an array of type {dtype} can't be exported: it must be one of {', '.join(sorted(set(TYPES.values())))}")
    extents = ctypes.c_int64 * len(shape)
    managed = _Managed(
        DLTensor(pointer, ROCM, device, len(shape), code, bits, 1, extents(*shape), extents(*strides), 0), None, ctypes.cast(_deleter, ctypes.c_void_p)
    )
    _kept[ctypes.addressof(managed)] = managed, owner
    return _new(ctypes.addressof(managed), _NAME, ctypes.cast(_destructor, ctypes.c_void_p))


def tensor_of(capsule: object) -> DLTensor:
    """As long as the capsule lives."""
    return DLTensor.from_address(_pointer(capsule, _NAME))
