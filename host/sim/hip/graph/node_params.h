// SPDX-License-Identifier: MIT
// Converts the parameters of HIP's graph calls to actions, and back.
#pragma once
#include "sim/hip/error.h"
#include "sim/hip/graph/graph.h"
#include "sim/hip/graph/graph_memory.h"

namespace nw::hipsim {

struct NodeParams { // hipGraphNodeParams, since HIP 6.1
    int type;       // hipGraphNodeType
    int reserved[3];
    union {
        long long bytes[30];
        hipKernelNodeParams kernel;
        struct {
            int flags, reserved[3];
            hipMemcpy3DParms params;
        } copy;
        hipMemsetParams fill;
        hipHostNodeParams host;
        hipGraph_t graph;
        hipEvent_t event;
        AllocationParams allocation;
        void *pointer;
    };
};
static_assert(sizeof(NodeParams) == 256);

// All validate their input and fail with the codes of real HIP.
Action kernel_action(const hipKernelNodeParams *params);
Action box_action(const hipMemcpy3DParms *params);
Action driver_box_action(const HIP_MEMCPY3D *params);
void check_context(hipCtx_t context); // of the driver's forms: null or a device's
Action line_action(void *to, const void *from, u64 bytes, hipMemcpyKind kind);
// The same for a node that has one already: to another place than from.
Action other_line_action(void *to, const void *from, u64 bytes, hipMemcpyKind kind);
Action to_symbol_action(const void *symbol, const void *from, u64 bytes, u64 offset,
                        hipMemcpyKind kind);
Action from_symbol_action(void *to, const void *symbol, u64 bytes, u64 offset, hipMemcpyKind kind);
Action fill_action(const hipMemsetParams *params);
Action driver_fill_action(const void *params);
Action host_action(const hipHostNodeParams *params);
Action record_action(hipEvent_t event);
Action await_action(hipEvent_t event);
Action child_action(hipGraph_t child);
Action allocation_action(AllocationParams *params); // writes the pointer
Action free_action(void *pointer);
Action memory_ops_action(const MemoryOpsParams *params);
Action any_action(NodeParams *params);

// The node's action of type T; hipErrorInvalidValue when it has another.
template <class T> T &action_of(Node &node) {
    T *const action = std::get_if<T>(&node.action);
    require(action != nullptr, hipErrorInvalidValue);
    return *action;
}

// Gives the node another action of its type. A kernel node keeps its attributes.
void take_over(Node &node, Action action);

hipKernelNodeParams kernel_params(Node &node);
hipMemsetParams fill_params(Node &node);

} // namespace nw::hipsim
