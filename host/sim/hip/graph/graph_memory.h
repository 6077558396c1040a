// SPDX-License-Identifier: MIT
// Memory of allocation nodes: its address is fixed when the node is created. It is live from the
// run of that node to the run of a free node or a call of hipFree.
#pragma once
#include <memory>

#include "sim/hip/device/device.h"

namespace nw::hipsim {

struct AllocationParams { // hipMemAllocNodeParams, since HIP 5.5
    hipMemPoolProps pool;
    const hipMemAccessDesc *access;
    size_t access_count;
    size_t bytes;
    void *pointer; // out
};
static_assert(sizeof(AllocationParams) == 120);

struct GraphMemory {
    GraphMemory(Device &device, const AllocationParams &asked); // both: hipErrorOutOfMemory
    GraphMemory(Device &device, u64 bytes);
    ~GraphMemory();
    GraphMemory(const GraphMemory &) = delete;

    Device &device;
    const AllocationParams params; // as asked for, the caller's access descriptors too; and where
};

// Bytes from `address` to the end of the graph memory that holds it, live or not; 0: none does.
u64 planned_left(u64 address);

// The actions of these nodes. With `again`, memory still live from an earlier launch is freed
// first; otherwise that is hipErrorInvalidValue.
hipError_t run_allocation(const std::shared_ptr<GraphMemory> &memory, bool again) noexcept;
hipError_t run_free(void *pointer) noexcept;

} // namespace nw::hipsim
