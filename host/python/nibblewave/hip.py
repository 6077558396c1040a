# SPDX-License-Identifier: MIT
"""The process's HIP: the simulated GPU of this package, and arrays in device memory for programs without an array library."""

from __future__ import annotations

import ctypes
import math
import os
import threading
from dataclasses import dataclass
from typing import Any

import numpy

from . import dlpack
from .library import HERE
from .scalars import shown, text, whole
from .targets import NAMES as NAMES_OF_TARGETS
from .tensors import NAMES

_NAMES = [f"libamdhip64.so{end}" for end in (".7", ".6", ".5", "")]
_hip: ctypes.CDLL | None = None
_simulated: str | None = None  # what simulate() was called with

# Types that a DeviceArray can hold; kernels take fewer.
_BITS = {"bf16": "uint16", "bfloat16": "uint16", "float8_e4m3fn": "uint8"}  # what they are in NumPy
_DTYPES = ("bool", *(f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)), "float16", "float32", "float64")


def _in_process() -> str | None:
    """The HIP that this process has loaded already."""
    if hasattr(ctypes.CDLL(None), "hipMalloc"):
        return "libamdhip64"
    for name in _NAMES:
        try:
            ctypes.CDLL(name, mode=os.RTLD_NOLOAD)
        except OSError:
            continue
        return name
    return None


def simulate(gfx: str = "gfx1151") -> None:
    """Makes simulated GPUs the process's HIP devices: call it before anything uses HIP. `gfx` may be a comma list. ValueError names the
    GPUs there are. RuntimeError if the process has a HIP already, or the libLLVM that the simulator was built with is not there. Triton
    has an LLVM of its own, which crashes if it is loaded after that: import triton first, where torch.compile or vLLM will."""
    global _hip, _simulated
    gfx = text(gfx, "gfx", 'the name of a GPU, as "gfx1151", or a comma list of such')
    if gfx == _simulated:
        return
    if unknown := [name for name in gfx.split(",") if name not in NAMES_OF_TARGETS]:
        raise ValueError(f"gfx = {gfx!r}: {unknown[0]!r} is not one of {', '.join(NAMES_OF_TARGETS)}")
    if there := f"that of simulate({_simulated!r})" if _simulated else _in_process():
        raise RuntimeError(f"simulate({gfx!r}): this process has its HIP, {there}: call it in a new process, before a Context or anything else uses HIP")
    before = os.environ.get("HIPSIM_ARCH")
    os.environ["HIPSIM_ARCH"] = gfx
    try:
        _hip = ctypes.CDLL(str(HERE / "hipsim/libamdhip64.so"), mode=ctypes.RTLD_GLOBAL)
    except OSError as error:
        del os.environ["HIPSIM_ARCH"]
        if before is not None:
            os.environ["HIPSIM_ARCH"] = before
        raise RuntimeError(f"the simulated GPU can't be loaded: {error}; install that library, or use a GPU") from error
    _simulated = gfx


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
        raise RuntimeError('no libamdhip64 is found: with an AMD GPU, install ROCm\'s HIP runtime; without one, call nibblewave.simulate("gfx1151") '
                           "first: a simulated GPU")  # fmt: skip
    return _hip


def call(name: str, *arguments: Any, of: str = "") -> None:
    """`of`: what the call was for, for the message."""
    if code := getattr(library(), name)(*arguments):
        name_of = library().hipGetErrorName
        name_of.restype = ctypes.c_char_p
        no_device = ': no GPU is there: call nibblewave.simulate("gfx1151") first, in a new process, for a simulated one' if code == 100 else ""
        raise RuntimeError(f"{name}{of and f' of {of}'}: {name_of(code).decode()} ({code}){no_device}")


def current_device() -> int:
    ordinal = ctypes.c_int()
    call("hipGetDevice", ctypes.byref(ordinal))
    return ordinal.value


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


@dataclass(frozen=True)
class Device:
    """As torch has it: a ROCm GPU is of the type "cuda"."""

    type: str
    index: int


