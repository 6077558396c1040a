# SPDX-License-Identifier: MIT
"""hsaco.py FOLDER: one product by a code object of FOLDER (build/hsaco), without the library: hip-python and the manifest.

    pip install hip-python; python hsaco.py build/hsaco      # LD_LIBRARY_PATH=build/hipsim: on the simulated GPU
"""

from __future__ import annotations

import ctypes
import random
import struct
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from hip import hip
from manifest import Launch, Manifest

N, K, GROUP = 40, 512, 128
COHERENT = 0x40000000  # hipHostMallocCoherent
ORDER = (0, 2, 4, 6, 1, 3, 5, 7)  # k of each nibble of a dword, from bit 0 up


def check(result: Any) -> Any:
    error, *values = result
    if int(error) != 0:
        raise RuntimeError(str(error))
    return values[0] if len(values) == 1 else values


def to_device(data: bytes) -> Any:
    """By way of pinned memory: of small copies from other memory HIP loses some on gfx11."""
    memory, pinned = check(hip.hipMalloc(len(data))), check(hip.hipHostMalloc(len(data), COHERENT))
    ctypes.memmove(int(pinned), data, len(data))
    check(hip.hipMemcpy(memory, pinned, len(data), hip.hipMemcpyKind.hipMemcpyHostToDevice))
    check(hip.hipHostFree(pinned))
    return memory


def run(launch: Launch) -> None:
    module = check(hip.hipModuleLoad(str(launch.file).encode()))
    function = check(hip.hipModuleGetFunction(module, launch.symbol.encode()))
    kernarg, size = ctypes.create_string_buffer(launch.kernarg, len(launch.kernarg)), ctypes.c_size_t(len(launch.kernarg))
    extra = (ctypes.c_void_p * 5)(1, ctypes.addressof(kernarg), 2, ctypes.addressof(size), 3)
    check(hip.hipModuleLaunchKernel(function, *launch.grid, *launch.block, launch.dynamic_lds, None, kernelParams=None, extra=ctypes.addressof(extra)))
    check(hip.hipDeviceSynchronize())
    check(hip.hipModuleUnload(module))


def main(folder: Path) -> None:
    properties = check(hip.hipGetDeviceProperties(0))
    gfx = properties.gcnArchName.partition(":")[0]
    draw = random.Random(1)
    x = [draw.randrange(-8, 8) / 8 for _ in range(K)]
    q = [[draw.randrange(16) for _ in range(K)] for _ in range(N)]
    scales = [[draw.randrange(1, 9) / 256 for _ in range(K // GROUP)] for _ in range(N)]
    words = [sum(row[k + ORDER[i]] << 4 * i for i in range(8)) for row in q for k in range(0, K, 8)]
    operands = {"a": struct.pack(f"<{K}e", *x), "w": struct.pack(f"<{len(words)}I", *words),
                "s": b"".join(struct.pack(f"<{K // GROUP}e", *row) for row in scales), "c": bytes(2 * N)}  # fmt: skip
    memory = {name: to_device(data) for name, data in operands.items()}
    wgps = properties.multiProcessorCount
    launch = Manifest(folder).launch("decode_w4a16_f16_g128_m1_subnormal", gfx, **{name: int(at) for name, at in memory.items()}, bias=0, z=0,
                                     z_stride=0, silu=0, n=N, k=K, w_stride=K // 2, s_stride=2 * (K // GROUP), part=SimpleNamespace(wgps=wgps))  # fmt: skip
    run(launch)
    out = bytearray(2 * N)
    check(hip.hipMemcpy(out, memory["c"], len(out), hip.hipMemcpyKind.hipMemcpyDeviceToHost))
    exact = [sum(x[k] * (q[n][k] - 8) * scales[n][k // GROUP] for k in range(K)) for n in range(N)]
    error = max(abs(got - want) for got, want in zip(struct.unpack(f"<{N}e", out), exact))
    print(f"{gfx}: {launch.symbol}, largest error {error:.4f} of {max(map(abs, exact)):.2f}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
