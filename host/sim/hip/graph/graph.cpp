// SPDX-License-Identifier: MIT
#include "sim/hip/graph/graph.h"

#include <algorithm>
#include <atomic>

#include "sim/hip/error.h"
#include "sim/hip/graph/graph_memory.h"

namespace nw::hipsim {

std::mutex &graph_mutex() {
    static std::mutex *const made = new std::mutex; // outlives the host's destructors
    return *made;
}

GraphTables &graph_tables() {
    static GraphTables *const made = new GraphTables;
    return *made;
}

// As numbered since HIP 5.3; 5.2's own numbers were one higher.
hipGraphNodeType type_of(const Node &node) {
    constexpr int types[] = {
        5,  // Nothing: hipGraphNodeTypeEmpty
        0,  // KernelCall
        1,  // Copy
        2,  // Fill
        3,  // HostCall
        7,  // RecordEvent
        6,  // AwaitEvent
        4,  // ChildGraph
        10, // AllocateMemory
        11, // FreeMemory
        14, // MemoryOps
    };
    static_assert(std::size(types) == std::variant_size_v<Action>);
    return static_cast<hipGraphNodeType>(types[node.action.index()]);
}

// ---- structure

u64 Graph::next_number() {
    static std::atomic<u64> last{0};
    return ++last;
}

Node &Graph::add(Action action, const std::vector<Node *> &before) {
    auto node = std::make_shared<Node>();
    node->action = std::move(action);
    node->graph = this;
    node->id = next_id_++;
    for (Node *const earlier : before)
        connect(*earlier, *node);
    graph_tables().nodes.add(node);
    if (const auto *child = std::get_if<ChildGraph>(&node->action))
        graph_tables().graphs.add(child->graph);
    nodes_.push_back(std::move(node));
    return *nodes_.back();
}

static void forget(const Node &node) {
    graph_tables().nodes.remove(handle_of(node));
    if (const auto *child = std::get_if<ChildGraph>(&node.action))
        graph_tables().graphs.remove(handle_of(*child->graph));
}

void Graph::remove(Node &node) {
    for (Node *const earlier : node.before)
        std::erase(earlier->after, &node);
    for (Node *const later : node.after)
        std::erase(later->before, &node);
    forget(node);
    std::erase_if(nodes_, [&](const auto &each) { return each.get() == &node; });
}

Graph::~Graph() {
    for (const auto &node : nodes_)
        forget(*node);
}

bool Graph::connect(Node &from, Node &to) {
    if (std::ranges::count(from.after, &to) > 0)
        return false;
    from.after.push_back(&to);
    to.before.push_back(&from);
    return true;
}

bool Graph::disconnect(Node &from, Node &to) {
    std::erase(to.before, &from);
    return std::erase(from.after, &to) > 0;
}

Node *Graph::find(u64 id) const {
    const auto at = std::ranges::find(nodes_, id, [](const auto &node) { return node->id; });
    return at == nodes_.end() ? nullptr : at->get();
}

std::vector<Node *> Graph::ordered() const {
    std::map<const Node *, size_t> waits_for;
    std::vector<Node *> order;
    for (const auto &node : nodes_) {
        waits_for[node.get()] = node->before.size();
        if (node->before.empty())
            order.push_back(node.get());
    }
    for (size_t at = 0; at < order.size(); ++at)
        for (Node *const later : order[at]->after)
            if (--waits_for[later] == 0)
                order.push_back(later);
    require(order.size() == nodes_.size(), hipErrorInvalidValue);
    return order;
}

bool Graph::owns_memory() const {
    return std::ranges::any_of(nodes_, [](const auto &node) {
        return std::holds_alternative<AllocateMemory>(node->action) ||
               std::holds_alternative<FreeMemory>(node->action);
    });
}

std::shared_ptr<Graph> Graph::clone() const {
    auto copy = std::make_shared<Graph>();
    copy->original_ = number_;
    copy->user_objects = user_objects;
    std::map<const Node *, Node *> twins;
    for (const auto &node : nodes_) {
        Action action = node->action;
        if (auto *child = std::get_if<ChildGraph>(&action))
            child->graph = child->graph->clone();
        Node &twin = copy->add(std::move(action), {});
        twin.id = node->id;
        twin.enabled = node->enabled;
        twins[node.get()] = &twin;
    }
    for (const auto &node : nodes_)
        for (const Node *const later : node->after)
            connect(*twins[node.get()], *twins[later]);
    copy->next_id_ = next_id_;
    return copy;
}

// ---- handles

std::shared_ptr<Graph> find_graph(hipGraph_t handle) {
    auto graph = graph_tables().graphs.find(handle);
    require(graph != nullptr, hipErrorInvalidValue);
    return graph;
}

Node &find_node(hipGraphNode_t handle) {
    const auto node = graph_tables().nodes.find(handle); // its graph keeps it
    require(node != nullptr, hipErrorInvalidValue);
    return *node;
}

hipGraph_t handle_of(const Graph &graph) {
    return reinterpret_cast<hipGraph_t>(const_cast<Graph *>(&graph));
}

hipGraphNode_t handle_of(const Node &node) {
    return reinterpret_cast<hipGraphNode_t>(const_cast<Node *>(&node));
}

std::vector<Node *> find_nodes(const Graph &graph, const hipGraphNode_t *handles, size_t count) {
    require(count == 0 || handles != nullptr, hipErrorInvalidValue);
    std::vector<Node *> found;
    for (size_t i = 0; i < count; ++i) {
        Node &node = find_node(handles[i]);
        require(node.graph == &graph, hipErrorInvalidValue);
        require(std::ranges::count(found, &node) == 0, hipErrorInvalidValue);
        found.push_back(&node);
    }
    return found;
}

} // namespace nw::hipsim
