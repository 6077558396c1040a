// SPDX-License-Identifier: MIT
// Whole graphs: creation, copies, queries of nodes and edges.
#include <algorithm>

#include "sim/hip/graph/graph_call.h"

namespace nw::hipsim {

// HIP's output lists: with a null `out`, the count; else as many as fit, padded with null.
template <class Handle>
static void give_list(const std::vector<Handle> &all, Handle *out, size_t *count) {
    require(count != nullptr, hipErrorInvalidValue);
    if (!out) {
        *count = all.size();
        return;
    }
    for (size_t i = 0; i < *count; ++i)
        out[i] = i < all.size() ? all[i] : nullptr;
    *count = std::min(*count, all.size());
}

static std::vector<hipGraphNode_t> handles(const std::vector<Node *> &nodes) {
    std::vector<hipGraphNode_t> all;
    for (const Node *const node : nodes)
        all.push_back(handle_of(*node));
    return all;
}

static std::pair<Node *, Node *> edge(const Graph &graph, hipGraphNode_t from, hipGraphNode_t to) {
    Node &first = find_node(from), &second = find_node(to);
    require(&first != &second && first.graph == &graph && second.graph == &graph,
            hipErrorInvalidValue);
    return {&first, &second};
}

} // namespace nw::hipsim

using namespace nw::hipsim;

extern "C" {

hipError_t hipGraphCreate(hipGraph_t *graph, unsigned flags) {
    return graph_call(__func__, [&] {
        require(graph && flags == 0, hipErrorInvalidValue);
        *graph = graph_tables().graphs.add(std::make_shared<Graph>());
    });
}

hipError_t hipGraphDestroy(hipGraph_t handle) {
    std::shared_ptr<Graph> last; // user objects of it are destroyed without the lock
    return graph_call(__func__, [&] {
        require(handle != nullptr, hipErrorInvalidValue);
        last = graph_tables().graphs.remove(handle);
        require(last != nullptr, hipErrorIllegalState); // destroyed before
    });
}

hipError_t hipGraphClone(hipGraph_t *clone, hipGraph_t original) {
    return graph_call(__func__, [&] {
        require(clone != nullptr, hipErrorInvalidValue);
        const auto graph = find_graph(original);
        require(!graph->owns_memory(), hipErrorNotSupported);
        *clone = graph_tables().graphs.add(graph->clone());
    });
}

hipError_t hipGraphNodeFindInClone(hipGraphNode_t *found, hipGraphNode_t original,
                                   hipGraph_t clone) {
    return graph_call(__func__, [&] {
        require(found != nullptr, hipErrorInvalidValue);
        const Node &node = find_node(original);
        const auto graph = find_graph(clone);
        require(graph->is_clone_of(*node.graph), hipErrorInvalidValue);
        const Node *const twin = graph->find(node.id);
        require(twin != nullptr, hipErrorInvalidValue);
        *found = handle_of(*twin);
    });
}

hipError_t hipGraphGetNodes(hipGraph_t graph, hipGraphNode_t *nodes, size_t *count) {
    return graph_call(__func__,
                      [&] { give_list(handles(find_graph(graph)->ordered()), nodes, count); });
}

hipError_t hipGraphGetRootNodes(hipGraph_t graph, hipGraphNode_t *nodes, size_t *count) {
    return graph_call(__func__, [&] {
        std::vector<Node *> roots;
        for (const auto &node : find_graph(graph)->nodes())
            if (node->before.empty())
                roots.push_back(node.get());
        give_list(handles(roots), nodes, count);
    });
}

hipError_t hipGraphGetEdges(hipGraph_t graph, hipGraphNode_t *from, hipGraphNode_t *to,
                            size_t *count) {
    return graph_call(__func__, [&] {
        require(count && !from == !to, hipErrorInvalidValue);
        std::vector<hipGraphNode_t> starts, ends;
        for (const auto &node : find_graph(graph)->nodes())
            for (const Node *const later : node->after) {
                starts.push_back(handle_of(*node));
                ends.push_back(handle_of(*later));
            }
        size_t also = *count;
        give_list(starts, from, count);
        give_list(ends, to, &also);
    });
}

hipError_t hipGraphNodeGetDependencies(hipGraphNode_t node, hipGraphNode_t *nodes, size_t *count) {
    return graph_call(__func__, [&] { give_list(handles(find_node(node).before), nodes, count); });
}

hipError_t hipGraphNodeGetDependentNodes(hipGraphNode_t node, hipGraphNode_t *nodes,
                                         size_t *count) {
    return graph_call(__func__, [&] { give_list(handles(find_node(node).after), nodes, count); });
}

hipError_t hipGraphNodeGetType(hipGraphNode_t node, hipGraphNodeType *type) {
    return graph_call(__func__, [&] {
        require(type != nullptr, hipErrorInvalidValue);
        *type = type_of(find_node(node));
    });
}

hipError_t hipGraphAddDependencies(hipGraph_t handle, const hipGraphNode_t *from,
                                   const hipGraphNode_t *to, size_t count) {
    return graph_call(__func__, [&] {
        const auto graph = find_graph(handle);
        require(count == 0 || (from && to), hipErrorInvalidValue);
        std::vector<std::pair<Node *, Node *>> edges;
        for (size_t i = 0; i < count; ++i)
            edges.push_back(edge(*graph, from[i], to[i]));
        for (const auto &[first, second] : edges)
            require(Graph::connect(*first, *second), hipErrorInvalidValue);
    });
}

hipError_t hipGraphRemoveDependencies(hipGraph_t handle, const hipGraphNode_t *from,
                                      const hipGraphNode_t *to, size_t count) {
    return graph_call(__func__, [&] {
        const auto graph = find_graph(handle);
        require(count == 0 || (from && to), hipErrorInvalidValue);
        for (size_t i = 0; i < count; ++i) {
            const auto [first, second] = edge(*graph, from[i], to[i]);
            require(Graph::disconnect(*first, *second), hipErrorInvalidValue);
        }
    });
}

hipError_t hipGraphDestroyNode(hipGraphNode_t handle) {
    return graph_call(__func__, [&] {
        Node &node = find_node(handle);
        require(!std::holds_alternative<AllocateMemory>(node.action) &&
                    !std::holds_alternative<FreeMemory>(node.action),
                hipErrorNotSupported);
        node.graph->remove(node);
    });
}
}
