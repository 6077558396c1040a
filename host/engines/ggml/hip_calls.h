// SPDX-License-Identifier: MIT
// HIP functions that a backend needs beside libnibblewave: memory, copies, streams. Types are those
// of AMD's headers; the functions come from the libamdhip64 that libnibblewave has loaded.
#pragma once
#ifndef __HIP_PLATFORM_AMD__
#define __HIP_PLATFORM_AMD__ 1
#endif
#define __HIP_DISABLE_CPP_FUNCTIONS__ 1 // overloads would make decltype(&hipMalloc) ambiguous
#include <hip/hip_runtime_api.h>

#include <string>

#define NW_ENGINE_HIP_CALLS(X)                                                                     \
    X(hipGetDeviceCount)                                                                           \
    X(hipGetDevice)                                                                                \
    X(hipSetDevice)                                                                                \
    X(hipDeviceGetName)                                                                            \
    X(hipDeviceGetAttribute)                                                                       \
    X(hipDeviceGetPCIBusId)                                                                        \
    X(hipMemGetInfo)                                                                               \
    X(hipMalloc)                                                                                   \
    X(hipFree)                                                                                     \
    X(hipHostMalloc)                                                                               \
    X(hipHostFree)                                                                                 \
    X(hipHostRegister)                                                                             \
    X(hipHostUnregister)                                                                           \
    X(hipHostGetDevicePointer)                                                                     \
    X(hipMemcpy)                                                                                   \
    X(hipMemcpyAsync)                                                                              \
    X(hipMemset)                                                                                   \
    X(hipMemsetAsync)                                                                              \
    X(hipStreamCreate)                                                                             \
    X(hipStreamCreateWithFlags)                                                                    \
    X(hipStreamBeginCapture)                                                                       \
    X(hipStreamEndCapture)                                                                         \
    X(hipGraphDestroy)                                                                             \
    X(hipGraphInstantiate)                                                                         \
    X(hipGraphExecDestroy)                                                                         \
    X(hipGraphLaunch)                                                                              \
    X(hipStreamDestroy)                                                                            \
    X(hipStreamSynchronize)                                                                        \
    X(hipStreamWaitEvent)                                                                          \
    X(hipMemcpyPeerAsync)                                                                          \
    X(hipEventCreate)                                                                              \
    X(hipEventCreateWithFlags)                                                                     \
    X(hipEventDestroy)                                                                             \
    X(hipEventRecord)                                                                              \
    X(hipEventSynchronize)                                                                         \
    X(hipGetErrorName)

namespace nw::engine {

struct HipCalls {
#define NW_DECLARE(name) decltype(&::name) name = nullptr;
    NW_ENGINE_HIP_CALLS(NW_DECLARE)
#undef NW_DECLARE
};

// Finds the functions. False, with the reason in `why`, if no HIP is loaded or one is missing.
bool find_hip(std::string &why);
// Valid after find_hip() returned true.
const HipCalls &hip();

} // namespace nw::engine
