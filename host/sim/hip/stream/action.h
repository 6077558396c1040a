// SPDX-License-Identifier: MIT
// The work of one queue entry of a stream or one graph node. Value types: copying a graph copies
// them, and updating a node doesn't affect a running graph.
#pragma once
#include <memory>
#include <variant>
#include <vector>

#include "sim/hip/copy/copy.h"
#include "sim/hip/copy/fill.h"
#include "sim/hip/copy/word_ops.h"
#include "sim/hip/launch/kernel_call.h"
#include "sim/hip/stream/stream.h"

namespace nw::hipsim {

class Device;
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
                            ChildGraph, AllocateMemory, FreeMemory, MemoryOps>;

// The host may have to do something before it ends.
inline bool waits_for_host(const Action &action) {
    return std::holds_alternative<HostCall>(action) || std::holds_alternative<MemoryOps>(action);
}

// Runs an action that needs no graph; events and child graphs are handled by GraphExec. `command`:
// see KernelCall::run.
hipError_t run(const Action &action, sim::timing::Command *command) noexcept;

// How a copy's bytes move.
sim::timing::Transfer transfer_of(const Copy &copy);

// The action's place in the device's modelled time: one command, or none if launches aren't timed.
sim::timing::Commands commands_of(const Device &device, const Action &action);
// The same for what the host decides the end of.
sim::timing::Commands waiting_for_host(const Device &device);

} // namespace nw::hipsim
