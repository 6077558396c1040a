# SPDX-License-Identifier: MIT
"""The products as operators of PyTorch (2.4 or newer), for torch.compile, graphs and engines: `import nibblewave.torch`.

    torch.ops.nibblewave.linear_w4a16(x, w, scales, 128)
    torch.ops.nibblewave.linear_w4a16(x, w, scales, 128, perm=perm)     # of act-order
    torch.ops.nibblewave.gguf_linear(x, w, "q4_K")
    torch.ops.nibblewave.moe(x, w, scales, ids, 128, weights=weights)
    torch.ops.nibblewave.gguf_moe(x, w, "q4_K", ids)

Operands are those of Context.linear, gguf_linear, moe_linear and gguf_moe_linear. x of the first two may have any leading
dimensions; the result is a new tensor. All tensors lie on x's device. Rows of `moe` and `gguf_moe` whose id is no expert's are 0.
There are no gradients.

On "cuda", which is a ROCm GPU's name in PyTorch, an operator is the call of Context on the current stream. That was tested
on the simulated GPU with tensors that stand in for PyTorch's own; no ROCm build of PyTorch has run it. On "cpu" it is
nibblewave.reference: right, and slow.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy
import torch

from . import checks, gguf, reference
from .tensors import NAMES, Tensor

_LIBRARY = torch.library.Library("nibblewave", "FRAGMENT")
_SCHEMAS = {
    "linear_w4a16": "Tensor x, Tensor w, Tensor scales, int group, Tensor? zeros=None, Tensor? bias=None, bool silu_gate_up=False, "
    "Tensor? perm=None",
    "gguf_linear": "Tensor x, Tensor w, str type",
    "moe": "Tensor x, Tensor w, Tensor scales, Tensor ids, int group, Tensor? zeros=None, Tensor? bias=None, "
    "Tensor? weights=None, bool silu_gate_up=False, Tensor? perm=None",
    "gguf_moe": "Tensor x, Tensor w, str type, Tensor ids",
}
T = torch.Tensor
_MOST_ALIGNED = 512  # experts of nw_moe_align


# ---- what operands must be: for every device, and for tensors without data ----


def _face(t: T, name: str, device: torch.device) -> Tensor:
    if t.device != device:
        raise ValueError(f"{name} is on {t.device}: it must be on x's device, {device}; move it there")
    dtype = str(t.dtype).removeprefix("torch.")
    if dtype not in NAMES:
        raise ValueError(f"{name} is of type {dtype}: it must be one of {', '.join(sorted(NAMES))}")
    return Tensor(0, tuple(t.shape), tuple(step * t.element_size() for step in t.stride()), NAMES[dtype])


def _faces(x: T, **others: T | None) -> list[Any]:
    """Faces of all operands, x first; None for absent ones."""
    return [_face(x, "x", x.device), *(None if t is None else _face(t, name, x.device) for name, t in others.items())]


def _matrix(x: T) -> T:
    if x.dim() == 0:
        raise ValueError("x has no dimension: it must be [..., K]")
    if not x.is_contiguous():
        raise ValueError(f"x has strides {list(x.stride())}: it must be contiguous; call x.contiguous()")
    return x.view(math.prod(x.shape[:-1]), x.shape[-1])


def _linear_shape(x: T, w: T, scales: T, group: int, zeros: T | None, bias: T | None, silu_gate_up: bool, perm: T | None) -> tuple[int, ...]:
    a, q, s, z, b, order = _faces(_matrix(x), w=w, scales=scales, zeros=zeros, bias=bias, perm=perm)
    return (*x.shape[:-1], checks.linear(a, q, s, group, z, b, silu_gate_up, order)[1])


def _gguf_shape(x: T, w: T, type: str) -> tuple[int, ...]:
    a, bytes_ = _faces(_matrix(x), w=w)
    return (*x.shape[:-1], checks.gguf_linear(a, bytes_, type)[1])


def _moe_shape(x: T, w: T, scales: T, ids: T, group: int, zeros: T | None, bias: T | None, weights: T | None,
               silu_gate_up: bool, perm: T | None) -> tuple[int, ...]:  # fmt: skip
    a, q, s, i, z, b, f, order = _faces(x, w=w, scales=scales, ids=ids, zeros=zeros, bias=bias, weights=weights, perm=perm)
    return checks.moe_linear(a, q, s, i, group, z, b, f, silu_gate_up, order)


def _gguf_moe_shape(x: T, w: T, type: str, ids: T) -> tuple[int, ...]:
    a, bytes_, i = _faces(x, w=w, ids=ids)
    return checks.gguf_moe_linear(a, bytes_, type, i)


# ---- without data ----


def _linear_fake(x: T, w: T, scales: T, group: int, zeros: T | None = None, bias: T | None = None, silu_gate_up: bool = False,
                 perm: T | None = None) -> T:  # fmt: skip
    return x.new_empty(_linear_shape(x, w, scales, group, zeros, bias, silu_gate_up, perm))


def _gguf_fake(x: T, w: T, type: str) -> T:
    return x.new_empty(_gguf_shape(x, w, type))


def _moe_fake(x: T, w: T, scales: T, ids: T, group: int, zeros: T | None = None, bias: T | None = None, weights: T | None = None,
              silu_gate_up: bool = False, perm: T | None = None) -> T:  # fmt: skip
    return x.new_empty(_moe_shape(x, w, scales, ids, group, zeros, bias, weights, silu_gate_up, perm))


def _gguf_moe_fake(x: T, w: T, type: str, ids: T) -> T:
    return x.new_empty(_gguf_moe_shape(x, w, type, ids))


# ---- on the CPU, by the reference ----


def _array(t: T | None) -> Any:
    """NumPy's view; of bf16 its bits."""
    if t is None:
        return None
    t = t.detach()
    return t.view(torch.int16).numpy().view(numpy.uint16) if t.dtype == torch.bfloat16 else t.numpy()


