// SPDX-License-Identifier: MIT
// Attributes of a graph's kernel nodes. They go with the node; executable graphs keep what they
// had.
#include <fmt/format.h>

#include "sim/hip/device/properties.h"
#include "sim/hip/graph/graph_call.h"
#include "sim/hip/graph/node_params.h"
#include "sim/hip/launch/launch_config.h"

namespace nw::hipsim {

namespace {

union NodeAttributeValue { // hipKernelNodeAttrValue
    AccessPolicyWindow window;
    int cooperative;
    int priority;
};

void check_node_attribute(int which) {
    require(which == launch_access_policy_window || which == launch_cooperative ||
                which == launch_priority,
            hipErrorInvalidValue);
}

void check_window(const AccessPolicyWindow &window, const KernelCall &call) {
    constexpr int persisting = 2; // hipAccessPropertyPersisting
    if (!(window.hit_ratio >= 0 && window.hit_ratio <= 1))
        fail(hipErrorInvalidValue, fmt::format("hitRatio {}: must be 0..1", window.hit_ratio));
    if (window.miss == persisting)
        fail(hipErrorInvalidValue,
             "missProp hipAccessPropertyPersisting: must be normal or streaming");
    const Device &device = *call.function->device;
    const int most = properties(device.facts, device.ordinal).accessPolicyMaxWindowSize;
    if (window.bytes > static_cast<u64>(most))
        fail(hipErrorInvalidValue,
             fmt::format("num_bytes {}: the device's accessPolicyMaxWindowSize is {}", window.bytes,
                         most));
    require(window.bytes == 0 || window.hit_ratio > 0, hipErrorInvalidValue);
}

void set_attribute_of(KernelCall &call, int which, const NodeAttributeValue &value) {
    switch (which) {
    case launch_access_policy_window:
        check_window(value.window, call);
        call.attributes.window = value.window;
        break;
    case launch_cooperative:
        set_cooperative(call, value.cooperative != 0);
        call.attributes.cooperative = value.cooperative;
        break;
    case launch_priority:
        if (value.priority < greatest_priority || value.priority > least_priority)
            fail(hipErrorInvalidValue, fmt::format("priority {}: must be {}..{}", value.priority,
                                                   greatest_priority, least_priority));
        call.attributes.priority = value.priority;
    }
    call.attributes.set = which;
}

// Writes only what the attribute has.
void get_attribute_of(const KernelCall &call, int which, NodeAttributeValue &value) {
    const KernelAttributes &attributes = call.attributes;
    if (which == launch_access_policy_window)
        value.window = attributes.window;
    else if (which == launch_cooperative) // a captured launch has it without an attribute
        value.cooperative = attributes.set ? attributes.cooperative : call.shape.cooperative;
    else
        value.priority = attributes.priority;
}

} // namespace

} // namespace nw::hipsim

using namespace nw::hipsim;

extern "C" {

hipError_t
set_node_attribute(hipGraphNode_t node, int which,
                   const NodeAttributeValue *value) asm("hipGraphKernelNodeSetAttribute");
hipError_t set_node_attribute(hipGraphNode_t handle, int which, const NodeAttributeValue *value) {
    return graph_call("hipGraphKernelNodeSetAttribute", [&] {
        auto &call = action_of<KernelCall>(find_node(handle));
        require(value != nullptr, hipErrorInvalidValue);
        check_node_attribute(which);
        set_attribute_of(call, which, *value);
    });
}

hipError_t get_node_attribute(hipGraphNode_t node, int which,
                              NodeAttributeValue *value) asm("hipGraphKernelNodeGetAttribute");
hipError_t get_node_attribute(hipGraphNode_t handle, int which, NodeAttributeValue *value) {
    return graph_call("hipGraphKernelNodeGetAttribute", [&] {
        const auto &call = action_of<KernelCall>(find_node(handle));
        require(value != nullptr, hipErrorInvalidValue);
        check_node_attribute(which);
        if (const int has = call.attributes.set; has != 0 && has != which)
            fail(hipErrorInvalidValue,
                 fmt::format("attribute {}: the node has attribute {}, which was set last", which,
                             has));
        get_attribute_of(call, which, *value);
    });
}

hipError_t copy_node_attributes(hipGraphNode_t from,
                                hipGraphNode_t to) asm("hipGraphKernelNodeCopyAttributes");
hipError_t copy_node_attributes(hipGraphNode_t from, hipGraphNode_t to) {
    return graph_call("hipGraphKernelNodeCopyAttributes", [&] {
        const auto &source = action_of<KernelCall>(find_node(from));
        auto &target = action_of<KernelCall>(find_node(to));
        const int has = target.attributes.set, gets = source.attributes.set;
        if (has == 0 && gets == 0)
            return;
        if (has != 0 && has != gets)
            fail(hipErrorInvalidContext,
                 fmt::format("the node has attribute {}, the other one has {}", has, gets));
        NodeAttributeValue value{};
        get_attribute_of(source, gets, value);
        set_attribute_of(target, gets, value);
    });
}
}
