# SPDX-License-Identifier: MIT
"""A HIP host as small as they get: hip_launch.py FILE KERNEL LAUNCHES GRID BLOCK ARGUMENT...

Arguments as `nw time` takes them, of these kinds: buf:BYTES (zero), null, u32:V.
"""

from __future__ import annotations

import ctypes
import os
import sys

hip = ctypes.CDLL(os.path.join(os.environ["NW_BUILD_DIR"], "hipsim/libamdhip64.so"))


def must(result: int) -> None:
    if result:
        sys.exit(f"hipError {result}")


def value(word: str) -> ctypes.c_void_p | ctypes.c_uint32:
    kind, _, rest = word.partition(":")
    if kind == "u32":
        return ctypes.c_uint32(int(rest))
    pointer = ctypes.c_void_p()
    if kind == "buf":
        must(hip.hipMalloc(ctypes.byref(pointer), ctypes.c_size_t(int(rest))))
        must(hip.hipMemset(pointer, 0, ctypes.c_size_t(int(rest))))
    return pointer


def main(path: str, kernel: str, launches: str, grid: str, block: str, *words: str) -> None:
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    must(hip.hipModuleLoad(ctypes.byref(module), os.fsencode(path)))
    must(hip.hipModuleGetFunction(ctypes.byref(function), module, kernel.encode()))
    values = [value(word) for word in words]
    params = (ctypes.c_void_p * len(values))(*[ctypes.addressof(v) for v in values])
    for _ in range(int(launches)):
        must(hip.hipModuleLaunchKernel(function, int(grid), 1, 1, int(block), 1, 1, 0, None, params, None))
    must(hip.hipDeviceSynchronize())


if __name__ == "__main__":
    main(*sys.argv[1:])
