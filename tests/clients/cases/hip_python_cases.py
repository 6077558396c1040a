# SPDX-License-Identifier: MIT
"""hip-python: the bindings' own signatures, handles and structs against the simulated library."""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

from hip import hip, hiprtc

SOURCE = b"""
extern "C" __global__ void scale(float *x, float factor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= factor;
}
__device__ int offset = 40;
__constant__ float table[4] = {1.0f, 2.0f, 4.0f, 8.0f};
extern "C" __global__ void pick(float *out) { out[threadIdx.x] = table[threadIdx.x & 3] + offset; }
extern "C" __global__ void total(const int *x, int *sum) { atomicAdd(sum, x[blockIdx.x * blockDim.x + threadIdx.x]); }
extern "C" __global__ void reverse(int *x) {
    extern __shared__ int s[];
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}
"""
N = 1000


def check(result):
    error, *values = result
    if int(error) != 0:
        raise RuntimeError(str(error))
    return values[0] if len(values) == 1 else tuple(values)


def compiled(source: bytes = SOURCE) -> bytes:
    program = check(hiprtc.hiprtcCreateProgram(source, b"program", 0, None, None))
    option = b"--offload-arch=" + check(hip.hipGetDeviceProperties(0)).gcnArchName.encode()
    (error,) = hiprtc.hiprtcCompileProgram(program, 1, [option])
    if int(error) != 0:
        log = bytearray(check(hiprtc.hiprtcGetProgramLogSize(program)))
        check(hiprtc.hiprtcGetProgramLog(program, log))
        raise RuntimeError(log.decode())
    code = bytearray(check(hiprtc.hiprtcGetCodeSize(program)))
    check(hiprtc.hiprtcGetCode(program, code))
    return bytes(code)


def launch(function, grid: int, block: int, *arguments, shared: int = 0, stream=None) -> None:
    check(hip.hipModuleLaunchKernel(function, grid, 1, 1, block, 1, 1, sharedMemBytes=shared, stream=stream,
                                    kernelParams=None, extra=arguments))


class Example(unittest.TestCase):
    """host/python/examples/hsaco.py: a code object by the manifest."""

    def run_it(self, gfx: str) -> subprocess.CompletedProcess[str]:
        script = Path(__file__).resolve().parents[3] / "host/python/examples/hsaco.py"
        folder = Path(os.environ["NW_BUILD_DIR"]) / "hsaco"
        return subprocess.run([sys.executable, script, folder], env=os.environ | {"HIPSIM_ARCH": gfx, "HIPSIM_CHECK": "all"}, capture_output=True, text=True)

    def test_a_product(self) -> None:
        done = self.run_it("gfx1151")
        self.assertEqual(done.returncode, 0, done.stderr)
        found = re.fullmatch(r"gfx1151: decode_w4a16_f16_g128_m1_subnormal, largest error (\d\.\d+) of (\d+\.\d+)\n", done.stdout)
        assert found, done.stdout
        self.assertLess(float(found[1]), float(found[2]) / 1024)  # one rounding to f16