def _held(values: Any, dtype: str | None) -> tuple[numpy.ndarray[Any, Any], str]:
    """A C-contiguous array that a DeviceArray can hold, and the name of its type."""
    try:
        host = numpy.ascontiguousarray(values)
    except (TypeError, ValueError) as error:  # lists of several lengths, tensors on a GPU
        raise ValueError(f"values = {shown(values)}: they must be a NumPy array, or what numpy.asarray() takes: {error}") from None
    own, named = host.dtype.name, dtype is None or isinstance(dtype, str)
    if own not in _DTYPES and own not in NAMES or not host.dtype.isnative:
        order = "" if host.dtype.isnative else " of the other byte order"
        raise ValueError(f"values are of type {own}{order}: they must be one of {', '.join(_DTYPES)}, or bf16's bits as uint16; convert them")
    bits = _BITS.get(dtype or "") if named else None
    if not named or (dtype is not None and own not in (dtype, bits)):
        rule = f"of {dtype} they must be {bits}, its bits" if bits else "dtype is theirs, or bf16 with uint16 or float8_e4m3fn with uint8"
        raise ValueError(f"dtype = {shown(dtype)} and values are of type {own}: {rule}")
    return host, dtype or own


class DeviceArray:
    """A C-contiguous array in device memory. bf16 has no NumPy type: use uint16 bits and dtype="bf16"."""

    def __init__(self, values: Any, dtype: str | None = None) -> None:
        """Copies `values`, a NumPy array or what numpy.asarray() takes, to the device. ValueError for text, objects and complex numbers."""
        self._host, self.dtype = _held(values, dtype)
        self.shape, self.itemsize, self._pointer = self._host.shape, self._host.itemsize, ctypes.c_void_p()
        self.device = Device("cuda", current_device())
        size = max(self._host.nbytes, 1)
        call("hipMalloc", ctypes.byref(self._pointer), ctypes.c_size_t(size), of=f"{size} bytes")
        upload(self.data_ptr(), self._host.ctypes.data, self._host.nbytes)

    @classmethod
    def zeros(cls, shape: int | tuple[int, ...], dtype: str) -> DeviceArray:
        """`dtype`: one of NumPy's, or "bf16"."""
        host = _BITS.get(text(dtype, "dtype", 'a name, as "float16" or "bf16"'), dtype)
        if host not in _DTYPES:
            raise ValueError(f"dtype = {dtype!r}: it must be one of {', '.join(_DTYPES)}, bf16, float8_e4m3fn")
        extents = shape if isinstance(shape, (tuple, list)) else (shape,)
        most = 2**47 // numpy.dtype(host).itemsize
        extents = tuple(whole(extent, "shape", 0, most, f"or a tuple of such, 0 to {most}") for extent in extents)
        if math.prod(extents) > most:
            raise ValueError(f"shape = {shown(shape)}: it must have at most {most} elements")
        return cls(numpy.zeros(extents, host), dtype)

    def data_ptr(self) -> int:
        return self._pointer.value or 0

    def stride(self) -> tuple[int, ...]:
        """In elements."""
        return tuple(step // self.itemsize for step in self._host.strides)

    def element_size(self) -> int:
        return self.itemsize

    def __dlpack_device__(self) -> tuple[int, int]:
        return dlpack.ROCM, self.device.index

    def __dlpack__(self, *, stream: int | None = None, max_version: tuple[int, int] | None = None, dl_device: tuple[int, int] | None = None,
                   copy: bool | None = None) -> object:  # fmt: skip
        """For from_dlpack() of other libraries: the same memory. `stream` will wait for what is queued on the null stream; -1:
        no stream will. BufferError for a copy, another device, or a type of 64 bits."""
        if stream is not None:
            stream = whole(stream, "stream", -1, 2**64 - 1, "a hipStream_t, 0 or -1, or None")
        if copy or dl_device not in (None, self.__dlpack_device__()):
            raise BufferError(f"the memory stays on device {self.__dlpack_device__()} without a copy: use numpy() and another DeviceArray")
        if stream in (1, 2):
            raise ValueError(f"stream = {stream}: on ROCm it must be None or 0, the null stream, -1 or a hipStream_t")
        if stream and stream != -1:
            _wait_for_null_stream(stream)
        return dlpack.export(self, self.data_ptr(), self.device.index, self.shape, self.stride(), NAMES.get(self.dtype, self.dtype))

    def numpy(self) -> numpy.ndarray:
        """A copy on the host, once the null stream's work is done."""
        out = numpy.empty_like(self._host)
        call("hipMemcpy", ctypes.c_void_p(out.ctypes.data), self._pointer, ctypes.c_size_t(out.nbytes), 2)
        return out

    def __del__(self) -> None:
        if getattr(self, "_pointer", None) and library is not None:  # as in Context
            library().hipFree(self._pointer)
