// SPDX-License-Identifier: MIT
// A kernel with its shape and arguments, checked, and independent of what the caller passed them
// in.
#pragma once
#include <cstddef>
#include <memory>
#include <vector>

#include "base/types.h"
#include "sim/hip/headers.h"
#include "sim/hip/module.h"

namespace nw::hipsim {

struct LaunchShape {
    dim3 grid; // workgroups
    dim3 block;
    u64 dynamic_lds = 0;
    bool cooperative = false; // its workgroups may wait for each other
};

struct KernelCall {
    std::shared_ptr<Function> function; // keeps the program alive: its module may be unloaded
    LaunchShape shape;
    std::vector<std::byte> kernarg;
    int priority = 0;      // kept for who asks
    void *named = nullptr; // how the caller named the function; see hipGraphKernelNodeGetParams

    hipError_t run() const noexcept;
};

// Checks the shape, in the order and with the codes of HIP, and packs the arguments.
KernelCall make_call(hipFunction_t function, const LaunchShape &shape, void **params, void **extra);

// Fails with hipErrorCooperativeLaunchTooLarge when the workgroups are too many to be resident.
void set_cooperative(KernelCall &call, bool wanted);

// The kernel that `named` means on the current device: a host stub that the compiler registered, or
// a hipFunction_t. Fails with hipErrorInvalidDeviceFunction.
hipFunction_t function_named(const void *named);

// Queues it (or captures it) behind `start`'s record and in front of `stop`'s, which may be null.
hipError_t launch(KernelCall call, hipStream_t stream, hipEvent_t start = nullptr,
                  hipEvent_t stop = nullptr);

} // namespace nw::hipsim
