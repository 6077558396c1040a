# SPDX-License-Identifier: MIT
"""Every public function of the installed package, and each of its parameters, with what it does not take: the error names the parameter and
the rule. Run by the Python of its environment (test_wheel.py)."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
import unittest
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import nibblewave as nw
import numpy
from nibblewave import gguf, reference

nw.simulate("gfx1151")
RANDOM = numpy.random.default_rng(11)
HUGE = (2**32, 2**64, 10**5000)
NO_NUMBER = (None, True, "3", b"3", 3.7, 128.0, float("nan"), 1j, [3], numpy.array([1, 2]), object())


class View:
    """A view of an array's memory; strides in elements."""

    def __init__(self, array: nw.DeviceArray, shape: tuple[int, ...] | None = None, strides: tuple[int, ...] | None = None, device: int = 0) -> None:
        self.shape, self.dtype, self.data_ptr, self.element_size = shape or array.shape, array.dtype, array.data_ptr, array.element_size
        steps = strides or array.stride()
        self.stride, self.device = lambda: steps, SimpleNamespace(type="cuda", index=device)


class Interface:
    """As CuPy's arrays are."""

    def __init__(self, array: nw.DeviceArray, **changed: object) -> None:
        self.__cuda_array_interface__ = {"shape": array.shape, "typestr": array._host.dtype.str, "data": (array.data_ptr(), False), "strides": None,
                                         "version": 3} | changed  # fmt: skip


class Dlpack:
    """An array of another device."""

    def __init__(self, device: int) -> None:
        self.__dlpack_device__ = lambda: (device, 0)
        self.__dlpack__ = None


def half(*shape: int) -> numpy.ndarray:
    return RANDOM.standard_normal(shape).astype(numpy.float16)


def bad_arrays(good: Any) -> list[object]:
    """Values that no array parameter takes. `good`: a DeviceArray."""
    wide = nw.DeviceArray(numpy.zeros((2, 3)))
    rank = (1, *good.shape)
    back = tuple(-step for step in good.stride())
    return [good.numpy(), [1, 2], "x", 3.7, True, object(), wide, Dlpack(1), Dlpack(2), Dlpack(99), View(good, rank, (1, *good.stride())),
            View(good, good.shape, back), View(good, device=1), Interface(good, mask=good), Interface(good, typestr=">f2"), Interface(good, typestr="<c8"),
            View(good, (*good.shape[:-1], good.shape[-1] + 1), good.stride())]  # fmt: skip


def bad_host(good: Any) -> list[object]:
    """Values that no parameter of the reference takes."""
    return [None, [1, 2], "x", 3.7, True, object(), nw.DeviceArray(numpy.zeros(3, numpy.float32)), good.astype(complex), good.astype(object),
            good.astype(str), good.astype(bool), good.astype(good.dtype.newbyteorder()) if good.itemsize > 1 else None, good[..., None, None][0:0]]  # fmt: skip


