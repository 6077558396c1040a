# SPDX-License-Identifier: MIT
"""Calls every function of a list with handles, pointers and numbers that mean nothing.

usage: garbage_host.py LIBRARY CODE ROUNDS < functions.json

Prints each call before it is made, so that the last line is the one that crashed, and `WRONG <call>` after one
that took a handle nobody ever made and succeeded. The last line of all is the result of `still_works`.
"""

from __future__ import annotations

import ctypes
import json
import mmap
import os
import random
import re
import subprocess
import sys
from ctypes import CFUNCTYPE, Structure, byref, c_float, c_int, c_uint, c_ulong, c_void_p
from dataclasses import asdict
from pathlib import Path

from declarations import functions

PAGE = mmap.PAGESIZE
NEVER_MADE = (0x5A5A5A50, 0xFFFF_FFFF_FFFF_FFF0, 3, 1 << 47)
NUMBERS = (0, 1, 2, 3, 4, 16, 64, 4096, 1 << 16, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF, 1 << 40, (1 << 64) - 1)
FILLS = (0x00, 0x01, 0x5A, 0xFF)
CALLBACK = CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p)
callback = CALLBACK(lambda *_: 0)

# Arguments that no library can check: an array shorter than the count beside it, a result that goes nowhere.
ARRAY = re.compile(r"(const )?(hipGraphNode_t|hipPointer_attribute|hipMemRangeAttribute|hipMemAccessDesc|uint32_t|"
                   r"hip\w*BatchMemOp\w*|hipJitOption|hip\w*LaunchParams|hipExternalSemaphore_t) \*$|const char \*\*$")
UNTYPED_RESULT = re.compile(r"hip\w*[GS]et\w*Attributes?$|hipGraphMemFreeNodeGetParams$|hipMemExportToShareableHandle$")
SMALL_NUMBERS = NUMBERS[:7]

# For words that are never written.
WAITS = re.compile(r"hipStreamWaitValue(32|64)$")
# Whose result is no error code, or which keep a stream for a launch to look at.
RESULT_SAYS_NOTHING = re.compile(r"hipKernelNameRef|__hipPushCallConfiguration|hipConfigureCall")


class Dim3(Structure):
    _fields_ = [(name, c_uint) for name in "xyz"]


class Extent(Structure):
    _fields_ = [(name, c_ulong) for name in ("width", "height", "depth")]


class Pitched(Structure):
    _fields_ = [("ptr", c_void_p), *((name, c_ulong) for name in ("pitch", "xsize", "ysize"))]


class Ipc(Structure):
    _fields_ = [("reserved", ctypes.c_char * 64)]


class Arena:
    """Writable memory with nothing before or after it: to leave it is to crash."""

    def __init__(self, pages: int) -> None:
        self.map = mmap.mmap(-1, (pages + 2) * PAGE)
        begin = ctypes.addressof(ctypes.c_char.from_buffer(self.map))
        libc = ctypes.CDLL(None, use_errno=True)
        for guard in (begin, begin + (pages + 1) * PAGE):
            if libc.mprotect(c_void_p(guard), c_ulong(PAGE), 0) != 0:
                raise OSError(ctypes.get_errno(), "mprotect")
        self.begin, self.bytes = begin + PAGE, pages * PAGE

    def filled(self, byte: int, length: int | None = None) -> int:
        ctypes.memset(self.begin, 0, self.bytes)
        ctypes.memset(self.begin, byte, self.bytes if length is None else length)
        return self.begin


class Host:
    """The runtime, and one live object of each kind."""

    def __init__(self, library: str, code: str) -> None:
        self.hip = ctypes.CDLL(library)
        self.memory = 0
        self.code = code.encode()
        self.live: dict[str, int] = {}

    def make(self, call: str, *arguments: object) -> int:
        handle = c_void_p()
        code = self.hip[call](byref(handle), *arguments)
        if code != 0:
            raise RuntimeError(f"{call}: {code}")
        return handle.value

    def make_all(self) -> None:
        """Anew: the calls before destroyed some of them."""
        if stream := self.live.get("hipStream_t"):
            self.hip.hipStreamDestroy(c_void_p(stream))  # it may capture
        self.hip.hipSetDevice(0)
        module = self.make("hipModuleLoad", self.code)
        graph = self.make("hipGraphCreate", c_uint(0))
        node = self.make("hipGraphAddEmptyNode", c_void_p(graph), None, c_ulong(0))
        self.live = {
            "hipStream_t": self.make("hipStreamCreate"),
            "hipEvent_t": self.make("hipEventCreate"),
            "hipModule_t": module,
            "hipFunction_t": self.make("hipModuleGetFunction", c_void_p(module), b"increment"),
            "hipGraph_t": graph,
            "hipGraphNode_t": node,
            "hipGraphExec_t": self.make("hipGraphInstantiate", c_void_p(graph), None, None, c_ulong(0)),
            "hipCtx_t": self.make("hipCtxGetCurrent"),
            "hipMemPool_t": self.make("hipDeviceGetDefaultMemPool", c_int(0)),
        }

    def device_memory(self) -> int:
        """4 KiB, again where the last call freed them; 0 when there is none to be had."""
        memory, bytes_ = c_void_p(), c_ulong()
        if self.hip.hipMemGetAddressRange(byref(memory), byref(bytes_), c_void_p(self.memory)) == 0:
            return self.memory
        self.memory = memory.value if self.hip.hipMalloc(byref(memory), c_ulong(4096)) == 0 else 0
        return self.memory

    def still_works(self) -> bool:
        """Allocates, writes, reads back and frees memory."""
        self.make_all()
        word, memory = c_int(0), c_void_p()
        return (
            self.hip.hipMalloc(byref(memory), c_ulong(64)) == 0
            and self.hip.hipMemset(memory, 0x21, c_ulong(64)) == 0
            and self.hip.hipMemcpy(byref(word), memory, c_ulong(4), 2) == 0
            and word.value == 0x21212121
            and self.hip.hipFree(memory) == 0
        )


