// SPDX-License-Identifier: MIT
// Reads and changes node parameters. Existing executable graphs aren't affected.
#include "sim/hip/graph/graph_call.h"
#include "sim/hip/graph/graph_memory.h"
#include "sim/hip/graph/node_params.h"
#include "sim/hip/launch/launch_config.h"

namespace nw::hipsim {

// The node must hold a T already: a node's type never changes.
template <class T, class Make>
static hipError_t set(const char *call, hipGraphNode_t handle, Make &&make) {
    return graph_call(call, [&] {
        Node &node = find_node(handle);
        action_of<T>(node);
        Action made = make();
        node.action = std::move(made);
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

// Node attributes are stored for queries; only `cooperative` has an effect here.
static void check_attribute(int which) {
    require(which == launch_access_policy_window || which == launch_cooperative ||
                which == launch_priority,
            hipErrorInvalidValue);
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
    return set<Copy>(__func__, node, [&] { return line_action(to, from, bytes, kind); });
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
    return get<AllocateMemory>("hipGraphMemAllocNodeGetParams", node, params, [](Node &n) {
        const GraphMemory &memory = *action_of<AllocateMemory>(n).memory;
        AllocationParams p{};
        p.pool.allocType = hipMemAllocationTypePinned;
        p.pool.location = {hipMemLocationTypeDevice, memory.device.ordinal};
        p.bytes = memory.bytes;
        p.pointer = memory.at;
        return p;
    });
}

hipError_t free_params(hipGraphNode_t node, void **pointer) asm("hipGraphMemFreeNodeGetParams");
hipError_t free_params(hipGraphNode_t node, void **pointer) {
    return get<FreeMemory>("hipGraphMemFreeNodeGetParams", node, pointer,
                           [](Node &n) { return action_of<FreeMemory>(n).pointer; });
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
        node.action = std::move(made);
    });
}

hipError_t set_attribute(hipGraphNode_t node, int which,
                         const int *value) asm("hipGraphKernelNodeSetAttribute");
hipError_t set_attribute(hipGraphNode_t handle, int which, const int *value) {
    return graph_call("hipGraphKernelNodeSetAttribute", [&] {
        auto &call = action_of<KernelCall>(find_node(handle));
        require(value != nullptr, hipErrorInvalidValue);
        check_attribute(which);
        if (which == launch_cooperative)
            set_cooperative(call, *value != 0);
        if (which == launch_priority)
            call.priority = *value;
    });
}

hipError_t get_attribute(hipGraphNode_t node, int which,
                         int *value) asm("hipGraphKernelNodeGetAttribute");
hipError_t get_attribute(hipGraphNode_t handle, int which, int *value) {
    return graph_call("hipGraphKernelNodeGetAttribute", [&] {
        const auto &call = action_of<KernelCall>(find_node(handle));
        require(value != nullptr, hipErrorInvalidValue);
        check_attribute(which);
        if (which == launch_access_policy_window)
            fail(hipErrorNotSupported, "the window of an access policy: there are no caches");
        *value = which == launch_cooperative ? call.shape.cooperative : call.priority;
    });
}

hipError_t copy_attributes(hipGraphNode_t from,
                           hipGraphNode_t to) asm("hipGraphKernelNodeCopyAttributes");
hipError_t copy_attributes(hipGraphNode_t from, hipGraphNode_t to) {
    return graph_call("hipGraphKernelNodeCopyAttributes", [&] {
        const auto &source = action_of<KernelCall>(find_node(from));
        auto &target = action_of<KernelCall>(find_node(to));
        set_cooperative(target, source.shape.cooperative);
        target.priority = source.priority;
    });
}
}