# By kind: values that no parameter of the kind takes, made from one that it does.
BAD: dict[str, Callable[[Any], list[object]]] = {
    "array": lambda good: [None, *bad_arrays(good)],
    "optional": bad_arrays,
    "out": lambda good: [None, *bad_arrays(good), Interface(good, data=(good.data_ptr(), True))],
    "host": bad_host,
    "host or none": lambda good: bad_host(good)[1:],
    "any shape": lambda good: bad_host(good)[:-1],
    "whole": lambda good: [-1, *NO_NUMBER, *HUGE],
    "group": lambda good: [-1, 0, 7, *NO_NUMBER, *HUGE],
    "k": lambda good: [-8, 0, 7, *NO_NUMBER, *HUGE],
    "count": lambda good: [-1, 0, *NO_NUMBER, *HUGE],
    "size": lambda good: [-1, 0, 3, 128, *NO_NUMBER, *HUGE],
    "flag": lambda good: [None, "no", 2, -1, 3.7, float("nan"), [], object()],
    "real": lambda good: [None, True, "1", float("nan"), 1j, [1.0], object(), 10**5000],
    "scale": lambda good: [True, "1", float("nan"), float("inf"), -1.0, 0, 1j, [1.0], object(), 10**5000],
    "scale of host": lambda good: [True, "1", float("nan"), 1j, [1.0], object(), 10**5000],
    "type": lambda good: [None, True, 5, 3.7, "q9", "", b"q4_K", ["q4_K"], "Q4_K"],
    "stream": lambda good: [-1, True, 3.7, "s", [], object(), 2**64, 10**5000],
    "allocate": lambda good: [5, "x", True, lambda size: None, lambda size: numpy.zeros(size, numpy.uint8), lambda size: nw.DeviceArray.zeros((1,), "uint8")],
    "lists": lambda good: [5, "abc", True, (), good[:2], (*good, good[0]), (None, *good[1:]), (good[0].numpy(), *good[1:]), (good[1], *good[1:])],
    "text": lambda good: [None, 5, True, b"gfx1151", "", "gfx999", "gfx1151,gfx999", "gfx1151?timing=on"],
    "dtype": lambda good: [5, True, b"float16", "complex64", "text", "int128", numpy.float16],
    "folder": lambda good: [5, True, b"x", 3.7, ["a"], "/no/such/folder"],
    "values": lambda good: [None, "text", ["a", "b"], object(), [object()], numpy.zeros(3, numpy.complex64), numpy.array(["a"]), 1j, [[1], [1, 2]],
                            numpy.zeros(3, ">f2"), numpy.zeros(3, "V3"), numpy.array(["2026-01-01"], "datetime64[D]")],  # fmt: skip
    "shape": lambda good: [-1, (2, -1), 3.7, (2, 3.7), None, "x", True, (2**60, 2), 10**5000],
    "dlpack stream": lambda good: [-2, 1, 2, 3.7, True, "s", [], 2**64],
}


