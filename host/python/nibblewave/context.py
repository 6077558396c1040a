# SPDX-License-Identifier: MIT
"""A device with its kernels, and the products that it queues."""

from __future__ import annotations

import ctypes
import math
import os
from collections.abc import Callable
from typing import Any

from . import abi, checks, hip
from .gguf import block, columns
from .library import KERNELS, LIBRARY, S, call, fill, struct
from .ops import Ops
from .scalars import flag, shown, whole
from .tensors import SIZES, Tensor, stream_of, tensor

_DTYPES = {"bf16": abi.NW_BF16, "f16": abi.NW_F16}
_LISTS = ("sorted_ids", "blocks", "entries")
_BLOCK_SIZES = "1, 2, 4, 8, 16, 32 or 64"
_GGUF = {
    name.removeprefix("NW_GGUF_").lower().replace("_k", "_K"): value
    for name, value in vars(abi).items() if name.startswith("NW_GGUF_") and name not in ("NW_GGUF_F32", "NW_GGUF_F16", "NW_GGUF_BF16")
}  # fmt: skip


_UNSIGNED = 2**32 - 1


def _zeros_kind(z: Tensor | None, like: Tensor) -> int:
    """`like`: of the type that typed zero points have."""
    return abi.NW_ZEROS_EIGHT if z is None else abi.NW_ZEROS_TYPED if z.dtype == like.dtype else abi.NW_ZEROS_PACKED