def _tensor(values: Any, like: T, shape: tuple[int, ...]) -> T:
    return torch.from_numpy(values).to(like.dtype).reshape(shape)


def _zeros_of(zeros: T | None, n: int) -> Any:
    packed = zeros is not None and zeros.dtype in (torch.int32, torch.uint32)
    return reference.unpack_zeros(_array(zeros), n) if packed else _array(zeros)


def _linear_cpu(x: T, w: T, scales: T, group: int, zeros: T | None = None, bias: T | None = None, silu_gate_up: bool = False,
                perm: T | None = None) -> T:  # fmt: skip
    shape = _linear_shape(x, w, scales, group, zeros, bias, silu_gate_up, perm)
    q, z = reference.unpack(_array(w)), _zeros_of(zeros, w.shape[0])
    y = reference.linear(_array(_matrix(x)), q, _array(scales), z, group, bias=_array(bias), silu=silu_gate_up, perm=_array(perm))
    return _tensor(y, x, shape)


def _gguf_cpu(x: T, w: T, type: str) -> T:
    shape = _gguf_shape(x, w, type)
    return _tensor(reference.values(_array(_matrix(x))) @ gguf.dequantize(_array(w), type).T, x, shape)


def _moe_cpu(x: T, w: T, scales: T, ids: T, group: int, zeros: T | None = None, bias: T | None = None, weights: T | None = None,
              silu_gate_up: bool = False, perm: T | None = None) -> T:  # fmt: skip
    shape = _moe_shape(x, w, scales, ids, group, zeros, bias, weights, silu_gate_up, perm)
    q, z = reference.unpack(_array(w)), _zeros_of(zeros, w.shape[1])
    y = reference.moe_linear(_array(x), q, _array(scales), z, _array(ids), group, bias=_array(bias), weights=_array(weights),
                             silu=silu_gate_up, perm=_array(perm))  # fmt: skip
    return _tensor(y, x, shape)


def _gguf_moe_cpu(x: T, w: T, type: str, ids: T) -> T:
    shape = _gguf_moe_shape(x, w, type, ids)
    return _tensor(reference.gguf_moe_linear(_array(x), _array(w), type, _array(ids)), x, shape)


# ---- on a GPU: no line below has run in a ROCm build of PyTorch ----


@functools.cache
def context(device: int) -> Any:
    """The Context of a GPU."""
    from .context import Context  # loads the library, which a CPU has no need of

    with torch.cuda.device(device):
        return Context()