def device_products() -> list[tuple[Callable[..., Any], dict[str, tuple[str, Any]], dict[str, Any]]]:
    """Calls, with each parameter's kind and what it takes; and what is the same in every call."""
    context, on = nw.Context(), nw.DeviceArray
    q, scales = RANDOM.integers(0, 16, (4, 24, 256)), (RANDOM.random((4, 24, 2)) / 64).astype(numpy.float16)
    z = RANDOM.integers(0, 16, scales.shape)
    w, s, zeros, one = on(nw.pack(q[0])), on(scales[0]), on(nw.pack_zeros(z[0])), on(half(24))
    experts, their_scales, their_zeros = on(nw.pack(q)), on(scales), on(nw.pack_zeros(z))
    x, out, order = on(half(6, 256)), on.zeros((6, 24), "float16"), on(RANDOM.permutation(256).astype(numpy.int32))
    orders = on(numpy.stack([RANDOM.permutation(256) for _ in range(4)]).astype(numpy.int32))
    ids, slots, factors = on(RANDOM.integers(0, 4, (6, 2)).astype(numpy.int32)), on.zeros((12, 24), "float16"), on(numpy.ones((6, 2), numpy.float32))
    int8, row_scales, e4m3 = on.zeros((6, 256), "int8"), on.zeros((6,), "float32"), on.zeros((6, 256), "uint8")
    bytes_, more = on(gguf.quantize_q8_0(half(24, 256))), on(numpy.zeros((4, 24, 136), numpy.uint8))
    f32, f32_out, f32_slots = on(half(6, 256).astype(numpy.float32)), on.zeros((6, 24), "float32"), on.zeros((6, 2, 24), "float32")
    token = on(half(6, 1, 256).astype(numpy.float32))
    count = context.moe_blocks(12, 4, 16)
    lists = tuple(on.zeros(shape, "int32") for shape in ((count, 16), (count,), (1,)))
    heads, keys, attended = on(half(1, 8, 4, 64)), on(half(1, 8, 2, 64)), on.zeros((1, 8, 4, 64), "float16")
    fp4, mxfp4 = on(numpy.zeros((24, 136), numpy.uint8)), ("type", "mxfp4")
    group, stream, flag = ("group", 128), ("stream", None), ("flag", False)
    linear = {"group": group, "out": ("out", out), "bias": ("optional", one), "silu_gate_up": flag, "stream": stream}
    allocate = ("allocate", lambda size: on.zeros((size,), "uint8"))
    packed, stacked = {"w": ("array", w), "scales": ("array", s)}, {"w": ("array", experts), "scales": ("array", their_scales)}
    return [
        (context.weight_row_stride, {"k": ("k", 4096)}, {}),
        (context.moe_blocks, {"slots": ("count", 12), "experts": ("count", 4), "size": ("size", 16)}, {}),
        (context.linear, {"x": ("array", x), **packed, **linear, "zeros": ("optional", zeros), "perm": ("optional", order), "allocate": allocate}, {}),
        (context.prepare_linear, {**packed, "group": group, "zeros": ("optional", zeros), "silu_gate_up": flag, "rows": ("whole", 3), "act_order": flag}, {}),
        (context.quantize_rows, {"x": ("array", x), "out": ("out", int8), "scales": ("out", row_scales), "stream": stream}, {}),
        (context.linear_w4a8, {"x": ("array", int8), "x_scales": ("array", row_scales), **packed, **linear, "zeros": ("optional", zeros)}, {}),
        (context.prepare_linear_w4a8, {**packed, "group": group, "rows": ("count", 6), "zeros": ("optional", zeros), "silu_gate_up": flag}, {}),
        (context.prepare_moe, {**stacked, "group": group, "zeros": ("optional", their_zeros), "silu_gate_up": flag, "act_order": flag}, {}),
        (context.gguf_linear, {"x": ("array", f32), "w": ("array", bytes_), "type": ("type", "q8_0"), "out": ("out", f32_out), "stream": stream}, {}),
        (context.gguf_moe_linear, {"x": ("array", token), "w": ("array", more), "type": mxfp4, "ids": ("array", ids), "out": ("out", f32_slots),
                                   "stream": stream}, {}),
        (context.gguf_moe_act, {"x": ("array", token), "w": ("array", more), "type": mxfp4, "ids": ("array", ids), "out": ("out", f32_slots),
                                "bias": ("optional", on.zeros((4, 24), "float32")), "swiglu": flag, "alpha": ("real", 1.702), "limit": ("real", 7.0),
                                "stream": stream}, {}),
        (context.moe_linear, {"x": ("array", x), **stacked, "ids": ("array", ids), "group": group, "out": ("out", slots), "zeros": ("optional", their_zeros),
                              "bias": ("optional", on(half(4, 24))), "weights": ("optional", factors), "silu_gate_up": flag,
                              "perm": ("optional", orders), "lists": ("lists", lists), "allocate": allocate, "stream": stream}, {}),
        (context.moe_align, {"ids": ("array", ids), "experts": ("count", 4), "lists": ("lists", lists), "stream": stream}, {}),
        (context.rms_norm, {"x": ("array", f32), "w": ("optional", on(numpy.ones(256, numpy.float32))), "out": ("out", on.zeros((6, 256), "float32")),
                            "eps": ("real", 1e-5), "stream": stream}, {}),
        (context.glu, {"gate": ("array", f32), "up": ("array", f32), "out": ("out", on.zeros((6, 256), "float32")), "act": ("type", "swiglu_oai"),
                       "alpha": ("real", 1.702), "limit": ("real", 7.0), "stream": stream}, {}),
        (context.attention, {"q": ("array", heads), "k": ("array", keys), "v": ("array", keys), "out": ("out", attended), "causal": ("flag", True),
                             "scale": ("scale", None), "stream": stream}, {}),
        # gfx12's: on gfx1151 what is right is refused, too
        (context.quantize_fp8, {"x": ("array", x), "out": ("out", e4m3), "scales": ("out", row_scales), "stream": stream}, {"refused": "no kernel"}),
        (context.gguf_linear_fp8, {"x": ("array", e4m3), "x_scales": ("array", row_scales), "w": ("array", fp4), "type": mxfp4, "out": ("out", f32_out),
                                   "stream": stream}, {"refused": "no kernel"}),
        (context.prepare_gguf_linear_fp8, {"w": ("array", fp4), "type": mxfp4, "rows": ("count", 6)}, {"refused": "no kernel"}),
        (context.gguf_moe_linear_fp8, {"x": ("array", e4m3), "x_scales": ("array", row_scales), "w": ("array", more), "type": mxfp4, "ids": ("array", ids),
                                       "out": ("out", f32_slots), "stream": stream}, {"refused": "no kernel"}),
        (context.prepare_gguf_moe_linear_fp8, {"type": mxfp4}, {"refused": "no kernel"}),
        (nw.DeviceArray, {"values": ("values", half(3)), "dtype": ("dtype", None)}, {}),
        (nw.DeviceArray.zeros, {"shape": ("shape", (2, 3)), "dtype": ("dtype", "bf16")}, {}),
        (x.__dlpack__, {"stream": ("dlpack stream", None)}, {"left": {"max_version", "dl_device", "copy"}}),
        (nw.Context, {"kernels": ("folder", None)}, {}),
        (nw.simulate, {"gfx": ("text", "gfx1151")}, {}),
    ]  # fmt: skip


