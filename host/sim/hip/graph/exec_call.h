// SPDX-License-Identifier: MIT
#pragma once
#include "sim/hip/graph/graph_call.h"
#include "sim/hip/graph/graph_exec.h"
#include "sim/hip/graph/node_params.h"

namespace nw::hipsim {

// Replaces the action of an executable graph's node. A node's type and the direction of a copy
// never change.
inline void set_twin(GraphExec &exec, hipGraphNode_t node, Action action) {
    Node &twin = exec.twin(find_node(node));
    require(twin.action.index() == action.index(), hipErrorInvalidValue);
    if (const Copy *const old = std::get_if<Copy>(&twin.action))
        require(old->params.kind == std::get<Copy>(action).params.kind, hipErrorInvalidValue);
    if (const Fill *const old = std::get_if<Fill>(&twin.action)) { // rows keep their shape
        const Fill &now = std::get<Fill>(action);
        require(old->height == 1 || (now.width == old->width && now.height == old->height),
                hipErrorInvalidValue);
    }
    take_over(twin, std::move(action));
    exec.changed();
}

// The same as an entry point, for a node that holds a T.
template <class T, class Make>
hipError_t set_twin(const char *call, hipGraphExec_t exec_handle, hipGraphNode_t node,
                    Make &&make) {
    return graph_call(call, [&] {
        const auto exec = find_exec(exec_handle);
        action_of<T>(find_node(node));
        set_twin(*exec, node, make());
    });
}

} // namespace nw::hipsim
