// SPDX-License-Identifier: MIT
// Graphs: nodes and their dependencies; and their executable copies.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "sim/hip/handles.h"
#include "sim/hip/stream/action.h"

namespace nw::hipsim {

// Guards all graphs, nodes, executable graphs and captures: calls about them are rare and short.
// The device's lock may be taken inside it, never the other way round.
std::mutex &graph_mutex();

class Graph;

struct Node : std::enable_shared_from_this<Node> {
    Action action;
    Graph *graph = nullptr;
    u64 id = 0; // the same in clones
    bool enabled = true;
    std::vector<Node *> before, after;     // dependencies, dependents
    std::vector<void *> argument_pointers; // what hipGraphKernelNodeGetParams hands out
};

hipGraphNodeType type_of(const Node &node);

// Keeps a host object until the last graph that retains it is gone.
struct UserObject {
    UserObject(void *object, hipHostFn_t destroy) : object(object), destroy(destroy) {}
    ~UserObject() { destroy(object); }
    UserObject(const UserObject &) = delete;
    void *const object;
    const hipHostFn_t destroy;
    unsigned held_by_caller = 0; // references
};

class Graph {
public:
    ~Graph();

    Node &add(Action action, const std::vector<Node *> &before);
    void remove(Node &node);
    // False when the edge already exists, or doesn't exist.
    static bool connect(Node &from, Node &to);
    static bool disconnect(Node &from, Node &to);

    const std::vector<std::shared_ptr<Node>> &nodes() const { return nodes_; }
    Node *find(u64 id) const;
    // Topological order, stable with respect to insertion. Fails with hipErrorInvalidValue on a
    // cycle.
    std::vector<Node *> ordered() const;
    bool owns_memory() const; // has allocation or free nodes

    // A deep copy: child graphs are copied, too.
    std::shared_ptr<Graph> clone() const;
    bool is_clone_of(const Graph &other) const { return original_ == other.number_; }

    std::map<std::shared_ptr<UserObject>, unsigned> user_objects; // references
    bool instantiated = false;

private:
    std::vector<std::shared_ptr<Node>> nodes_;
    static u64 next_number();
    const u64 number_ = next_number(); // unique over all graphs ever created
    u64 original_ = 0;
    u64 next_id_ = 1;
};

// Live handles.
struct GraphTables {
    Handles<hipGraph_t, Graph> graphs;
    Handles<hipGraphNode_t, Node> nodes;
};
GraphTables &graph_tables();

// All fail with hipErrorInvalidValue for handles that aren't live.
std::shared_ptr<Graph> find_graph(hipGraph_t handle);
Node &find_node(hipGraphNode_t handle);
hipGraph_t handle_of(const Graph &graph);
hipGraphNode_t handle_of(const Node &node);
// Nodes of `graph`, each once.
std::vector<Node *> find_nodes(const Graph &graph, const hipGraphNode_t *handles, size_t count);

} // namespace nw::hipsim