def host_products() -> list[tuple[Callable[..., Any], dict[str, tuple[str, Any]], dict[str, Any]]]:
    """The same of the reference, which has NumPy's arrays."""
    q, scales = RANDOM.integers(0, 16, (4, 24, 256)), (RANDOM.random((4, 24, 2)) / 64).astype(numpy.float16)
    z, x, ids = RANDOM.integers(0, 16, scales.shape), half(6, 256), RANDOM.integers(0, 4, (6, 2))
    int8, row_scales = reference.quantize_rows(x)
    e4m3, their = reference.quantize_fp8(x)
    w, experts = gguf.quantize_q8_0(half(24, 256)), gguf.quantize_q8_0(half(4, 24, 256))
    perm, orders = RANDOM.permutation(256), numpy.stack([RANDOM.permutation(256) for _ in range(4)])
    token, kind, flag, group = half(6, 1, 256), ("type", "q8_0"), ("flag", False), ("group", 128)
    linear = {"q": ("host", q[0]), "scales": ("host", scales[0]), "z": ("host or none", z[0]), "group": group, "bias": ("host or none", half(24)),
              "silu": flag}  # fmt: skip
    moe = {"x": ("host", token), "w": ("host", experts), "type": kind, "ids": ("host", ids)}
    heads, keys = half(1, 8, 4, 64), half(1, 8, 2, 64)
    return [
        (nw.pack, {"q": ("host", q)}, {}), (nw.pack_zeros, {"z": ("any shape", z)}, {}),
        (reference.unpack, {"w": ("any shape", nw.pack(q))}, {}),
        (reference.unpack_zeros, {"zeros": ("any shape", nw.pack_zeros(z)), "n": ("k", 24)}, {}),
        (reference.values, {"x": ("any shape", x)}, {}),
        (reference.dequantize, {"q": ("any shape", q), "scales": ("host", scales), "z": ("host or none", z), "group": group}, {}),
        (reference.silu_gate_up, {"y": ("any shape", half(6, 24))}, {}),
        (reference.linear, {"x": ("host", x), **linear, "perm": ("host or none", perm)}, {}),
        (reference.quantize_rows, {"x": ("host", x)}, {}),
        (reference.linear_w4a8, {"x": ("host", int8), "x_scales": ("host", row_scales), **linear}, {}),
        (reference.e4m3, {"x": ("any shape", e4m3)}, {}), (reference.to_e4m3, {"x": ("any shape", x)}, {}),
        (reference.quantize_fp8, {"x": ("host", x)}, {}),
        (reference.gguf_linear_fp8, {"x": ("host", e4m3), "x_scales": ("host", their), "w": ("host", w), "type": kind}, {}),
        (reference.moe_linear, {"x": ("host", x), "q": ("host", q), "scales": ("host", scales), "z": ("host or none", z), "ids": ("host", ids), "group": group,
                                "bias": ("host or none", half(4, 24)), "weights": ("host or none", half(6, 2)), "silu": flag,
                                "out": ("host or none", half(12, 24)), "perm": ("host or none", orders)}, {}),
        (reference.gguf_linear, {"x": ("host", x), "w": ("host", w), "type": kind}, {}),
        (reference.gguf_moe_linear, moe, {}),
        (reference.gguf_moe_linear_fp8, {"x": ("host", e4m3), "x_scales": ("host", their), "w": ("host", experts), "type": kind, "ids": ("host", ids)}, {}),
        (reference.gguf_moe_act, {**moe, "bias": ("host or none", half(4, 24)), "swiglu": flag, "alpha": ("real", 1.7), "limit": ("real", 7.0)}, {}),
        (reference.rms_norm, {"x": ("host", x), "w": ("host or none", half(256)), "eps": ("real", 1e-5)}, {}),
        (reference.glu, {"gate": ("host", x), "up": ("host", x), "act": ("type", "geglu"), "alpha": ("real", 1.7), "limit": ("real", 7.0)}, {}),
        (reference.attention, {"q": ("host", heads), "k": ("host", keys), "v": ("host", keys), "causal": ("flag", True), "scale": ("scale of host", None)}, {}),
        (gguf.block, {"type": kind}, {}), (gguf.columns, {"type": kind, "row_bytes": ("whole", 272)}, {}),
        (gguf.dequantize, {"w": ("any shape", w), "type": kind}, {}), (gguf.quantize_q8_0, {"w": ("any shape", x)}, {}),
    ]  # fmt: skip


