// SPDX-License-Identifier: MIT
// Adding nodes to graphs.
#include "sim/hip/graph/graph_call.h"
#include "sim/hip/graph/graph_memory.h"
#include "sim/hip/graph/node_params.h"

namespace nw::hipsim {

namespace {

// Where a new node goes: the first arguments of every hipGraphAdd...Node.
struct Place {
    hipGraphNode_t *node;
    hipGraph_t graph;
    const hipGraphNode_t *before;
    size_t count;
};

// `make` is called with the graph, after the dependencies are checked.
template <class Make> hipError_t add(const char *call, const Place &place, Make &&make) {
    return graph_call(call, [&] {
        require(place.node != nullptr, hipErrorInvalidValue);
        const auto graph = find_graph(place.graph);
        const auto before = find_nodes(*graph, place.before, place.count);
        *place.node = handle_of(graph->add(make(*graph), before));
    });
}

} // namespace

} // namespace nw::hipsim

using namespace nw::hipsim;

extern "C" {

hipError_t hipGraphAddEmptyNode(hipGraphNode_t *node, hipGraph_t graph,
                                const hipGraphNode_t *before, size_t count) {
    return add(__func__, {node, graph, before, count}, [&](Graph &) { return Nothing{}; });
}

hipError_t hipGraphAddKernelNode(hipGraphNode_t *node, hipGraph_t graph,
                                 const hipGraphNode_t *before, size_t count,
                                 const hipKernelNodeParams *params) {
    return add(__func__, {node, graph, before, count},
               [&](Graph &) { return kernel_action(params); });
}

hipError_t hipGraphAddMemcpyNode(hipGraphNode_t *node, hipGraph_t graph,
                                 const hipGraphNode_t *before, size_t count,
                                 const hipMemcpy3DParms *params) {
    return add(__func__, {node, graph, before, count}, [&](Graph &) { return box_action(params); });
}

hipError_t hipGraphAddMemcpyNode1D(hipGraphNode_t *node, hipGraph_t graph,
                                   const hipGraphNode_t *before, size_t count, void *to,
                                   const void *from, size_t bytes, hipMemcpyKind kind) {
    return add(__func__, {node, graph, before, count},
               [&](Graph &) { return line_action(to, from, bytes, kind); });
}

hipError_t hipGraphAddMemcpyNodeToSymbol(hipGraphNode_t *node, hipGraph_t graph,
                                         const hipGraphNode_t *before, size_t count,
                                         const void *symbol, const void *from, size_t bytes,
                                         size_t offset, hipMemcpyKind kind) {
    return add(__func__, {node, graph, before, count},
               [&](Graph &) { return to_symbol_action(symbol, from, bytes, offset, kind); });
}

hipError_t hipGraphAddMemcpyNodeFromSymbol(hipGraphNode_t *node, hipGraph_t graph,
                                           const hipGraphNode_t *before, size_t count, void *to,
                                           const void *symbol, size_t bytes, size_t offset,
                                           hipMemcpyKind kind) {
    return add(__func__, {node, graph, before, count},
               [&](Graph &) { return from_symbol_action(to, symbol, bytes, offset, kind); });
}

hipError_t hipGraphAddMemsetNode(hipGraphNode_t *node, hipGraph_t graph,
                                 const hipGraphNode_t *before, size_t count,
                                 const hipMemsetParams *params) {
    return add(__func__, {node, graph, before, count},
               [&](Graph &) { return fill_action(params); });
}

hipError_t hipGraphAddHostNode(hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *before,
                               size_t count, const hipHostNodeParams *params) {
    return add(__func__, {node, graph, before, count},
               [&](Graph &) { return host_action(params); });
}

hipError_t add_memory_ops(hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *before,
                          size_t count,
                          const MemoryOpsParams *params) asm("hipGraphAddBatchMemOpNode");
hipError_t add_memory_ops(hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *before,
                          size_t count, const MemoryOpsParams *params) {
    return add("hipGraphAddBatchMemOpNode", {node, graph, before, count},
               [&](Graph &) { return memory_ops_action(params); });
}

hipError_t hipGraphAddEventRecordNode(hipGraphNode_t *node, hipGraph_t graph,
                                      const hipGraphNode_t *before, size_t count,
                                      hipEvent_t event) {
    return add(__func__, {node, graph, before, count},
               [&](Graph &) { return record_action(event); });
}

hipError_t hipGraphAddEventWaitNode(hipGraphNode_t *node, hipGraph_t graph,
                                    const hipGraphNode_t *before, size_t count, hipEvent_t event) {
    return add(__func__, {node, graph, before, count},
               [&](Graph &) { return await_action(event); });
}

hipError_t hipGraphAddChildGraphNode(hipGraphNode_t *node, hipGraph_t graph,
                                     const hipGraphNode_t *before, size_t count, hipGraph_t child) {
    return add(__func__, {node, graph, before, count},
               [&](Graph &) { return child_action(child); });
}

// Newer than the oldest headers that we build with.

hipError_t add_allocation(hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *before,
                          size_t count, AllocationParams *params) asm("hipGraphAddMemAllocNode");
hipError_t add_allocation(hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *before,
                          size_t count, AllocationParams *params) {
    return add("hipGraphAddMemAllocNode", {node, graph, before, count},
               [&](Graph &) { return allocation_action(params); });
}

hipError_t add_free(hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *before,
                    size_t count, void *pointer) asm("hipGraphAddMemFreeNode");
hipError_t add_free(hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *before,
                    size_t count, void *pointer) {
    return add("hipGraphAddMemFreeNode", {node, graph, before, count},
               [&](Graph &) { return free_action(pointer); });
}

hipError_t add_driver_free(hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *before,
                           size_t count, void *pointer) asm("hipDrvGraphAddMemFreeNode");
hipError_t add_driver_free(hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *before,
                           size_t count, void *pointer) {
    return add("hipDrvGraphAddMemFreeNode", {node, graph, before, count},
               [&](Graph &) { return free_action(pointer); });
}

hipError_t add_driver_copy(hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *before,
                           size_t count, const HIP_MEMCPY3D *params,
                           hipCtx_t context) asm("hipDrvGraphAddMemcpyNode");
hipError_t add_driver_copy(hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *before,
                           size_t count, const HIP_MEMCPY3D *params, hipCtx_t context) {
    return add("hipDrvGraphAddMemcpyNode", {node, graph, before, count}, [&](Graph &) {
        require(context != nullptr, hipErrorInvalidValue);
        check_context(context);
        return driver_box_action(params);
    });
}

hipError_t add_driver_fill(hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *before,
                           size_t count, const void *params,
                           hipCtx_t context) asm("hipDrvGraphAddMemsetNode");
hipError_t add_driver_fill(hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *before,
                           size_t count, const void *params, hipCtx_t context) {
    return add("hipDrvGraphAddMemsetNode", {node, graph, before, count}, [&](Graph &) {
        check_context(context);
        return driver_fill_action(params);
    });
}

hipError_t add_any(hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *before,
                   size_t count, NodeParams *params) asm("hipGraphAddNode");
hipError_t add_any(hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *before,
                   size_t count, NodeParams *params) {
    return add("hipGraphAddNode", {node, graph, before, count},
               [&](Graph &) { return any_action(params); });
}
}
