// SPDX-License-Identifier: MIT
// An executable graph: a copy of a graph in topological order.
#pragma once
#include "sim/hip/graph/graph.h"

namespace nw::hipsim {

class GraphExec {
public:
    GraphExec(const Graph &graph, u64 flags); // fails with hipErrorInvalidValue for a cycle

    const u64 flags;
    Graph &graph() { return *graph_; }
    // The copy of a node of the original graph. hipErrorInvalidValue.
    Node &twin(const Node &node);
    void changed(); // the new action takes effect at the next launch

    // Queues one run of it. graph_mutex() must be held.
    void launch(const std::shared_ptr<Stream> &stream);

private:
    struct Step {
        Action action;
        bool enabled;
        std::vector<size_t> after; // steps that end before it begins
    };
    using Steps = std::vector<Step>;
    struct Run;
    // Appends the graph's nodes, the first of them after `entry`. Returns the last ones.
    static std::vector<size_t> flatten(const Graph &graph, const std::vector<size_t> &entry,
                                       Steps &steps);
    static std::shared_ptr<const Steps> flatten(const Graph &graph);

    std::shared_ptr<Graph> graph_;
    std::shared_ptr<const Steps> steps_; // shared with the runs that are queued
    std::shared_ptr<const Steps> before_update_;
};

Handles<hipGraphExec_t, GraphExec> &graph_execs();
std::shared_ptr<GraphExec> find_exec(hipGraphExec_t handle); // hipErrorInvalidValue

// Updates `exec` to match an instantiation of `graph`, if both have the same shape. Otherwise
// returns the reason and the node.
hipGraphExecUpdateResult update(Graph &mine, const Graph &theirs, const Node **culprit);
hipGraphExecUpdateResult update(GraphExec &exec, const Graph &graph, const Node **culprit);

} // namespace nw::hipsim
