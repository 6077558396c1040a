// SPDX-License-Identifier: MIT
// The HIP functions in use, found by dlsym, with their types from AMD's headers.
#pragma once
#ifndef __HIP_PLATFORM_AMD__
#define __HIP_PLATFORM_AMD__ 1
#endif
#define __HIP_DISABLE_CPP_FUNCTIONS__ 1 // overloads would make decltype(&hipMalloc) ambiguous
#include <hip/hip_runtime_api.h>

#include "base/hipsim.h"

#define NW_HIP_ENTRY_POINTS(X)                                                                     \
    X(hipInit)                                                                                     \
    X(hipGetDeviceCount)                                                                           \
    X(hipRuntimeGetVersion)                                                                        \
    X(hipDriverGetVersion)                                                                         \
    X(hipGetDevice)                                                                                \
    X(hipSetDevice)                                                                                \
    X(hipDeviceGetName)                                                                            \
    X(hipDeviceGetPCIBusId)                                                                        \
    X(hipDeviceGetAttribute)                                                                       \
    X(hipDeviceTotalMem)                                                                           \
    X(hipDeviceSynchronize)                                                                        \
    X(hipGetErrorName)                                                                             \
    X(hipMalloc)                                                                                   \
    X(hipFree)                                                                                     \
    X(hipHostMalloc)                                                                               \
    X(hipHostFree)                                                                                 \
    X(hipHostRegister)                                                                             \
    X(hipHostUnregister)                                                                           \
    X(hipMemcpy)                                                                                   \
    X(hipMemcpyAsync)                                                                              \
    X(hipMemcpy2DAsync)                                                                            \
    X(hipMemset)                                                                                   \
    X(hipModuleLoad)                                                                               \
    X(hipModuleLoadData)                                                                           \
    X(hipModuleUnload)                                                                             \
    X(hipModuleGetFunction)                                                                        \
    X(hipModuleLaunchKernel)                                                                       \
    X(hipStreamCreate)                                                                             \
    X(hipStreamDestroy)                                                                            \
    X(hipStreamSynchronize)                                                                        \
    X(hipStreamIsCapturing)                                                                        \
    X(hipStreamWaitEvent)                                                                          \
    X(hipStreamBeginCapture)                                                                       \
    X(hipStreamEndCapture)                                                                         \
    X(hipGraphInstantiate)                                                                         \
    X(hipGraphLaunch)                                                                              \
    X(hipGraphExecDestroy)                                                                         \
    X(hipGraphDestroy)                                                                             \
    X(hipEventCreate)                                                                              \
    X(hipEventDestroy)                                                                             \
    X(hipEventRecord)                                                                              \
    X(hipEventSynchronize)                                                                         \
    X(hipEventElapsedTime)

namespace nw::hip {

struct EntryPoints {
#define NW_DECLARE(name) decltype(&::name) name = nullptr;
    NW_HIP_ENTRY_POINTS(NW_DECLARE)
#undef NW_DECLARE
};

// Entry points of newer HIP versions; null in others.
struct OptionalEntryPoints {
    // By its type: headers overload it.
    hipError_t (*hipMallocAsync)(void **, std::size_t, hipStream_t) = nullptr;
    decltype(&::hipFreeAsync) hipFreeAsync = nullptr;
    decltype(&::hipGraphExecUpdate) hipGraphExecUpdate = nullptr;
};

// Entry points of the simulated library only.
struct SimulatorCalls {
    decltype(&::hipsimOpenDevice) hipsimOpenDevice = nullptr;
    decltype(&::hipsimCloseDevice) hipsimCloseDevice = nullptr;
    decltype(&::hipsimTakeStats) hipsimTakeStats = nullptr;
    decltype(&::hipsimPartConstants) hipsimPartConstants = nullptr;
    decltype(&::hipsimLastMessage) hipsimLastMessage = nullptr;
};

} // namespace nw::hip
