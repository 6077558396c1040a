// SPDX-License-Identifier: MIT
// A checked kernel launch with shape and packed arguments, independent of the caller's buffers.
#pragma once
#include <cstddef>
#include <memory>
#include <vector>

#include "base/types.h"
#include "sim/hip/headers.h"
#include "sim/hip/host_trace.h"
#include "sim/hip/module/module.h"
#include "sim/timing/timeline.h"

namespace nw::hipsim {

class MultiGrid;

struct LaunchShape {
    dim3 grid; // workgroups
    dim3 block;
    u64 dynamic_lds = 0;
    bool cooperative = false; // its workgroups may wait for each other
    bool any_order = false;   // may overlap the kernel before it in its stream
};

struct AccessPolicyWindow { // hipAccessPolicyWindow
    void *base;
    int hit; // hipAccessProperty
    float hit_ratio;
    int miss;
    size_t bytes;
};

// Attributes of a graph's kernel node. They are stored for queries; LaunchShape::cooperative has
// the effect of one. A node has only the one that was set last.
struct KernelAttributes {
    int set = 0; // its hipLaunchAttributeID; 0: none yet
    AccessPolicyWindow window = {};
    int cooperative = 0;
    int priority = 0;
};

struct KernelCall {
    std::shared_ptr<Function> function; // keeps the program alive: its module may be unloaded
    LaunchShape shape;
    std::vector<std::byte> kernarg;
    KernelAttributes attributes = {};           // of a graph's node
    std::shared_ptr<MultiGrid> grids = nullptr; // of a cooperative launch over several devices,
    u32 grid = 0;                               // and which of them this is
    std::shared_ptr<const HostTrace> host = nullptr; // who launched it, for Findings
    void *named = nullptr; // how the caller named the function; see hipGraphKernelNodeGetParams

    // `command` gets the modelled work; null where launches aren't timed.
    hipError_t run(sim::timing::Command *command) const noexcept;
};

// Checks the shape, in the order and with the codes of HIP, and packs the arguments.
KernelCall make_call(hipFunction_t function, const LaunchShape &shape, void **params, void **extra);

// Fails with hipErrorCooperativeLaunchTooLarge if not all workgroups can be resident.
void set_cooperative(KernelCall &call, bool wanted);

// The kernel that `named` means on the current device: a host stub that the compiler registered, or
// a hipFunction_t. Fails with hipErrorInvalidDeviceFunction.
hipFunction_t function_named(const void *named);

// Queues it (or captures it) between the records of `start` and `stop`, which may be null.
hipError_t launch(KernelCall call, hipStream_t stream, hipEvent_t start = nullptr,
                  hipEvent_t stop = nullptr);

} // namespace nw::hipsim