class Context(Ops):
    """The calling thread's current HIP device and the kernels loaded on it. Any number of threads may use one."""

    def __init__(self, kernels: str | os.PathLike[str] | None = None) -> None:
        """`kernels`: a folder <gfx>/<kernel>.hsaco; by default NIBBLEWAVE_HSACO, else this package's. Error if the GPU has no
        kernels, or HIP is not there."""
        if kernels is not None and not isinstance(kernels, (str, os.PathLike)):
            raise ValueError(f"kernels = {shown(kernels)}: it must be the path of a folder, or None")
        folder = kernels or os.environ.get("NIBBLEWAVE_HSACO") or KERNELS
        self._handle = ctypes.c_void_p()
        call("nw_context_create", os.fsencode(folder), ctypes.byref(self._handle))
        self._device = hip.current_device()
        self._workspaces: dict[int, hip.DeviceArray] = {}

    def __del__(self) -> None:
        if getattr(self, "_handle", None) and LIBRARY is not None:  # at the interpreter's exit names are None
            LIBRARY.nw_context_destroy(self._handle)

    @property
    def gfx(self) -> str:
        """For example "gfx1151"."""
        return LIBRARY.nw_context_gfx(self._handle).decode()

    def weight_row_stride(self, k: int) -> int:
        """Recommended bytes from row to row of packed weights with k columns, a multiple of 8."""
        k = whole(k, "k", 1, _UNSIGNED)
        if k % 8:
            raise ValueError(f"k = {k}: it must be a multiple of 8, the weights of a dword; pad with zeros")
        return int(LIBRARY.nw_weight_row_stride(self.gfx.encode(), k))

    def _operands(self, stream: int, **given: Any) -> list[Tensor]:
        """What a product gets, by its names, on this context's device."""
        out = []
        for name, x in given.items():
            t = tensor(x, name, stream=stream)
            if t.device not in (None, self._device):
                raise ValueError(f"{name} is on device {t.device}: it must be on the context's, {self._device}; move it there, or make a "
                                 f"Context while {t.device} is the current device")  # fmt: skip
            out.append(t)
        return out

    def _optional(self, stream: int, **given: Any) -> list[Tensor | None]:
        return [None if x is None else self._operands(stream, **{name: x})[0] for name, x in given.items()]

    def linear(self, x: Any, w: Any, scales: Any, *, group: int, out: Any, zeros: Any = None, bias: Any = None, silu_gate_up: bool = False,
               perm: Any = None, allocate: Callable[[int], Any] | None = None, stream: Any = None) -> None:  # fmt: skip
        """out[m, n] = sum over k of x[m, k] * (q[n, k] - z[n, k // group]) * scales[n, k // group] (+ bias[n])

        x [M, K] f16 or bf16, contiguous. w int32 [N, K/8] as pack() makes it, rows 16-byte aligned. scales [N, K/group] of x's
        type. zeros: None (8 everywhere), int32 or uint32 [ceil(N/8), K/group] as pack_zeros() makes them, or [N, K/group] of
        x's type (M <= 8). bias [N], out [M, N] of x's type, contiguous. silu_gate_up: rows n < N/2 of w are gate, the others
        up; out [M, N/2] = SiLU(gate) * up. group: 32, 64 or 128. ValueError or Error names what does not fit.

        perm: of act-order, int32 or uint32 [K], contiguous, 16-byte aligned, as nw pack makes it: column k of w belongs to
        x[:, perm[k]]. One launch for up to 4 rows; where it takes two, allocate(bytes) gives memory of the device for x[:, perm],
        by default what this context keeps for the stream.
        """
        on = stream_of(stream)
        a, weights, s, c = self._operands(on, x=x, w=w, scales=scales, out=out)
        z, b, order = self._optional(on, zeros=zeros, bias=bias, perm=perm)
        checks.result(c, checks.linear(a, weights, s, group, z, b, silu_gate_up, order), a.dtype)
        product = struct(abi.nw_w4a16, dtype=_DTYPES[a.dtype], m=a.shape[0], n=weights.shape[0], k=a.shape[1], group=group, a=a.pointer,
                         w=weights.pointer, s=s.pointer, c=c.pointer, w_stride=weights.strides[0], s_stride=s.strides[0],
                         silu_gate_up=int(silu_gate_up))  # fmt: skip
        if z is not None:
            fill(product, zeros=_zeros_kind(z, a), z=z.pointer, z_stride=z.strides[0])
        if b is not None:
            product.bias = b.pointer
        if order is None:
            return call("nw_linear_w4a16", self._handle, ctypes.byref(product), ctypes.c_void_p(on))
        self._act_order("nw_act_order", "nw_act_order_linear_w4a16", product, order, allocate, on)

    def prepare_linear(self, w: Any, scales: Any, *, group: int, zeros: Any = None, silu_gate_up: bool = False, rows: int = 0,
                       act_order: bool = False) -> None:  # fmt: skip
        """Loads the kernels of linear() with these operands and so many rows of x; 0: all of 1 to 8. A launch in a stream that is
        being captured loads none. `act_order`: of linear() with a perm."""
        product = self._weights(abi.nw_w4a16, w, scales, group, zeros, silu_gate_up, typed=True)
        product.m = whole(rows, "rows", 0, _UNSIGNED)
        call("nw_act_order_prepare" if flag(act_order, "act_order") else "nw_prepare", self._handle, ctypes.byref(product))

    def _weights(self, kind: type[S], w: Any, scales: Any, group: Any, zeros: Any, silu_gate_up: Any, *, dims: int = 2, typed: bool = False) -> S:
        """A product with these weights and without activations, for its kernels."""
        (q, s), (z,) = self._operands(0, w=w, scales=scales), self._optional(0, zeros=zeros)
        n, k = checks.weights(q, s, group, z, dims, typed=typed)
        return struct(kind, dtype=_DTYPES[s.dtype], zeros=_zeros_kind(z, s), n=n, k=k, group=group,
                      silu_gate_up=int(flag(silu_gate_up, "silu_gate_up")))  # fmt: skip

    def quantize_rows(self, x: Any, *, out: Any, scales: Any, stream: Any = None) -> None:
        """x in int8, a scale for each row, for linear_w4a8(): scales[m] = max |x[m]| / 127, out[m] = x[m] / scales[m], rounded.

        x [M, K] f16 or bf16, rows of any stride, 16-byte aligned, K a multiple of 8. out int8 [M, K] and scales f32 [M],
        contiguous. Of each eight k, out has 0 4 1 5 2 6 3 7, as reference.quantize_rows(). A row with a NaN or an infinity has
        the scale NaN.
        """
        on = stream_of(stream)
        a, q, s = self._operands(on, x=x, out=out, scales=scales)
        checks.result(q, checks.quantize_rows(a, s), "i8")
        rows = struct(abi.nw_int8_rows, dtype=_DTYPES[a.dtype], m=a.shape[0], k=a.shape[1], x=a.pointer, x_stride=a.strides[0], y=q.pointer,
                      y_scale=s.pointer)  # fmt: skip
        call("nw_quantize_rows", self._handle, ctypes.byref(rows), ctypes.c_void_p(on))

    def linear_w4a8(self, x: Any, x_scales: Any, w: Any, scales: Any, *, group: int, out: Any, zeros: Any = None, bias: Any = None,
                    silu_gate_up: bool = False, stream: Any = None) -> None:  # fmt: skip
        """linear() with activations in int8: x int8 [M, K] and x_scales f32 [M] as quantize_rows() makes them, for any number of
        products. No other product quantizes activations so: what int8 loses of them is up to the caller.

        w, bias, out, silu_gate_up and group as in linear(), of the type of scales; zeros: None or packed, int32 or uint32.
        K a multiple of 64. gfx11 and gfx12; for many rows.
        """
        on = stream_of(stream)
        a, factor, weights, s, c = self._operands(on, x=x, x_scales=x_scales, w=w, scales=scales, out=out)
        z, b = self._optional(on, zeros=zeros, bias=bias)
        checks.result(c, checks.linear_w4a8(a, factor, weights, s, group, z, b, silu_gate_up), s.dtype)
        product = struct(abi.nw_w4a8, dtype=_DTYPES[s.dtype], m=a.shape[0], n=weights.shape[0], k=a.shape[1], group=group, a=a.pointer,
                         a_scale=factor.pointer, w=weights.pointer, s=s.pointer, c=c.pointer, w_stride=weights.strides[0],
                         s_stride=s.strides[0], silu_gate_up=int(silu_gate_up))  # fmt: skip
        if z is not None:
            fill(product, zeros=abi.NW_ZEROS_PACKED, z=z.pointer, z_stride=z.strides[0])
        if b is not None:
            product.bias = b.pointer
        call("nw_linear_w4a8", self._handle, ctypes.byref(product), ctypes.c_void_p(on))

    def prepare_linear_w4a8(self, w: Any, scales: Any, *, group: int, rows: int, zeros: Any = None, silu_gate_up: bool = False) -> None:
        """Loads the kernels of linear_w4a8() with these operands and so many rows of x, and that of quantize_rows()."""
        product = self._weights(abi.nw_w4a8, w, scales, group, zeros, silu_gate_up)
        product.m = whole(rows, "rows", 1, _UNSIGNED)
        call("nw_w4a8_prepare", self._handle, ctypes.byref(product))

    def prepare_moe(self, w: Any, scales: Any, *, group: int, zeros: Any = None, silu_gate_up: bool = False, act_order: bool = False) -> None:
        """Loads the kernels of moe_linear() with these operands, and that of moe_align(). `act_order`: those with a perm, too."""
        product, orders = self._weights(abi.nw_moe_w4a16, w, scales, group, zeros, silu_gate_up, dims=3), flag(act_order, "act_order")
        call("nw_moe_prepare", self._handle, ctypes.byref(product))
        if orders:
            call("nw_act_order_moe_prepare", self._handle, ctypes.byref(product))

    def gguf_linear(self, x: Any, w: Any, type: str, *, out: Any, stream: Any = None) -> None:
        """out[m, n] = sum over k of x[m, k] * w[n, k], w with the bytes of a GGUF file.

        x f32 [M, K]. w uint8 [N, row bytes], contiguous. type: its name in ggml, such as "q4_K". out f32 [M, N], contiguous.
        Its workspace belongs to the stream and grows with the products; growing waits for the device.
        """
        on = stream_of(stream)
        a, weights, c = self._operands(on, x=x, w=w, out=out)
        checks.result(c, checks.gguf_linear(a, weights, type), "f32")
        product = struct(abi.nw_gguf, type=_GGUF[type], m=a.shape[0], n=weights.shape[0], k=a.shape[1], x=a.pointer, w=weights.pointer, c=c.pointer,
                         x_stride=a.strides[0])  # fmt: skip
        self._with_workspace("nw_gguf", "nw_gguf_linear", product, on)

    def quantize_fp8(self, x: Any, *, out: Any, scales: Any, stream: Any = None) -> None:
        """x in fp8 e4m3, a scale for each row, for gguf_linear_fp8(): scales[m] = max |x[m]| / 448, out[m] = x[m] / scales[m], rounded.

        x [M, K] f16 or bf16, rows of any stride, 16-byte aligned, K a multiple of 8. out uint8 (bits of e4m3) or float8_e4m3fn [M, K]
        and scales f32 [M], contiguous, as reference.quantize_fp8(). A row with a NaN or an infinity has the scale NaN. gfx12; Error
        elsewhere.
        """
        on = stream_of(stream)
        a, q, s = self._operands(on, x=x, out=out, scales=scales)
        checks.result(q, checks.quantize_rows(a, s), *checks.FP8)
        rows = struct(abi.nw_fp8_rows, dtype=_DTYPES[a.dtype], m=a.shape[0], k=a.shape[1], x=a.pointer, x_stride=a.strides[0], y=q.pointer,
                      y_scale=s.pointer)  # fmt: skip
        call("nw_quantize_fp8", self._handle, ctypes.byref(rows), ctypes.c_void_p(on))

    def gguf_linear_fp8(self, x: Any, x_scales: Any, w: Any, type: str, *, out: Any, stream: Any = None) -> None:
        """out[m, n] = x_scales[m] * sum over k of x[m, k] * w[n, k]: gguf_linear() with activations in fp8, for any number of products.
        No other product quantizes activations so: what fp8 loses of them, up to 1/16 of each, is up to the caller.

        x uint8 (bits of e4m3) or float8_e4m3fn [M, K] and x_scales f32 [M], contiguous, as quantize_fp8() makes them. w uint8 [N, row
        bytes], contiguous, 16-byte aligned. type: "mxfp4". out f32 [M, N], contiguous. K a multiple of 64. gfx12; Error elsewhere and
        for other types; for many rows.
        """
        on = stream_of(stream)
        a, factor, weights, c = self._operands(on, x=x, x_scales=x_scales, w=w, out=out)
        checks.result(c, checks.gguf_linear_fp8(a, factor, weights, type), "f32")
        product = struct(abi.nw_gguf_fp8, type=_GGUF[type], m=a.shape[0], n=weights.shape[0], k=a.shape[1], a=a.pointer, a_scale=factor.pointer,
                         w=weights.pointer, c=c.pointer)  # fmt: skip
        call("nw_gguf_fp8_linear", self._handle, ctypes.byref(product), ctypes.c_void_p(on))

    def prepare_gguf_linear_fp8(self, w: Any, type: str, *, rows: int) -> None:
        """Loads the kernels of gguf_linear_fp8() with these weights and so many rows of x, and those of quantize_fp8()."""
        block(type)
        (weights,) = self._operands(0, w=w)
        checks.is_a(weights, "w", 2, "u8", "i8")
        product = struct(abi.nw_gguf_fp8, type=_GGUF[type], m=whole(rows, "rows", 1, _UNSIGNED), n=weights.shape[0],
                         k=columns(type, weights.shape[1]))  # fmt: skip
        call("nw_gguf_fp8_prepare", self._handle, ctypes.byref(product))

    def gguf_moe_linear(self, x: Any, w: Any, type: str, ids: Any, *, out: Any, stream: Any = None) -> None:
        """out[t, u] = x[t, 0 or u] * w[ids[t, u]], as ggml's mul_mat_id.

        x f32 [T, 1 or used, K]. w uint8 [experts, N, row bytes], contiguous. ids int32 [T, used], rows of any stride; slots with
        an id of no expert are left as they are. out f32 [T, used, N], contiguous. type, workspace: as gguf_linear.
        """
        on = stream_of(stream)
        a, weights, choice, c = self._operands(on, x=x, w=w, ids=ids, out=out)
        checks.result(c, checks.gguf_moe_linear(a, weights, type, choice), "f32")
        (experts, n, row), (tokens, used), k = weights.shape, choice.shape, a.shape[2]
        if tokens * used == 0:
            raise ValueError(f"ids has shape {list(choice.shape)}: there is no slot; make no call")
        product = struct(abi.nw_gguf_moe, type=_GGUF[type], n=n, k=k, experts=experts, slots=tokens * used, top_k=used // a.shape[1],
                         x=a.pointer, w=weights.pointer, expert_ids=choice.pointer, c=c.pointer, x_stride=4 * k, w_expert=n * row,
                         ids_row=used, ids_stride=choice.strides[0])  # fmt: skip
        self._with_workspace("nw_gguf_moe", "nw_gguf_moe_linear", product, on)

    def gguf_moe_linear_fp8(self, x: Any, x_scales: Any, w: Any, type: str, ids: Any, *, out: Any, stream: Any = None) -> None:
        """gguf_moe_linear() with activations in fp8, as gguf_linear_fp8() has them: for many tokens.

        x uint8 (bits of e4m3) or float8_e4m3fn [T or T * used, K], a row for each token, or for each slot, and x_scales f32 of as many, as
        quantize_fp8() makes them. w uint8 [experts, N, row bytes], ids int32 [T, used], out f32 [T, used, N]. All contiguous. type, K:
        as gguf_linear_fp8(). Slots with an id of no expert are left as they are. gfx12; Error elsewhere.
        """
        on = stream_of(stream)
        a, factor, weights, choice, c = self._operands(on, x=x, x_scales=x_scales, w=w, ids=ids, out=out)
        checks.result(c, checks.gguf_moe_linear_fp8(a, factor, weights, type, choice), "f32")
        (experts, n, row), (tokens, used), (rows, k) = weights.shape, choice.shape, a.shape
        if tokens * used == 0:
            raise ValueError(f"ids has shape {list(choice.shape)}: there is no slot; make no call")
        product = struct(abi.nw_gguf_moe_fp8, type=_GGUF[type], n=n, k=k, experts=experts, slots=tokens * used, top_k=tokens * used // rows,
                         a=a.pointer, a_scale=factor.pointer, w=weights.pointer, expert_ids=choice.pointer, c=c.pointer,
                         w_expert=n * row)  # fmt: skip
        self._with_workspace("nw_gguf_moe_fp8", "nw_gguf_moe_fp8_linear", product, on)

    def prepare_gguf_moe_linear_fp8(self, type: str) -> None:
        """Loads the kernels of gguf_moe_linear_fp8() with weights of this type, and those of quantize_fp8()."""
        block(type)
        call("nw_gguf_moe_fp8_prepare", self._handle, ctypes.byref(struct(abi.nw_gguf_moe_fp8, type=_GGUF[type])))

    def gguf_moe_act(self, x: Any, w: Any, type: str, ids: Any, *, out: Any, bias: Any = None, swiglu: bool = False,
                     alpha: float = 1.702, limit: float = 7.0, stream: Any = None) -> None:  # fmt: skip
        """gguf_moe_linear with biases and gpt-oss's clamped SwiGLU, a slot at a time.

        y = x[t, 0 or u] * w[ids[t, u]] + bias[ids[t, u]]. With swiglu rows of w are gate and up in turn, as gpt-oss's checkpoints have
        them: with g = min(y[::2], limit), u = clip(y[1::2], -limit, limit), out is (u + 1) * g * sigmoid(alpha * g). type is "mxfp4" or
        "nvfp4". bias f32 [experts, N], contiguous, or None. out f32 [T, used, N], with swiglu [T, used, N/2]. The rest as gguf_moe_linear.
        """
        on = stream_of(stream)
        a, weights, choice, c = self._operands(on, x=x, w=w, ids=ids, out=out)
        (b,) = self._optional(on, bias=bias)
        checks.result(c, checks.gguf_moe_act(a, weights, type, choice, b, swiglu), "f32")
        (experts, n, row), (tokens, used), k, halves = weights.shape, choice.shape, a.shape[2], 2 if swiglu else 1
        if tokens * used == 0:
            raise ValueError(f"ids has shape {list(choice.shape)}: there is no slot; make no call")
        product = struct(abi.nw_gguf_moe_act, type=_GGUF[type], act=int(swiglu), n=n // halves, k=k, experts=experts, slots=tokens * used,
                         top_k=used // a.shape[1], alpha=alpha, limit=limit, x=a.pointer, w=weights.pointer, expert_ids=choice.pointer,
                         c=c.pointer, x_stride=4 * k, w_expert=n * row, w_row=halves * row, bias_expert=4 * n, bias_row=4 * halves)  # fmt: skip
        if swiglu:
            product.w_up = weights.pointer + row
        if b is not None:
            product.bias = b.pointer
            product.bias_up = b.pointer + 4 if swiglu else None
        self._with_workspace("nw_gguf_moe_act", "nw_gguf_moe_act_linear", product, on)

    def moe_linear(self, x: Any, w: Any, scales: Any, ids: Any, *, group: int, out: Any, zeros: Any = None, bias: Any = None, weights: Any = None,
                   silu_gate_up: bool = False, perm: Any = None, lists: tuple[Any, Any, Any] | None = None,
                   allocate: Callable[[int], Any] | None = None, stream: Any = None) -> None:  # fmt: skip
        """The product of linear() for each slot: a token at one of its experts.

        x [T or T * used, K] f16 or bf16: a row for each token, or for each slot. w int32 [experts, N, K/8], scales [experts, N,
        K/group], zeros int32 [experts, ceil(N/8), K/group] or None; bias [experts, N]; ids int32 [T, used]; weights f32 [T,
        used] or None: 1; out [T * used, N or N/2]. Rows contiguous; x, bias, ids, weights and out as a whole. Slots with an id
        of no expert are left as they are. lists: what moe_align() made of ids, for many tokens; without them each slot reads
        its weights. perm: of act-order, int32 or uint32 [experts, K], a row as linear()'s, and allocate as there: without lists it is
        one launch, but on gfx10.
        """
        on = stream_of(stream)
        a, q, s, choice, c = self._operands(on, x=x, w=w, scales=scales, ids=ids, out=out)
        z, b, factor, orders = self._optional(on, zeros=zeros, bias=bias, weights=weights, perm=perm)
        checks.result(c, checks.moe_linear(a, q, s, choice, group, z, b, factor, silu_gate_up, orders), a.dtype)
        (experts, n, _), (rows, k), slots = q.shape, a.shape, c.shape[0]
        if slots == 0:
            raise ValueError(f"ids has shape {list(choice.shape)}: there is no slot; make no call")
        product = struct(abi.nw_moe_w4a16, dtype=_DTYPES[a.dtype], silu_gate_up=int(silu_gate_up), block_size_m=1, blocks=slots, slots=slots,
                         top_k=slots // rows, experts=experts, n=n, k=k, group=group, a=a.pointer, w=q.pointer, s=s.pointer, c=c.pointer,
                         expert_ids=choice.pointer, w_stride=q.strides[1], w_expert=q.strides[0], s_stride=s.strides[1],
                         s_expert=s.strides[0])  # fmt: skip
        if z is not None:
            fill(product, zeros=abi.NW_ZEROS_PACKED, z=z.pointer, z_stride=z.strides[1], z_expert=z.strides[0])
        if b is not None:
            product.bias = b.pointer
        if factor is not None:
            product.topk_weights = factor.pointer
        if lists is not None:
            fill(product, **self._lists(lists, on))
        if orders is None:
            return call("nw_moe_linear_w4a16", self._handle, ctypes.byref(product), ctypes.c_void_p(on))
        self._act_order("nw_act_order_moe", "nw_act_order_moe_linear_w4a16", product, orders, allocate, on)

    def _act_order(self, family: str, function: str, product: ctypes.Structure, perm: Tensor, allocate: Callable[[int], Any] | None,
                   stream: int) -> None:  # fmt: skip
        needed = ctypes.c_uint64()
        call(f"{family}_workspace_size", self._handle, ctypes.byref(product), ctypes.byref(needed))
        made = self._allocated(allocate, needed.value, stream) if allocate is not None else None
        workspace = made.pointer if made else self._kept_workspace(needed.value, stream)
        call(function, self._handle, ctypes.byref(product), ctypes.c_void_p(perm.pointer), ctypes.c_void_p(workspace), needed,
             ctypes.c_void_p(stream))  # fmt: skip

    def _allocated(self, allocate: Callable[[int], Any], size: int, stream: int) -> Tensor | None:
        if not callable(allocate):
            raise ValueError(f"allocate = {shown(allocate)}: it must be a function of a number of bytes, or None")
        if size == 0:
            return None
        (made,) = self._operands(stream, **{"allocate's": allocate(size)})
        checks.contiguous(made, "allocate's")
        if (has := math.prod(made.shape) * SIZES[made.dtype]) < size:
            raise ValueError(f"allocate's has {has} bytes: it must have the {size} that were asked for")
        return made

    def _lists(self, lists: Any, stream: int) -> dict[str, int]:
        """What moe_align() makes, as members of the C structs."""
        if not isinstance(lists, (tuple, list)) or len(lists) != len(_LISTS):
            raise ValueError(f"lists = {shown(lists)}: it must be a tuple of three arrays, {', '.join(_LISTS)}")
        order, blocks, entries = self._operands(stream, **dict(zip(_LISTS, lists)))
        count, size = checks.moe_lists(order, blocks, entries)
        return {"blocks": count, "block_size_m": size, "sorted_token_ids": order.pointer, "expert_ids": blocks.pointer,
                "num_tokens_post_padded": entries.pointer}  # fmt: skip

    def moe_blocks(self, slots: int, experts: int, size: int) -> int:
        """The largest number of blocks of so many slots that moe_align() can need. slots: 1 to 2^30 - 1; experts: 1 to 512; size: 1, 2, 4,
        8, 16, 32 or 64."""
        size = whole(size, "size", 1, 64, _BLOCK_SIZES)
        if size & (size - 1):
            raise ValueError(f"size = {size}: it must be {_BLOCK_SIZES}")
        return int(LIBRARY.nw_moe_blocks(whole(slots, "slots", 1, 2**30 - 1), whole(experts, "experts", 1, 512), size))

    def moe_align(self, ids: Any, *, experts: int, lists: tuple[Any, Any, Any], stream: Any = None) -> None:
        """Sorts the slots of ids int32 [T, used] by expert, into lists for moe_linear: sorted_ids int32 [blocks, size] with size
        1, 2, 4, 8, 16, 32 or 64, blocks int32 [blocks], entries int32 [1]; at least moe_blocks() blocks."""
        on = stream_of(stream)
        (choice,) = self._operands(on, ids=ids)
        checks.is_a(choice, "ids", 2, "i32")
        checks.contiguous(choice, "ids")
        routing = struct(abi.nw_moe_routing, slots=choice.shape[0] * choice.shape[1], experts=whole(experts, "experts", 1, 512),
                         topk_ids=choice.pointer, **self._lists(lists, on))  # fmt: skip
        call("nw_moe_align", self._handle, ctypes.byref(routing), ctypes.c_void_p(on))

    def attention(self, q: Any, k: Any, v: Any, *, out: Any, causal: bool = True, scale: float | None = None, stream: Any = None) -> None:
        """out = softmax(scale * q k^T) v, with `causal` over keys up to a query's own; the last query sees all keys.

        q, out [B, Sq, H, D], k, v [B, Sk, Hk, D], f16 or bf16; D is 64, 128 or 256, H a multiple of Hk; heads contiguous, any
        other strides. scale: 1 / sqrt(D) by default.
        """
        on = stream_of(stream)
        views = dict(zip("qkvo", self._operands(on, q=q, k=k, v=v, out=out)))
        checks.attention(*views.values())
        (b, sq, h, d), (_, sk, hk, _) = views["q"].shape, views["k"].shape
        values: dict[str, Any] = {}
        for name, t in views.items():
            values |= {name: t.pointer, f"{name}_b": t.strides[0], f"{name}_s": t.strides[1], f"{name}_h": t.strides[2]}
        default = 1 / math.sqrt(d) if d else 1.0
        p = struct(abi.nw_attn, dtype=_DTYPES[views["q"].dtype], causal=int(flag(causal, "causal")), b=b, sq=sq, sk=sk, h=h, hk=hk, d=d,
                   scale=default if scale is None else scale, **values)  # fmt: skip
        self._with_workspace("nw_attention", "nw_attention", p, on)

    def _with_workspace(self, family: str, function: str, product: ctypes.Structure, stream: int) -> None:
        needed = ctypes.c_uint64()
        call(f"{family}_workspace_size", self._handle, ctypes.byref(product), ctypes.byref(needed))
        if needed.value:
            product.workspace, product.workspace_bytes = self._kept_workspace(needed.value, stream), self._workspaces[stream].shape[0]
        call(function, self._handle, ctypes.byref(product), ctypes.c_void_p(stream))

    def _kept_workspace(self, size: int, stream: int) -> int | None:
        """Address of at least so many bytes that belong to the stream; None if size is 0."""
        kept = self._workspaces.get(stream)
        if size and (kept is None or kept.shape[0] < size):
            hip.synchronize()  # queued launches use the old one
            kept = self._workspaces[stream] = hip.DeviceArray.zeros((size,), "uint8")
        return kept.data_ptr() if size and kept is not None else None
