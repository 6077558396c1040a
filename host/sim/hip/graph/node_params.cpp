// SPDX-License-Identifier: MIT
#include "sim/hip/graph/node_params.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstring>

#include "sim/hip/graph/graph_memory.h"
#include "sim/hip/module/symbols.h"
#include "sim/hip/runtime.h"

namespace nw::hipsim {

// ---- to actions

void check_context(hipCtx_t context) {
    require(!context || runtime().device_of(context), hipErrorInvalidContext);
}

Action kernel_action(const hipKernelNodeParams *params) {
    require(params && params->func, hipErrorInvalidValue);
    const LaunchShape shape{params->gridDim, params->blockDim, params->sharedMemBytes};
    KernelCall call =
        make_call(function_named(params->func), shape, params->kernelParams, params->extra);
    call.named = params->func;
    return call;
}

Action box_action(const hipMemcpy3DParms *params) {
    require(params != nullptr, hipErrorInvalidValue);
    require((params->srcPtr.ptr || params->srcArray) && (params->dstPtr.ptr || params->dstArray),
            hipErrorInvalidValue);
    return box_copy(*params);
}

Action driver_box_action(const HIP_MEMCPY3D *params) { return driver_box_copy(params); }

Action line_action(void *to, const void *from, u64 bytes, hipMemcpyKind kind) {
    require(to && from && bytes > 0, hipErrorInvalidValue);
    return linear_copy(to, from, bytes, kind);
}

Action other_line_action(void *to, const void *from, u64 bytes, hipMemcpyKind kind) {
    require(to != from, hipErrorInvalidValue);
    return line_action(to, from, bytes, kind);
}

Action to_symbol_action(const void *symbol, const void *from, u64 bytes, u64 offset,
                        hipMemcpyKind kind) {
    require(symbol != nullptr, hipErrorInvalidSymbol);
    require(from && bytes > 0, hipErrorInvalidValue);
    return copy_to_symbol(symbol, from, bytes, offset, kind);
}

Action from_symbol_action(void *to, const void *symbol, u64 bytes, u64 offset, hipMemcpyKind kind) {
    require(symbol != nullptr, hipErrorInvalidSymbol);
    require(to && bytes > 0, hipErrorInvalidValue);
    return copy_from_symbol(to, symbol, bytes, offset, kind);
}

Action fill_action(const hipMemsetParams *params) {
    require(params && params->dst && params->width > 0 && params->height > 0, hipErrorInvalidValue);
    const u32 element = params->elementSize;
    require(element == 1 || element == 2 || element == 4, hipErrorInvalidValue);
    Fill fill = params->height == 1
                    ? linear_fill(params->dst, element, params->value, params->width)
                    : rows_fill(params->dst, params->pitch, element, params->value, params->width,
                                params->height);
    fill.pitch = params->pitch;
    return fill;
}

// Fill of hipDrvGraphAddMemsetNode: HIP_MEMSET_NODE_PARAMS in HIP 6.3, else hipMemsetParams.
// The former has the element's size where the latter has the upper half of the height.
Action driver_fill_action(const void *params) {
    struct Narrow {
        void *to;
        size_t pitch;
        unsigned value, element;
        size_t width, height;
    };
    static_assert(sizeof(Narrow) == 40 && offsetof(Narrow, element) == 20);
    static_assert(sizeof(hipMemsetParams) == 48 && offsetof(hipMemsetParams, height) == 16);
    require(params != nullptr, hipErrorInvalidValue);
    Narrow narrow;
    std::memcpy(&narrow, params, sizeof narrow);
    if (narrow.element == 0)
        return fill_action(static_cast<const hipMemsetParams *>(params));
    hipMemsetParams wide{};
    wide.dst = narrow.to;
    wide.elementSize = narrow.element;
    wide.height = narrow.height;
    wide.pitch = narrow.pitch;
    wide.value = narrow.value;
    wide.width = narrow.width;
    return fill_action(&wide);
}

Action host_action(const hipHostNodeParams *params) {
    require(params && params->fn, hipErrorInvalidValue);
    return HostCall{params->fn, params->userData};
}

Action memory_ops_action(const MemoryOpsParams *params) {
    require(params != nullptr, hipErrorInvalidValue);
    check_context(params->context);
    return memory_ops(params);
}

Action record_action(hipEvent_t event) {
    require(event != nullptr, hipErrorInvalidValue);
    return RecordEvent{runtime().event(event), event};
}

Action await_action(hipEvent_t event) {
    require(event != nullptr, hipErrorInvalidValue);
    return AwaitEvent{runtime().event(event), event};
}

Action child_action(hipGraph_t child) {
    const auto graph = find_graph(child); // also the parent itself, as it is now
    static_cast<void>(graph->ordered());  // no cycles
    return ChildGraph{graph->clone()};
}

Action allocation_action(AllocationParams *params) {
    require(params && params->bytes > 0, hipErrorInvalidValue);
    require(params->pool.allocType == hipMemAllocationTypePinned &&
                params->pool.location.type == hipMemLocationTypeDevice,
            hipErrorInvalidValue);
    const int device = params->pool.location.id;
    require(runtime().has_device(device), hipErrorInvalidValue);
    auto memory = std::make_shared<GraphMemory>(runtime().device(device), *params);
    params->pointer = memory->params.pointer;
    return AllocateMemory{std::move(memory)};
}

Action free_action(void *pointer) {
    require(planned_left(reinterpret_cast<u64>(pointer)) > 0, hipErrorInvalidValue); // a node's
    return FreeMemory{pointer};
}

Action any_action(NodeParams *params) {
    require(params != nullptr, hipErrorInvalidValue);
    switch (params->type) { // as numbered since HIP 5.3
    case 0:
        return kernel_action(&params->kernel);
    case 1:
        return box_action(&params->copy.params);
    case 2:
        return fill_action(&params->fill);
    case 3:
        return host_action(&params->host);
    case 4:
        return child_action(params->graph);
    case 5:
        return Nothing{};
    case 6:
        return await_action(params->event);
    case 7:
        return record_action(params->event);
    case 10:
        return allocation_action(&params->allocation);
    case 11:
        return free_action(params->pointer);
    case 8: // semaphores of other interfaces
    case 9:
    case 12: // symbols
    case 13:
    case 14: // operations on words
        fail(hipErrorNotSupported, fmt::format("a graph node of type {}", params->type));
    default:
        fail(hipErrorInvalidValue);
    }
}

void take_over(Node &node, Action action) {
    if (auto *const call = std::get_if<KernelCall>(&action)) {
        const KernelCall &before = action_of<KernelCall>(node);
        set_cooperative(*call, before.shape.cooperative);
        call->attributes = before.attributes;
    }
    node.action = std::move(action);
}

// ---- and back

hipKernelNodeParams kernel_params(Node &node) {
    KernelCall &call = action_of<KernelCall>(node);
    node.argument_pointers.clear();
    for (const sim::Arg &arg : call.function->kernel->args)
        if (!arg.value_kind.starts_with("hidden_"))
            node.argument_pointers.push_back(call.kernarg.data() + arg.offset);
    hipKernelNodeParams params{};
    params.func = call.named;
    params.gridDim = call.shape.grid;
    params.blockDim = call.shape.block;
    params.sharedMemBytes = static_cast<unsigned>(call.shape.dynamic_lds);
    params.kernelParams = node.argument_pointers.data();
    return params;
}

hipMemsetParams fill_params(Node &node) {
    const Fill &fill = action_of<Fill>(node);
    hipMemsetParams params{};
    params.dst = reinterpret_cast<void *>(fill.at);
    params.elementSize = fill.element;
    params.value = fill.value;
    params.width = fill.width;
    params.height = fill.height;
    params.pitch = fill.pitch;
    return params;
}

} // namespace nw::hipsim