FORBIDDEN = re.compile(r"ctypes|DLPack|argument \d|Traceback|not supported between|object has no|0x[0-9a-f]{6,}|code \d")


class Arguments(unittest.TestCase):
    def refused(self, call: Callable[..., Any], given: dict[str, Any], name: str, value: object) -> None:
        what = f"{call.__qualname__}({name}={type(value).__name__} {str(value)[:40] if not isinstance(value, int) or value < 10**50 else 'huge'})"
        with self.subTest(what):
            try:
                call(**given | {name: value})
            except (ValueError, nw.Error) as error:
                text = str(error)
                self.assertIn(": ", text, what)
                self.assertNotRegex(text, FORBIDDEN, what)
                # An array of another shape may be what the others do not fit.
                named = given if isinstance(value, (View, numpy.ndarray, nw.DeviceArray)) else {name: value}
                elements = {"lists": ("sorted_ids", "blocks", "entries"), "row_bytes": ("bytes in a row",)}.get(name, ())
                self.assertRegex(text, rf"\b({'|'.join(map(re.escape, (*named, *elements)))})\b", what)
                return
            self.fail(f"{what} was taken")

    def each(self, calls: list[tuple[Callable[..., Any], dict[str, tuple[str, Any]], dict[str, Any]]]) -> None:
        for call, parameters, other in calls:
            wanted = {name for name in inspect.signature(call).parameters if name not in ("self", "cls")} - other.get("left", set())
            self.assertEqual(set(parameters), wanted, f"{call.__qualname__}: a parameter is not in the table")
            given = {name: good for name, (_, good) in parameters.items()}
            for name, (kind, good) in parameters.items():
                for value in BAD[kind](good):
                    self.refused(call, given, name, value)
            if "refused" in other:
                with self.assertRaisesRegex(nw.Error, other["refused"]):
                    call(**given)
            else:
                call(**given)  # a refusal leaves nothing behind that a right call would meet
        nw.synchronize()

    def test_on_the_device(self) -> None:
        self.each(device_products())

    def test_on_the_host(self) -> None:
        self.each(host_products())

    def test_the_table_has_all(self) -> None:
        """Public functions of the package and of its public classes and modules."""
        named = {call.__qualname__ for call, *_ in (*device_products(), *host_products())}
        wanted = {"simulate", "DeviceArray", "DeviceArray.zeros", "DeviceArray.__dlpack__", "Context", "pack", "pack_zeros"}
        for owner in (nw.Context, *nw.Context.__bases__, reference, gguf):
            prefix = f"{owner.__name__}." if inspect.isclass(owner) else ""
            functions = {name: f for name, f in vars(owner).items() if inspect.isfunction(f) and not name.startswith("_")}
            wanted |= {prefix + name for name, f in functions.items() if f.__module__ == getattr(owner, "__module__", None) or f.__module__ == owner.__name__}
        self.assertEqual(wanted - named, set())

    def test_words_of_messages(self) -> None:
        context, x, on = nw.Context(), half(6, 256), nw.DeviceArray
        w, s, out = on(numpy.zeros((24, 32), numpy.int32)), on(half(24, 2)), on.zeros((6, 24), "float16")
        cases: list[tuple[str, Callable[[], object]]] = [
            (r"x is on the host: wrap it by nibblewave\.DeviceArray\(x\)", lambda: context.linear(x, w, s, group=128, out=out)),
            (r"x is in memory of a CUDA device: move it to the ROCm device", lambda: context.linear(Dlpack(2), w, s, group=128, out=out)),
            (r"group = None: it must be a whole number, 32, 64 or 128", lambda: context.linear(on(x), w, s, group=None, out=out)),
            (r"x is on device 1: it must be on the context's, 0", lambda: context.linear(View(on(x), device=1), w, s, group=128, out=out)),
            (r"out is read-only: it must be memory", lambda: context.linear(on(x), w, s, group=128, out=Interface(out, data=(out.data_ptr(), True)))),
            (r"k = -1: it must be a whole number of 1 to 4294967295", lambda: context.weight_row_stride(-1)),
            (r"slots = -1: it must be a whole number of 1 to 1073741823", lambda: context.moe_blocks(-1, 4, 16)),
            (r"q = 3\.7: it must be a NumPy array, \[\.\.\., N, K\]", lambda: nw.pack(3.7)),
            (r"q is of type float64: it must be whole numbers", lambda: nw.pack(numpy.full((4, 8), 3.7))),
            (r"q has K = 7: it must be a multiple of 8", lambda: nw.pack(numpy.zeros((4, 7), int))),
            (r"values are of type complex64: they must be one of bool", lambda: on(numpy.zeros(3, numpy.complex64))),
            (r"values are of type object", lambda: on(numpy.array([object()]))),
            (r"values are of type str", lambda: on(numpy.array("text"))),
            (r"dtype = 'bf16' and values are of type float32: of bf16 they must be uint16", lambda: on(numpy.zeros(3, numpy.float32), "bf16")),
            (r"gfx = 'gfx999': 'gfx999' is not one of gfx1\d+", lambda: nw.simulate("gfx999")),
            (r"x has 500\.0: e4m3 has numbers of up to 448", lambda: reference.to_e4m3(numpy.array([500.0]))),
            (r"perm has values 0\.\.256: they must be 0\.\.255", lambda: reference.linear(x, numpy.zeros((8, 256), int), half(8, 2), None, 128,
                                                                                         perm=numpy.arange(256) + (numpy.arange(256) == 255))),
            (r"z is of type uint16, bits of bf16, and scales of float16", lambda: reference.dequantize(numpy.zeros((8, 256), int), half(8, 2),
                                                                                                      numpy.ones((8, 2), numpy.uint16), 128)),
        ]  # fmt: skip
        for text, action in cases:
            with self.subTest(text=text), self.assertRaisesRegex(ValueError, text):
                action()

    def program(self, *lines: str) -> str:
        done = subprocess.run([sys.executable, "-B", "-c", "\n".join(["import nibblewave as nw", *lines])], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_simulate_in_its_time(self) -> None:
        """After a wrong name the right one still works; after anything has used HIP no other one does."""
        said = self.program("try: nw.simulate('gfx999')", "except ValueError: print('refused')", "nw.simulate('gfx1151')", "nw.simulate('gfx1151')",
                            "print(nw.Context().gfx)", "try: nw.simulate('gfx1100')", "except RuntimeError as error: print(error)")  # fmt: skip
        self.assertRegex(said, r"\Arefused\ngfx1151\nsimulate\('gfx1100'\): this process has its HIP, that of simulate\('gfx1151'\): call it in a new process")
        said = self.program("import ctypes, os", "ctypes.CDLL(os.path.join(os.path.dirname(nw.__file__), 'hipsim/libamdhip64.so'))",
                            "try: nw.simulate('gfx1100')", "except RuntimeError as error: print(error)")  # fmt: skip
        self.assertRegex(said, r"\Asimulate\('gfx1100'\): this process has its HIP, libamdhip64\S*: call it in a new process")


if __name__ == "__main__":
    unittest.main()
