# SPDX-License-Identifier: MIT
"""The process's HIP: the simulated GPU of this package, and arrays in device memory for programs that have no other."""

from __future__ import annotations

import ctypes
import os
import threading
from typing import Any

import numpy

from . import dlpack
from .library import HERE
from .tensors import NAMES

_NAMES = [f"libamdhip64.so{end}" for end in (".7", ".6", ".5", "")]
_hip: ctypes.CDLL | None = None


def simulate(gfx: str = "gfx1151") -> None:
    """Makes simulated GPUs the process's HIP devices: call it before anything uses HIP. `gfx` may be a comma list. The
    simulator needs the libLLVM that it was built with; RuntimeError if it is not there. Triton has an LLVM of its own, which
    crashes if it is loaded after that: import triton first, where torch.compile or vLLM will."""
    global _hip
    os.environ["HIPSIM_ARCH"] = gfx
    path = HERE / "hipsim/libamdhip64.so"
    try:
        _hip = ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)
    except OSError as error:
        raise RuntimeError(f"the simulated GPU can't be loaded: {error}; install that library, or use a GPU") from error


def library() -> ctypes.CDLL:
    """libamdhip64, as this process has it; else the first that the dynamic linker finds."""
    global _hip
    if _hip is None and hasattr(ctypes.CDLL(None), "hipMalloc"):
        _hip = ctypes.CDLL(None)
    for name in _NAMES:
        if _hip is None:
            try:
                _hip = ctypes.CDLL(name)
            except OSError:
                continue
    if _hip is None:
        raise RuntimeError("no libamdhip64 is found: install ROCm's HIP runtime, or call nibblewave.simulate()")
    return _hip


def call(name: str, *arguments: Any) -> None:
    if code := getattr(library(), name)(*arguments):
        raise RuntimeError(f"{name}: hipError_t {code}")


def synchronize() -> None:
    """Waits for all work of the device."""
    call("hipDeviceSynchronize")


_PIECE = 1 << 20
_pinned = ctypes.c_void_p()  # portable, coherent; kept until the process ends
_copying = threading.Lock()


def upload(to: int, source: int, nbytes: int) -> None:
    """Copies to the device by way of pinned memory: from pageable memory HIP loses copies on gfx11 (isa_notes/A-031)."""
    with _copying:
        if not _pinned:
            call("hipHostMalloc", ctypes.byref(_pinned), ctypes.c_size_t(_PIECE), ctypes.c_uint(0x40000001))
        for begin in range(0, nbytes, _PIECE):
            size = min(nbytes - begin, _PIECE)
            ctypes.memmove(_pinned, source + begin, size)
            call("hipMemcpy", ctypes.c_void_p(to + begin), _pinned, ctypes.c_size_t(size), 1)


def _wait_for_null_stream(stream: int) -> None:
    event = ctypes.c_void_p()
    call("hipEventCreateWithFlags", ctypes.byref(event), 2)  # hipEventDisableTiming
    call("hipEventRecord", event, None)
    call("hipStreamWaitEvent", ctypes.c_void_p(stream), event, 0)
    call("hipEventDestroy", event)


class DeviceArray:
    """A C-contiguous array in device memory. bf16 has no NumPy type: use uint16 bits and dtype="bf16"."""

    def __init__(self, values: numpy.ndarray, dtype: str | None = None) -> None:
        """Copies `values` to the device."""
        self._host = numpy.ascontiguousarray(values)
        self.shape, self.dtype = self._host.shape, dtype or self._host.dtype.name
        self.itemsize, self._pointer, self._ordinal = self._host.itemsize, ctypes.c_void_p(), ctypes.c_int()
        call("hipGetDevice", ctypes.byref(self._ordinal))
        call("hipMalloc", ctypes.byref(self._pointer), ctypes.c_size_t(max(self._host.nbytes, 1)))
        upload(self.data_ptr(), self._host.ctypes.data, self._host.nbytes)

    @classmethod
    def zeros(cls, shape: tuple[int, ...], dtype: str) -> DeviceArray:
        return cls(numpy.zeros(shape, "uint16" if dtype == "bf16" else dtype), dtype)

    def data_ptr(self) -> int:
        return self._pointer.value or 0

    def stride(self) -> tuple[int, ...]:
        """In elements."""
        return tuple(step // self.itemsize for step in self._host.strides)

    def element_size(self) -> int:
        return self.itemsize

    def __dlpack_device__(self) -> tuple[int, int]:
        return dlpack.ROCM, self._ordinal.value

    def __dlpack__(self, *, stream: int | None = None, max_version: tuple[int, int] | None = None, dl_device: tuple[int, int] | None = None,
                   copy: bool | None = None) -> object:  # fmt: skip
        """For from_dlpack() of other libraries: the same memory. `stream` will wait for what is queued on the null stream; -1:
        no stream will. BufferError for a copy, another device, or a type of 64 bits."""
        if copy or dl_device not in (None, self.__dlpack_device__()):
            raise BufferError(f"the memory stays on device {self.__dlpack_device__()} without a copy: use numpy() and another DeviceArray")
        if stream in (1, 2) or (stream is not None and stream < -1):
            raise ValueError(f"stream = {stream}: on ROCm it must be None or 0, the null stream, -1 or a hipStream_t")
        if stream and stream != -1:
            _wait_for_null_stream(stream)
        return dlpack.export(self, self.data_ptr(), self._ordinal.value, self.shape, self.stride(), NAMES.get(self.dtype, self.dtype))

    def numpy(self) -> numpy.ndarray:
        """A copy on the host, once the null stream's work is done."""
        out = numpy.empty_like(self._host)
        call("hipMemcpy", ctypes.c_void_p(out.ctypes.data), self._pointer, ctypes.c_size_t(out.nbytes), 2)
        return out

    def __del__(self) -> None:
        if getattr(self, "_pointer", None) and library is not None:  # as in Context
            library().hipFree(self._pointer)
