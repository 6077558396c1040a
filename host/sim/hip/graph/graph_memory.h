// SPDX-License-Identifier: MIT
// Memory of allocation nodes: its address is fixed when the node is created. It is live from the
// run of that node to the run of a free node or a call of hipFree.
#pragma once
#include <memory>

#include "sim/hip/device/device.h"

namespace nw::hipsim {

struct GraphMemory {
    GraphMemory(Device &device, u64 bytes); // hipErrorOutOfMemory
    ~GraphMemory();
    GraphMemory(const GraphMemory &) = delete;

    Device &device;
    const u64 bytes;
    void *const at;
};

// Bytes from `address` to the end of the graph memory that holds it, live or not; 0: none does.
u64 planned_left(u64 address);

// The actions of these nodes. With `again`, memory still live from an earlier launch is freed
// first; otherwise that is hipErrorInvalidValue.
hipError_t run_allocation(const std::shared_ptr<GraphMemory> &memory, bool again) noexcept;
hipError_t run_free(void *pointer) noexcept;

} // namespace nw::hipsim