def _stream(x: T) -> int:
    return int(torch.cuda.current_stream(x.device).cuda_stream)


def _allocate(x: T) -> Callable[[int], T]:
    """Gives so many bytes where x is."""
    return lambda size: x.new_empty((-(-size // x.element_size()),))


def _linear_gpu(x: T, w: T, scales: T, group: int, zeros: T | None = None, bias: T | None = None, silu_gate_up: bool = False,
                perm: T | None = None) -> T:  # fmt: skip
    out = _linear_fake(x, w, scales, group, zeros, bias, silu_gate_up, perm)
    if out.numel():
        context(x.device.index).linear(_matrix(x), w, scales, group=group, out=_matrix(out), zeros=zeros, bias=bias, silu_gate_up=silu_gate_up,
                                       perm=perm, allocate=_allocate(x), stream=_stream(x))  # fmt: skip
    return out


def _gguf_gpu(x: T, w: T, type: str) -> T:
    out = _gguf_fake(x, w, type)
    if out.numel():
        context(x.device.index).gguf_linear(_matrix(x), w, type, out=_matrix(out), stream=_stream(x))
    return out


def _moe_gpu(x: T, w: T, scales: T, ids: T, group: int, zeros: T | None = None, bias: T | None = None, weights: T | None = None,
              silu_gate_up: bool = False, perm: T | None = None) -> T:  # fmt: skip
    out = x.new_zeros(_moe_shape(x, w, scales, ids, group, zeros, bias, weights, silu_gate_up, perm))
    if out.numel():
        on, stream = context(x.device.index), _stream(x)
        on.moe_linear(x, w, scales, ids, group=group, out=out, zeros=zeros, bias=bias, weights=weights, silu_gate_up=silu_gate_up, perm=perm,
                      lists=_lists(on, ids, w.shape[0], stream), allocate=_allocate(x), stream=stream)  # fmt: skip
    return out


def _gguf_moe_gpu(x: T, w: T, type: str, ids: T) -> T:
    out = x.new_zeros(_gguf_moe_shape(x, w, type, ids))
    if out.numel():
        context(x.device.index).gguf_moe_linear(x, w, type, ids, out=out, stream=_stream(x))
    return out


def block_size(slots: int, experts: int) -> int:
    """Slots of a block: the next power of two above those of a mean expert, so that most blocks are one to an expert, and no
    more than half full of padding. Below one slot to an expert each is a block of its own, without lists."""
    mean = slots // experts
    return 1 if mean == 0 else min(64, 1 << mean.bit_length())


def _lists(on: Any, ids: T, experts: int, stream: int) -> tuple[T, T, T] | None:
    size = block_size(ids.numel(), experts)
    if size == 1 or experts > _MOST_ALIGNED:
        return None
    blocks = on.moe_blocks(ids.numel(), experts, size)
    lists = ids.new_empty((blocks, size)), ids.new_empty((blocks,)), ids.new_empty((1,))
    on.moe_align(ids, experts=experts, lists=lists, stream=stream)
    return lists


def _register(name: str, fake: Callable[..., T], cpu: Callable[..., T], gpu: Callable[..., T]) -> None:
    _LIBRARY.define(f"{name}({_SCHEMAS[name]}) -> Tensor", tags=(torch.Tag.pt2_compliant_tag, torch.Tag.needs_fixed_stride_order))
    torch.library.register_fake(f"nibblewave::{name}", fake, lib=_LIBRARY)
    _LIBRARY.impl(name, cpu, "CPU")
    _LIBRARY.impl(name, gpu, "CUDA")


_register("linear_w4a16", _linear_fake, _linear_cpu, _linear_gpu)
_register("gguf_linear", _gguf_fake, _gguf_cpu, _gguf_gpu)
_register("moe", _moe_fake, _moe_cpu, _moe_gpu)
_register("gguf_moe", _gguf_moe_fake, _gguf_moe_cpu, _gguf_moe_gpu)

linear_w4a16 = torch.ops.nibblewave.linear_w4a16
gguf_linear = torch.ops.nibblewave.gguf_linear
moe = torch.ops.nibblewave.moe
gguf_moe = torch.ops.nibblewave.gguf_moe
