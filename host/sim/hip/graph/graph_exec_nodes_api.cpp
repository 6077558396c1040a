// SPDX-License-Identifier: MIT
// Calls about graphs that came after HIP 5.2.
#include "sim/hip/graph/exec_call.h"

#include <fmt/format.h>

#include <fstream>

namespace nw::hipsim {

// As clr writes it: the host's memory, a device's, or an array.
static char place(const Copy::Side &side, bool array) {
    if (array)
        return 'A';
    const auto block = runtime().blocks.find(side.at);
    const bool on_device = side.planned || (block && block->kind != Block::Kind::host);
    return on_device ? 'D' : 'H';
}

static std::string label(const Node &node) {
    static constexpr const char *names[] = {"EMPTY",     "KERNEL",       "MEMCPY",     "MEMSET",
                                            "HOST",      "EVENT_RECORD", "EVENT_WAIT", "GRAPH",
                                            "MEM_ALLOC", "MEM_FREE",     "MEM_OPS"};
    static_assert(std::size(names) == std::variant_size_v<Action>);
    const std::string name = names[node.action.index()];
    if (const auto *call = std::get_if<KernelCall>(&node.action)) {
        const dim3 &grid = call->shape.grid, &block = call->shape.block;
        return fmt::format("{}\\n{}\\n<<<({}, {}, {}), ({}, {}, {}), {}>>>", name,
                           call->function->kernel->name, grid.x, grid.y, grid.z, block.x, block.y,
                           block.z, call->shape.dynamic_lds);
    }
    if (const auto *copy = std::get_if<Copy>(&node.action))
        return fmt::format(
            "{}\\n{}to{}\\n{} x {} x {} bytes", name, place(copy->from, copy->params.srcArray),
            place(copy->to, copy->params.dstArray), copy->width, copy->height, copy->depth);
    if (const auto *fill = std::get_if<Fill>(&node.action))
        return fmt::format("{}\\n{} x {} x {} of {} bytes", name, fill->width, fill->height,
                           fill->depth, fill->element);
    return name;
}

static std::string dot(const Graph &graph, const std::string &name) {
    std::string text = fmt::format("subgraph cluster_{} {{\n", name);
    for (const auto &node : graph.nodes()) {
        const std::string own = fmt::format("{}_{}", name, node->id);
        text += fmt::format("  n{} [label=\"{}. {}\"];\n", own, node->id, label(*node));
        if (const auto *child = std::get_if<ChildGraph>(&node->action))
            text += dot(*child->graph, own);
        for (const Node *const later : node->after)
            text += fmt::format("  n{} -> n{}_{};\n", own, name, later->id);
    }
    return text + "}\n";
}

// Only kernels, copies and fills can be switched off.
static Node &switchable(GraphExec &exec, hipGraphNode_t handle) {
    Node &twin = exec.twin(find_node(handle));
    require(std::holds_alternative<KernelCall>(twin.action) ||
                std::holds_alternative<Copy>(twin.action) ||
                std::holds_alternative<Fill>(twin.action),
            hipErrorInvalidValue);
    return twin;
}

} // namespace nw::hipsim

using namespace nw::hipsim;

extern "C" {

hipError_t print_dot(hipGraph_t graph, const char *path,
                     unsigned flags) asm("hipGraphDebugDotPrint");
hipError_t print_dot(hipGraph_t graph, const char *path, unsigned) {
    return graph_call("hipGraphDebugDotPrint", [&] {
        const auto source = find_graph(graph);
        require(path != nullptr, hipErrorInvalidValue);
        std::ofstream file(path);
        file << "digraph hipGraph {\nnode [shape=box];\n" << dot(*source, "0") << "}\n";
        require(bool(file.flush()), hipErrorOperatingSystem);
    });
}

hipError_t get_enabled(hipGraphExec_t exec, hipGraphNode_t node,
                       unsigned *enabled) asm("hipGraphNodeGetEnabled");
hipError_t get_enabled(hipGraphExec_t handle, hipGraphNode_t node, unsigned *enabled) {
    return graph_call("hipGraphNodeGetEnabled", [&] {
        const auto exec = find_exec(handle);
        require(enabled != nullptr, hipErrorInvalidValue);
        *enabled = switchable(*exec, node).enabled;
    });
}

hipError_t set_enabled(hipGraphExec_t exec, hipGraphNode_t node,
                       unsigned enabled) asm("hipGraphNodeSetEnabled");
hipError_t set_enabled(hipGraphExec_t handle, hipGraphNode_t node, unsigned enabled) {
    return graph_call("hipGraphNodeSetEnabled", [&] {
        const auto exec = find_exec(handle);
        switchable(*exec, node).enabled = enabled != 0;
        exec->changed();
    });
}

hipError_t set_exec_any(hipGraphExec_t exec, hipGraphNode_t node,
                        NodeParams *params) asm("hipGraphExecNodeSetParams");
hipError_t set_exec_any(hipGraphExec_t handle, hipGraphNode_t node, NodeParams *params) {
    return graph_call("hipGraphExecNodeSetParams", [&] {
        const auto exec = find_exec(handle);
        Action action = any_action(params);
        require(!std::holds_alternative<ChildGraph>(action) &&
                    !std::holds_alternative<AllocateMemory>(action) &&
                    !std::holds_alternative<FreeMemory>(action),
                hipErrorInvalidValue);
        set_twin(*exec, node, std::move(action));
    });
}

hipError_t set_exec_driver_copy(hipGraphExec_t exec, hipGraphNode_t node,
                                const HIP_MEMCPY3D *params,
                                hipCtx_t context) asm("hipDrvGraphExecMemcpyNodeSetParams");
hipError_t set_exec_driver_copy(hipGraphExec_t exec, hipGraphNode_t node,
                                const HIP_MEMCPY3D *params, hipCtx_t context) {
    return set_twin<Copy>("hipDrvGraphExecMemcpyNodeSetParams", exec, node, [&] {
        check_context(context);
        return driver_box_action(params);
    });
}

hipError_t set_exec_driver_fill(hipGraphExec_t exec, hipGraphNode_t node,
                                const hipMemsetParams *params,
                                hipCtx_t context) asm("hipDrvGraphExecMemsetNodeSetParams");
hipError_t set_exec_driver_fill(hipGraphExec_t exec, hipGraphNode_t node,
                                const hipMemsetParams *params, hipCtx_t context) {
    return set_twin<Fill>("hipDrvGraphExecMemsetNodeSetParams", exec, node, [&] {
        check_context(context);
        return fill_action(params);
    });
}
}