class HipPython(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.code = compiled()
        cls.module = check(hip.hipModuleLoadData(cls.code))

    def function(self, name: bytes):
        return check(hip.hipModuleGetFunction(self.module, name))

    def device(self, host) -> object:
        memory = check(hip.hipMalloc(ctypes.sizeof(host)))
        self.addCleanup(lambda: check(hip.hipFree(memory)))
        check(hip.hipMemcpy(memory, host, ctypes.sizeof(host), hip.hipMemcpyKind.hipMemcpyHostToDevice))
        return memory

    def read(self, memory, host) -> list:
        check(hip.hipMemcpy(host, memory, ctypes.sizeof(host), hip.hipMemcpyKind.hipMemcpyDeviceToHost))
        return list(host)

    def test_properties(self) -> None:
        properties = check(hip.hipGetDeviceProperties(0))
        self.assertEqual(properties.gcnArchName, os.environ["HIPSIM_ARCH"])
        self.assertEqual(properties.warpSize, 32)
        self.assertEqual(properties.maxThreadsPerBlock, 1024)
        attribute = check(hip.hipDeviceGetAttribute(hip.hipDeviceAttribute_t.hipDeviceAttributeWarpSize, 0))
        self.assertEqual(attribute, 32)

    def test_a_kernel(self) -> None:
        host = (ctypes.c_float * N)(*range(N))
        memory = self.device(host)
        launch(self.function(b"scale"), 4, 256, memory, ctypes.c_float(0.5), ctypes.c_int(N))
        check(hip.hipDeviceSynchronize())
        self.assertEqual(self.read(memory, host), [i / 2 for i in range(N)])

    def test_variables_of_a_module(self) -> None:
        host = (ctypes.c_float * 8)()
        memory = self.device(host)
        launch(self.function(b"pick"), 1, 8, memory)
        self.assertEqual(self.read(memory, host), [41, 42, 44, 48] * 2)
        address, size = check(hip.hipModuleGetGlobal(self.module, b"offset"))
        self.assertEqual(size, 4)
        check(hip.hipMemcpy(address, (ctypes.c_int * 1)(1), 4, hip.hipMemcpyKind.hipMemcpyHostToDevice))
        launch(self.function(b"pick"), 1, 8, memory)
        self.assertEqual(self.read(memory, host), [2, 3, 5, 9] * 2)

    def test_atomics(self) -> None:
        numbers, total = (ctypes.c_int * 1024)(*range(1024)), (ctypes.c_int * 1)(0)
        memory, result = self.device(numbers), self.device(total)
        launch(self.function(b"total"), 16, 64, memory, result)
        self.assertEqual(self.read(result, total), [1023 * 512])

    def test_dynamic_lds(self) -> None:
        host = (ctypes.c_int * 128)(*range(128))
        memory = self.device(host)
        launch(self.function(b"reverse"), 1, 128, memory, shared=512)
        self.assertEqual(self.read(memory, host), list(range(127, -1, -1)))

    def test_streams_and_events(self) -> None:
        stream = check(hip.hipStreamCreate())
        start, end = check(hip.hipEventCreate()), check(hip.hipEventCreate())
        host = (ctypes.c_float * N)(*([1.0] * N))
        memory = self.device(host)
        check(hip.hipEventRecord(start, stream))
        for _ in range(10):
            launch(self.function(b"scale"), 4, 256, memory, ctypes.c_float(2), ctypes.c_int(N), stream=stream)
        check(hip.hipEventRecord(end, stream))
        check(hip.hipEventSynchronize(end))
        self.assertGreater(check(hip.hipEventElapsedTime(start, end)), 0)
        self.assertEqual(self.read(memory, host), [1024.0] * N)
        for event in (start, end):
            check(hip.hipEventDestroy(event))
        check(hip.hipStreamDestroy(stream))

    def test_graph_of_a_capture(self) -> None:
        stream = check(hip.hipStreamCreate())
        host = (ctypes.c_float * N)(*([1.0] * N))
        memory = self.device(host)
        check(hip.hipStreamBeginCapture(stream, hip.hipStreamCaptureMode.hipStreamCaptureModeGlobal))
        launch(self.function(b"scale"), 4, 256, memory, ctypes.c_float(3), ctypes.c_int(N), stream=stream)
        graph = check(hip.hipStreamEndCapture(stream))
        executable, *_ = check(hip.hipGraphInstantiate(graph, 0))
        for _ in range(3):
            check(hip.hipGraphLaunch(executable, stream))
        check(hip.hipStreamSynchronize(stream))
        self.assertEqual(self.read(memory, host), [27.0] * N)
        check(hip.hipGraphExecDestroy(executable))
        check(hip.hipGraphDestroy(graph))
        check(hip.hipStreamDestroy(stream))

    def test_memory_of_a_pool(self) -> None:
        stream = check(hip.hipStreamCreate())
        memory = check(hip.hipMallocAsync(4096, stream))
        check(hip.hipMemsetAsync(memory, 7, 4096, stream))
        host = (ctypes.c_ubyte * 4096)()
        check(hip.hipMemcpyAsync(host, memory, 4096, hip.hipMemcpyKind.hipMemcpyDeviceToHost, stream))
        check(hip.hipFreeAsync(memory, stream))
        check(hip.hipStreamSynchronize(stream))
        self.assertEqual(set(host), {7})
        check(hip.hipStreamDestroy(stream))

    def test_pitched_copies(self) -> None:
        memory, pitch = check(hip.hipMallocPitch(100, 10))
        self.assertGreaterEqual(pitch, 100)
        host = (ctypes.c_ubyte * 1000)(*(i % 251 for i in range(1000)))
        back = (ctypes.c_ubyte * 1000)()
        kinds = hip.hipMemcpyKind
        check(hip.hipMemcpy2D(memory, pitch, host, 100, 100, 10, kinds.hipMemcpyHostToDevice))
        check(hip.hipMemcpy2D(back, 100, memory, pitch, 100, 10, kinds.hipMemcpyDeviceToHost))
        self.assertEqual(bytes(back), bytes(host))
        check(hip.hipFree(memory))

    def test_attributes_of_pointers(self) -> None:
        memory = self.device((ctypes.c_int * 16)())
        attributes = check(hip.hipPointerGetAttributes(memory))
        self.assertEqual(int(attributes.type), int(hip.hipMemoryType.hipMemoryTypeDevice))

    def test_a_source_that_does_not_compile(self) -> None:
        with self.assertRaisesRegex(RuntimeError, "undeclared identifier 'nonsense'"):
            compiled(b"__global__ void bad() { nonsense; }")

    def test_an_access_out_of_bounds(self) -> None:
        memory = self.device((ctypes.c_float * 4)())
        launch(self.function(b"scale"), 1, 64, memory, ctypes.c_float(2), ctypes.c_int(64))
        (error,) = hip.hipDeviceSynchronize()
        self.assertNotEqual(int(error), 0)


if __name__ == "__main__":
    unittest.main()
