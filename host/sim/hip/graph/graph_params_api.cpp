// SPDX-License-Identifier: MIT
// Reads and changes node parameters. Existing executable graphs aren't affected.
#include <cstring>

#include "sim/hip/graph/graph_call.h"
#include "sim/hip/graph/graph_memory.h"
#include "sim/hip/graph/node_params.h"

namespace nw::hipsim {

// The node must hold a T already: a node's type never changes.
template <class T, class Make>
static hipError_t set(const char *call, hipGraphNode_t handle, Make &&make) {
    return graph_call(call, [&] {
        Node &node = find_node(handle);
        action_of<T>(node);
        Action made = make();
        take_over(node, std::move(made));
    });
}

template <class T, class Value, class Take>
static hipError_t get(const char *call, hipGraphNode_t handle, Value *value, Take &&take) {
    return graph_call(call, [&] {
        Node &node = find_node(handle);
        action_of<T>(node);
        require(value != nullptr, hipErrorInvalidValue);
        *value = take(node);
    });
}

} // namespace nw::hipsim

using namespace nw::hipsim;

extern "C" {

hipError_t hipGraphKernelNodeGetParams(hipGraphNode_t node, hipKernelNodeParams *params) {
    return get<KernelCall>(__func__, node, params, kernel_params);
}

hipError_t hipGraphKernelNodeSetParams(hipGraphNode_t node, const hipKernelNodeParams *params) {
    return set<KernelCall>(__func__, node, [&] { return kernel_action(params); });
}

hipError_t hipGraphMemcpyNodeGetParams(hipGraphNode_t node, hipMemcpy3DParms *params) {
    return get<Copy>(__func__, node, params, [](Node &n) { return action_of<Copy>(n).params; });
}

hipError_t hipGraphMemcpyNodeSetParams(hipGraphNode_t node, const hipMemcpy3DParms *params) {
    return set<Copy>(__func__, node, [&] { return box_action(params); });
}

hipError_t hipGraphMemcpyNodeSetParams1D(hipGraphNode_t node, void *to, const void *from,
                                         size_t bytes, hipMemcpyKind kind) {
    return set<Copy>(__func__, node, [&] { return other_line_action(to, from, bytes, kind); });
}

hipError_t hipGraphMemcpyNodeSetParamsToSymbol(hipGraphNode_t node, const void *symbol,
                                               const void *from, size_t bytes, size_t offset,
                                               hipMemcpyKind kind) {
    return set<Copy>(__func__, node,
                     [&] { return to_symbol_action(symbol, from, bytes, offset, kind); });
}

hipError_t hipGraphMemcpyNodeSetParamsFromSymbol(hipGraphNode_t node, void *to, const void *symbol,
                                                 size_t bytes, size_t offset, hipMemcpyKind kind) {
    return set<Copy>(__func__, node,
                     [&] { return from_symbol_action(to, symbol, bytes, offset, kind); });
}

hipError_t hipGraphMemsetNodeGetParams(hipGraphNode_t node, hipMemsetParams *params) {
    return get<Fill>(__func__, node, params, fill_params);
}

hipError_t hipGraphMemsetNodeSetParams(hipGraphNode_t node, const hipMemsetParams *params) {
    return set<Fill>(__func__, node, [&] { return fill_action(params); });
}

hipError_t hipGraphHostNodeGetParams(hipGraphNode_t node, hipHostNodeParams *params) {
    return get<HostCall>(__func__, node, params, [](Node &n) {
        const HostCall &call = action_of<HostCall>(n);
        return hipHostNodeParams{call.function, call.data};
    });
}

hipError_t hipGraphHostNodeSetParams(hipGraphNode_t node, const hipHostNodeParams *params) {
    return set<HostCall>(__func__, node, [&] { return host_action(params); });
}

hipError_t get_memory_ops(hipGraphNode_t node,
                          MemoryOpsParams *params) asm("hipGraphBatchMemOpNodeGetParams");
hipError_t get_memory_ops(hipGraphNode_t node, MemoryOpsParams *params) {
    return get<MemoryOps>("hipGraphBatchMemOpNodeGetParams", node, params, [](Node &n) {
        MemoryOps &ops = action_of<MemoryOps>(n); // the array stays the node's
        return MemoryOpsParams{ops.context, static_cast<nw::u32>(ops.all.size()), ops.all.data(),
                               0};
    });
}

hipError_t set_memory_ops(hipGraphNode_t node,
                          const MemoryOpsParams *params) asm("hipGraphBatchMemOpNodeSetParams");
hipError_t set_memory_ops(hipGraphNode_t node, const MemoryOpsParams *params) {
    return set<MemoryOps>("hipGraphBatchMemOpNodeSetParams", node,
                          [&] { return memory_ops_action(params); });
}

hipError_t hipGraphEventRecordNodeGetEvent(hipGraphNode_t node, hipEvent_t *event) {
    return get<RecordEvent>(__func__, node, event,
                            [](Node &n) { return action_of<RecordEvent>(n).handle; });
}

hipError_t hipGraphEventRecordNodeSetEvent(hipGraphNode_t node, hipEvent_t event) {
    return set<RecordEvent>(__func__, node, [&] { return record_action(event); });
}

hipError_t hipGraphEventWaitNodeGetEvent(hipGraphNode_t node, hipEvent_t *event) {
    return get<AwaitEvent>(__func__, node, event,
                           [](Node &n) { return action_of<AwaitEvent>(n).handle; });
}

hipError_t hipGraphEventWaitNodeSetEvent(hipGraphNode_t node, hipEvent_t event) {
    return set<AwaitEvent>(__func__, node, [&] { return await_action(event); });
}

// The node's own copy: changing it changes the node.
hipError_t hipGraphChildGraphNodeGetGraph(hipGraphNode_t node, hipGraph_t *graph) {
    return get<ChildGraph>(__func__, node, graph,
                           [](Node &n) { return handle_of(*action_of<ChildGraph>(n).graph); });
}

// Newer than the oldest headers that we build with.

hipError_t allocation_params(hipGraphNode_t node,
                             AllocationParams *params) asm("hipGraphMemAllocNodeGetParams");
hipError_t allocation_params(hipGraphNode_t node, AllocationParams *params) {
    return get<AllocateMemory>("hipGraphMemAllocNodeGetParams", node, params,
                               [](Node &n) { return action_of<AllocateMemory>(n).memory->params; });
}

hipError_t free_params(hipGraphNode_t node, void **pointer) asm("hipGraphMemFreeNodeGetParams");
hipError_t free_params(hipGraphNode_t node, void **pointer) {
    return get<FreeMemory>("hipGraphMemFreeNodeGetParams", node, pointer,
                           [](Node &n) { return action_of<FreeMemory>(n).pointer; });
}

hipError_t get_driver_copy(hipGraphNode_t node,
                           HIP_MEMCPY3D *params) asm("hipDrvGraphMemcpyNodeGetParams");
hipError_t get_driver_copy(hipGraphNode_t handle, HIP_MEMCPY3D *params) {
    return graph_call("hipDrvGraphMemcpyNodeGetParams", [&] {
        const Copy &copy = action_of<Copy>(find_node(handle));
        require(params != nullptr, hipErrorInvalidValue);
        if (!copy.driver)
            fail(hipErrorInvalidValue,
                 "the node has no HIP_MEMCPY3D: it is not from a call of the "
                 "driver's API; hipGraphMemcpyNodeGetParams tells what it is");
        std::memcpy(params, copy.driver->data(), copy.driver->size());
    });
}

hipError_t set_driver_copy(hipGraphNode_t node,
                           const HIP_MEMCPY3D *params) asm("hipDrvGraphMemcpyNodeSetParams");
hipError_t set_driver_copy(hipGraphNode_t node, const HIP_MEMCPY3D *params) {
    return set<Copy>("hipDrvGraphMemcpyNodeSetParams", node,
                     [&] { return driver_box_action(params); });
}

hipError_t set_any(hipGraphNode_t handle, NodeParams *params) asm("hipGraphNodeSetParams");
hipError_t set_any(hipGraphNode_t handle, NodeParams *params) {
    return graph_call("hipGraphNodeSetParams", [&] {
        Node &node = find_node(handle);
        Action made = any_action(params);
        require(made.index() == node.action.index(), hipErrorInvalidValue);
        require(!std::holds_alternative<ChildGraph>(made) &&
                    !std::holds_alternative<AllocateMemory>(made) &&
                    !std::holds_alternative<FreeMemory>(made),
                hipErrorInvalidValue);
        take_over(node, std::move(made));
    });
}
}
