// SPDX-License-Identifier: MIT
// Executable graphs: instantiation, launch, and updates of their nodes.
#include "sim/hip/graph/exec_call.h"

#include <fmt/format.h>

#include <algorithm>

namespace nw::hipsim {

namespace {

struct InstantiateParams { // hipGraphInstantiateParams, since HIP 6.1
    hipGraphNode_t culprit;
    unsigned long long flags;
    int result; // hipGraphInstantiateResult
    hipStream_t upload_stream;
};

enum InstantiateFlag : unsigned long long { // hipGraphInstantiateFlags
    no_flag = 0,
    auto_free_on_launch = 1,
    upload_first = 2,
    device_launch = 4,
    use_node_priority = 8,
};

} // namespace

// ROCm takes one flag at a time.
static void check_flag(unsigned long long flags, std::initializer_list<InstantiateFlag> allowed) {
    if (std::ranges::find(allowed, flags) != allowed.end())
        return;
    std::string list;
    for (const unsigned long long flag : allowed)
        list += fmt::format("{}{}", list.empty() ? "" : ", ", flag);
    fail(hipErrorInvalidValue,
         fmt::format("flags {}: must be one of {}, which can't be combined", flags, list));
}

static void instantiate(hipGraphExec_t *exec, hipGraph_t handle, unsigned long long flags) {
    require(exec != nullptr, hipErrorInvalidValue);
    const auto graph = find_graph(handle);
    // Memory nodes have one address: only one executable graph may use it.
    require(!(graph->instantiated && graph->owns_memory()), hipErrorNotSupported);
    *exec = graph_execs().add(std::make_shared<GraphExec>(*graph, flags));
    graph->instantiated = true;
}

} // namespace nw::hipsim

using namespace nw;
using namespace nw::hipsim;

extern "C" {

hipError_t hipGraphInstantiate(hipGraphExec_t *exec, hipGraph_t graph, hipGraphNode_t *culprit,
                               char *log, size_t log_bytes) {
    return graph_call(__func__, [&] {
        if (culprit)
            *culprit = nullptr;
        if (log && log_bytes > 0)
            log[0] = '\0';
        instantiate(exec, graph, 0);
    });
}

hipError_t hipGraphInstantiateWithFlags(hipGraphExec_t *exec, hipGraph_t graph,
                                        unsigned long long flags) {
    return graph_call(__func__, [&] {
        require(exec && graph, hipErrorInvalidValue);
        check_flag(flags, {no_flag, auto_free_on_launch, use_node_priority});
        instantiate(exec, graph, flags);
    });
}

hipError_t instantiate_with(hipGraphExec_t *exec, hipGraph_t graph,
                            InstantiateParams *params) asm("hipGraphInstantiateWithParams");
hipError_t instantiate_with(hipGraphExec_t *exec, hipGraph_t graph, InstantiateParams *params) {
    return graph_call("hipGraphInstantiateWithParams", [&] {
        require(exec && graph && params, hipErrorInvalidValue);
        params->culprit = nullptr;
        params->result = 1; // hipGraphInstantiateError
        check_flag(params->flags,
                   {no_flag, auto_free_on_launch, upload_first, device_launch, use_node_priority});
        if (params->flags == upload_first)
            runtime().stream(params->upload_stream);
        instantiate(exec, graph, params->flags);
        params->result = 0; // hipGraphInstantiateSuccess
    });
}

hipError_t hipGraphExecDestroy(hipGraphExec_t handle) {
    std::shared_ptr<GraphExec> last; // user objects of it are destroyed without the lock
    return graph_call(__func__, [&] {
        last = graph_execs().remove(handle); // queued runs keep what they need
        require(last != nullptr, hipErrorInvalidValue);
    });
}

// While the stream captures, the graph becomes a child of the captured one.
hipError_t hipGraphLaunch(hipGraphExec_t handle, hipStream_t stream_handle) {
    return graph_call(__func__, [&] {
        const auto exec = find_exec(handle);
        const auto stream = runtime().stream(stream_handle);
        if (stream->capture)
            return add_captured(*stream, ChildGraph{exec->graph().clone()});
        check_implicit(*stream);
        exec->launch(stream);
    });
}

// A no-op: there is nothing to prepare.
hipError_t upload(hipGraphExec_t handle, hipStream_t stream) asm("hipGraphUpload");
hipError_t upload(hipGraphExec_t handle, hipStream_t stream) {
    return graph_call("hipGraphUpload", [&] {
        find_exec(handle);
        runtime().stream(stream);
    });
}

hipError_t exec_flags(hipGraphExec_t handle, unsigned long long *flags) asm("hipGraphExecGetFlags");
hipError_t exec_flags(hipGraphExec_t handle, unsigned long long *flags) {
    return graph_call("hipGraphExecGetFlags", [&] {
        require(flags != nullptr, hipErrorInvalidValue);
        *flags = find_exec(handle)->flags;
    });
}

hipError_t hipGraphExecUpdate(hipGraphExec_t exec_handle, hipGraph_t graph,
                              hipGraphNode_t *culprit_out, hipGraphExecUpdateResult *result) {
    return graph_call(__func__, [&] {
        const auto exec = find_exec(exec_handle);
        require(culprit_out && result, hipErrorInvalidValue);
        const Node *culprit = nullptr;
        *result = update(*exec, *find_graph(graph), &culprit);
        *culprit_out = culprit ? handle_of(*culprit) : nullptr;
        require(*result == hipGraphExecUpdateSuccess, hipErrorGraphExecUpdateFailure);
    });
}

hipError_t hipGraphExecKernelNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node,
                                           const hipKernelNodeParams *params) {
    return set_twin<KernelCall>(__func__, exec, node, [&] { return kernel_action(params); });
}

hipError_t hipGraphExecMemcpyNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node,
                                           hipMemcpy3DParms *params) {
    return set_twin<Copy>(__func__, exec, node, [&] {
        try {
            return box_action(params);
        } catch (Failure &failure) { // as clr has it, whatever is wrong with the box
            fail(hipErrorInvalidValue, std::move(failure.text));
        }
    });
}

hipError_t hipGraphExecMemcpyNodeSetParams1D(hipGraphExec_t exec, hipGraphNode_t node, void *to,
                                             const void *from, size_t bytes, hipMemcpyKind kind) {
    return set_twin<Copy>(__func__, exec, node,
                          [&] { return other_line_action(to, from, bytes, kind); });
}

hipError_t hipGraphExecMemcpyNodeSetParamsToSymbol(hipGraphExec_t exec, hipGraphNode_t node,
                                                   const void *symbol, const void *from,
                                                   size_t bytes, size_t offset,
                                                   hipMemcpyKind kind) {
    return set_twin<Copy>(__func__, exec, node,
                          [&] { return to_symbol_action(symbol, from, bytes, offset, kind); });
}

hipError_t hipGraphExecMemcpyNodeSetParamsFromSymbol(hipGraphExec_t exec, hipGraphNode_t node,
                                                     void *to, const void *symbol, size_t bytes,
                                                     size_t offset, hipMemcpyKind kind) {
    return set_twin<Copy>(__func__, exec, node,
                          [&] { return from_symbol_action(to, symbol, bytes, offset, kind); });
}

hipError_t hipGraphExecMemsetNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node,
                                           const hipMemsetParams *params) {
    return set_twin<Fill>(__func__, exec, node, [&] { return fill_action(params); });
}

hipError_t hipGraphExecHostNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node,
                                         const hipHostNodeParams *params) {
    return set_twin<HostCall>(__func__, exec, node, [&] { return host_action(params); });
}

hipError_t
set_exec_memory_ops(hipGraphExec_t exec, hipGraphNode_t node,
                    const MemoryOpsParams *params) asm("hipGraphExecBatchMemOpNodeSetParams");
hipError_t set_exec_memory_ops(hipGraphExec_t exec, hipGraphNode_t node,
                               const MemoryOpsParams *params) {
    return set_twin<MemoryOps>("hipGraphExecBatchMemOpNodeSetParams", exec, node,
                               [&] { return memory_ops_action(params); });
}

hipError_t hipGraphExecEventRecordNodeSetEvent(hipGraphExec_t exec, hipGraphNode_t node,
                                               hipEvent_t event) {
    return set_twin<RecordEvent>(__func__, exec, node, [&] { return record_action(event); });
}

hipError_t hipGraphExecEventWaitNodeSetEvent(hipGraphExec_t exec, hipGraphNode_t node,
                                             hipEvent_t event) {
    return set_twin<AwaitEvent>(__func__, exec, node, [&] { return await_action(event); });
}

// The new child must have the old one's shape.
hipError_t hipGraphExecChildGraphNodeSetParams(hipGraphExec_t exec_handle, hipGraphNode_t node,
                                               hipGraph_t child) {
    return graph_call(__func__, [&] {
        const auto exec = find_exec(exec_handle);
        Node &original = find_node(node);
        Graph &old = *action_of<ChildGraph>(exec->twin(original)).graph;
        const auto graph = find_graph(child);
        require(graph.get() != original.graph, hipErrorUnknown);
        const Node *culprit = nullptr;
        require(update(old, *graph, &culprit) == hipGraphExecUpdateSuccess, hipErrorUnknown);
        exec->changed();
    });
}
}
