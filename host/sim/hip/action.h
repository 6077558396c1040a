// SPDX-License-Identifier: MIT
// What a stream does at one point of its queue, and what a node of a graph holds. Values: a graph's
// copy copies them, and one that runs is not changed by an update of its node.
#pragma once
#include <memory>
#include <variant>
#include <vector>

#include "sim/hip/copy.h"
#include "sim/hip/fill.h"
#include "sim/hip/kernel_call.h"
#include "sim/hip/stream.h"

namespace nw::hipsim {

class Graph;
struct GraphMemory;

struct Nothing {};

struct HostCall {
    hipHostFn_t function = nullptr;
    void *data = nullptr;
};

struct RecordEvent {
    std::shared_ptr<Event> event;
    hipEvent_t handle = nullptr;
};

struct AwaitEvent {
    std::shared_ptr<Event> event;
    hipEvent_t handle = nullptr;
};

struct ChildGraph {
    std::shared_ptr<Graph> graph;
};

// hipMallocAsync and hipFreeAsync in a graph: the address is fixed when the node is made.
struct AllocateMemory {
    std::shared_ptr<GraphMemory> memory;
};

struct FreeMemory {
    void *pointer = nullptr;
};

using Action = std::variant<Nothing, KernelCall, Copy, Fill, HostCall, RecordEvent, AwaitEvent,
                            ChildGraph, AllocateMemory, FreeMemory>;

// Runs one that needs no graph around it; events and child graphs are the business of GraphExec.
hipError_t run(const Action &action) noexcept;

} // namespace nw::hipsim