# Handles that point to private data. Textures, surfaces and the like have no live ones.
HANDLE = re.compile(r"(const )?hip\w*(Stream|Event|Module|Function|Graph|GraphNode|GraphExec|Ctx|MemPool|UserObject|"
                    r"MemGenericAllocationHandle)_t$")


class Caller:
    def __init__(self, host: Host, seed: int) -> None:
        self.host, self.random = host, random.Random(seed)
        self.arenas = [Arena(4) for _ in range(16)]
        self.bad_handle = False

    def arguments(self, function: dict) -> list[object]:
        self.bad_handle = False
        arrays = any(ARRAY.match(written) for written, _ in function["parameters"])
        self.numbers = SMALL_NUMBERS if arrays else NUMBERS
        self.fills = FILLS[:1] if arrays else FILLS
        self.untyped_result = UNTYPED_RESULT.match(function["name"])
        self.bad_handles = self.random.choice(("any", "one"))
        return [self.argument(self.arenas[i], *types) for i, types in enumerate(function["parameters"])]

    def argument(self, arena: Arena, written: str, plain: str) -> object:
        if HANDLE.match(written):
            return c_void_p(self.handle(written.removeprefix("const ")))
        if "(*)" in plain:
            return callback
        if plain in ("void *", "const void *"):
            return c_void_p(self.memory(arena) if self.untyped_result else self.address(arena))
        if plain == "const char *":
            return c_void_p(self.random.choice((0, arena.filled(self.random.choice(FILLS), arena.bytes - 1))))
        if plain.endswith("*"):
            return c_void_p(self.memory(arena))
        return self.value(arena, plain)

    def value(self, arena: Arena, plain: str) -> object:
        if "dim3" in plain:
            return Dim3(*(self.number() & 0xFFFF_FFFF for _ in range(3)))
        if plain == "struct hipExtent":
            return Extent(*(self.number() for _ in range(3)))
        if plain == "struct hipPitchedPtr":
            return Pitched(self.address(arena), *(self.number() for _ in range(3)))
        if plain.startswith("struct hipIpc"):
            return Ipc()
        if plain == "float":
            return c_float(self.random.choice((0.0, -1.0, 1e30)))
        return c_ulong(self.number()) if "long" in plain else c_uint(self.number() & 0xFFFF_FFFF)

    def number(self) -> int:
        return self.random.choice(self.numbers)

    def handle(self, kind: str) -> int:
        live = self.host.live.get(kind)
        if live and (self.random.choice((True, False)) or (self.bad_handle and self.bad_handles == "one")):
            return live
        self.bad_handle = True
        return self.random.choice(NEVER_MADE)

    def memory(self, arena: Arena) -> int:
        """Host memory that a function reads or writes directly."""
        return self.random.choice((0, *[arena.filled(self.random.choice(self.fills))] * 3))

    def address(self, arena: Arena) -> int:
        """Arbitrary values: the library must validate them before dereferencing."""
        live = self.host.device_memory()
        return self.random.choice((0, live, live and live + 4095, *NEVER_MADE, self.memory(arena)))

    def call(self, function: dict) -> None:
        arguments = self.arguments(function)
        told = f"{function['name']}({', '.join(map(shown, arguments))})"
        print(told, flush=True)
        result = self.host.hip[function["name"]](*arguments)
        if result == 0 and self.bad_handle and not RESULT_SAYS_NOTHING.match(function["name"]):
            print(f"WRONG {told}", flush=True)


def shown(argument: object) -> str:
    if isinstance(argument, Structure):
        return "{" + ", ".join(str(getattr(argument, name)) for name, _ in argument._fields_) + "}"
    return hex(argument.value or 0) if isinstance(argument, (c_void_p, c_ulong, c_uint)) else str(argument)


def complaints(clang: str, include: Path, library: Path, code: Path, rounds: int) -> list[str]:
    """Result of a process that calls the declared functions: its crash, or its error report."""
    # A returned structure is written where the caller says, which ctypes would have to know.
    plain = [asdict(each) for each in functions(clang, include).values() if each.returns != "hipChannelFormatDesc"]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("HIPSIM_")}
    done = subprocess.run([sys.executable, __file__, library, code, str(rounds)], input=json.dumps(plain).encode(),
                          env=environment, capture_output=True)
    said = done.stdout.decode().splitlines()
    wrong = [line for line in said if line.startswith("WRONG")]
    if len(said) < rounds * len(plain) // 2:
        wrong.append(f"only {len(said)} calls of {rounds} x {len(plain)}")
    if done.returncode != 0 or said[-1:] != ["still works"]:
        last = done.stderr.decode(errors="replace").splitlines()[-1:]
        wrong.append(f"ended with {done.returncode} after {said[-1:]}: {last}")
    return wrong


def main(library: str, code: str, rounds: int) -> None:
    host = Host(library, code)
    caller = Caller(host, seed=rounds)
    functions = [each for each in json.load(sys.stdin) if not WAITS.match(each["name"])]
    for _ in range(rounds):
        host.make_all()
        for function in caller.random.sample(functions, len(functions)):
            caller.call(function)
    print("still works" if host.still_works() else "works no more")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
