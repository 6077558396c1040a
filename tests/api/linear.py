# SPDX-License-Identifier: MIT
"""One product by the C API, from Python by ctypes alone: five rows of activations, bf16, packed zero
points, compared with the same in double.

    linear.py LIBNIBBLEWAVE [LIBAMDHIP64]
"""

from __future__ import annotations

import ctypes
import random
import struct
import sys

M, N, K, GROUP = 5, 24, 512, 64
NIBBLES = (0, 2, 4, 6, 1, 3, 5, 7)  # k of each nibble of a dword, from bit 0 up
NW_BF16, NW_ZEROS_PACKED = 0, 1


class W4A16(ctypes.Structure):  # nw_w4a16
    _fields_ = [
        ("size", ctypes.c_size_t),
        *[(name, ctypes.c_int32) for name in ("dtype", "zeros")],
        *[(name, ctypes.c_uint32) for name in ("m", "n", "k", "group")],
        *[(name, ctypes.c_void_p) for name in ("a", "w", "s", "z", "bias", "c")],
        *[(name, ctypes.c_uint64) for name in ("w_stride", "s_stride", "z_stride")],
        ("silu_gate_up", ctypes.c_int32),
    ]


class Hip:
    """The HIP calls that the product needs."""

    def __init__(self, path: str) -> None:
        self.library = ctypes.CDLL(path)

    def __call__(self, name: str, *arguments) -> None:
        if code := getattr(self.library, name)(*arguments):
            raise RuntimeError(f"{name}: error {code}")

    def upload(self, data: bytes) -> ctypes.c_void_p:
        """By way of pinned memory: of small copies from other memory HIP loses some on gfx11 (isa_notes/A-031)."""
        to, pinned, size = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_size_t(len(data))
        self("hipMalloc", ctypes.byref(to), size)
        self("hipHostMalloc", ctypes.byref(pinned), size, 0x40000000)  # hipHostMallocCoherent
        ctypes.memmove(pinned, data, len(data))
        self("hipMemcpy", to, pinned, size, 1)
        self("hipHostFree", pinned)
        return to

    def download(self, at: int, size: int) -> bytes:
        data = ctypes.create_string_buffer(size)
        self("hipMemcpy", data, ctypes.c_void_p(at), ctypes.c_size_t(size), 2)
        return data.raw


class Nibblewave:
    def __init__(self, path: str) -> None:
        self.library = ctypes.CDLL(path)
        self.library.nw_last_error.restype = ctypes.c_char_p
        self.library.nw_context_gfx.restype = ctypes.c_char_p
        self.library.nw_context_gfx.argtypes = [ctypes.c_void_p]
        self.library.nw_context_destroy.argtypes = [ctypes.c_void_p]
        self.library.nw_weight_row_stride.restype = ctypes.c_uint64
        self.context = ctypes.c_void_p()
        self.check(self.library.nw_context_create(None, ctypes.byref(self.context)))
        self.gfx = self.library.nw_context_gfx(self.context)

    def check(self, status: int) -> None:
        if status:
            raise RuntimeError(self.library.nw_last_error().decode())

    def linear(self, product: W4A16, stream: ctypes.c_void_p) -> None:
        self.check(self.library.nw_linear_w4a16(self.context, ctypes.byref(product), stream))

    def close(self) -> None:
        self.library.nw_context_destroy(self.context)


def bf16(values: list[float]) -> bytes:
    """Bytes of numbers that bf16 represents: the upper halves of floats."""
    return b"".join(struct.pack("<f", x)[2:] for x in values)


def floats(data: bytes) -> list[float]:
    return [struct.unpack("<f", b"\0\0" + data[i : i + 2])[0] for i in range(0, len(data), 2)]


def packed_row(q: list[int], stride: int) -> bytes:
    words = [sum(q[i + k] << 4 * nibble for nibble, k in enumerate(NIBBLES)) for i in range(0, K, 8)]
    return struct.pack(f"<{K // 8}I", *words).ljust(stride, b"\0")


def packed_zeros(z: list[list[int]]) -> bytes:
    rows = [[sum(z[n + i][g] << 4 * i for i in range(8)) for g in range(K // GROUP)] for n in range(0, N, 8)]
    return b"".join(struct.pack(f"<{K // GROUP}I", *row) for row in rows)


def main(nibblewave: str, hip_library: str = "libamdhip64.so") -> int:
    hip, nw, rng = Hip(hip_library), Nibblewave(nibblewave), random.Random(1)
    groups = K // GROUP
    a = [[rng.randint(-128, 128) / 64 for _ in range(K)] for _ in range(M)]
    s = [[rng.randint(128, 255) / 8192 for _ in range(groups)] for _ in range(N)]
    z = [[rng.randrange(16) for _ in range(groups)] for _ in range(N)]
    q = [[rng.randrange(16) for _ in range(K)] for _ in range(N)]
    stride = nw.library.nw_weight_row_stride(nw.gfx, K)
    product = W4A16(
        size=ctypes.sizeof(W4A16), dtype=NW_BF16, zeros=NW_ZEROS_PACKED, m=M, n=N, k=K, group=GROUP,
        a=hip.upload(b"".join(map(bf16, a))),
        w=hip.upload(b"".join(packed_row(row, stride) for row in q)),
        s=hip.upload(b"".join(map(bf16, s))),
        z=hip.upload(packed_zeros(z)),
        c=hip.upload(b"\xff" * (2 * M * N)),
        w_stride=stride, s_stride=2 * groups, z_stride=4 * groups,
    )  # fmt: skip
    stream = ctypes.c_void_p()
    hip("hipStreamCreate", ctypes.byref(stream))
    nw.linear(product, stream)
    hip("hipStreamSynchronize", stream)
    c = floats(hip.download(product.c, 2 * M * N))
    for m in range(M):
        for n in range(N):
            terms = [(a[m][k] * s[n][k // GROUP], q[n][k] - z[n][k // GROUP]) for k in range(K)]
            exact = sum(factor * weight for factor, weight in terms)
            # The bound of nibblewave.h, and rounding to bf16.
            bound = sum(abs(factor) for factor, _ in terms) / 512 + abs(exact) / 256
            if not abs(c[m * N + n] - exact) <= bound:
                print(f"c[{m}][{n}] is {c[m * N + n]}, not {exact}")
                return 1
    print(f"{nw.gfx.decode()}: {M} x {N} outputs, all as in double")
    nw.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
