// SPDX-License-Identifier: MIT
#include "sim/hip/graph_exec.h"

#include <algorithm>

#include "sim/hip/capture.h"
#include "sim/hip/graph_memory.h"

namespace nw::hipsim {

constexpr u64 free_on_launch = 1; // hipGraphInstantiateFlagAutoFreeOnLaunch

// ---- one action

template <class... Cases> struct Overloaded : Cases... { using Cases::operator()...; };
template <class... Cases> Overloaded(Cases...) -> Overloaded<Cases...>;

hipError_t run(const Action &action) noexcept {
    return std::visit(Overloaded{
                          [](const KernelCall &call) { return call.run(); },
                          [](const Copy &copy) { return copy.run(); },
                          [](const Fill &fill) { return fill.run(); },
                          [](const HostCall &call) {
                              const InCallback here;
                              call.function(call.data);
                              return hipSuccess;
                          },
                          [](const AllocateMemory &a) { return run_allocation(a.memory, false); },
                          [](const FreeMemory &f) { return run_free(f.pointer); },
                          [](const auto &) { return hipSuccess; },
                      },
                      action);
}

// ---- one run of a graph

// Holds a ticket for every event step: the one it completes, or waits for.
struct GraphExec::Run {
    std::shared_ptr<const Steps> steps;
    std::vector<std::shared_ptr<Ticket>> tickets;
    bool frees_first;
    const Device *device = nullptr; // that it is launched on

    // Completes all events, so that waiters of a failed or skipped run don't block forever.
    ~Run() {
        for (size_t i = 0; i < tickets.size(); ++i)
            if (tickets[i] && std::holds_alternative<RecordEvent>((*steps)[i].action))
                tickets[i]->finish();
    }

    hipError_t run_step(size_t index) const {
        const Action &action = (*steps)[index].action;
        const auto &ticket = tickets[index];
        if (ticket && std::holds_alternative<RecordEvent>(action)) {
            ticket->modelled_us = device->modelled_us.load();
            ticket->finish();
        } else if (ticket)
            ticket->wait();
        if (const auto *allocation = std::get_if<AllocateMemory>(&action))
            return run_allocation(allocation->memory, frees_first);
        return run(action);
    }

    hipError_t run_all() const {
        for (size_t i = 0; i < steps->size(); ++i)
            if ((*steps)[i].enabled)
                if (const hipError_t error = run_step(i); error != hipSuccess)
                    return error;
        return hipSuccess;
    }
};

void GraphExec::flatten(const Graph &graph, Steps &steps) {
    for (const Node *const node : graph.ordered())
        if (const auto *child = std::get_if<ChildGraph>(&node->action))
            flatten(*child->graph, steps);
        else
            steps.push_back({node->action, node->enabled});
}

GraphExec::GraphExec(const Graph &graph, u64 flags) : flags(flags), graph_(graph.clone()) {
    Steps steps;
    flatten(*graph_, steps);
    steps_ = std::make_shared<const Steps>(std::move(steps));
}

Node &GraphExec::twin(const Node &node) {
    require(node.graph && graph_->is_clone_of(*node.graph), hipErrorInvalidValue);
    Node *const found = graph_->find(node.id);
    require(found != nullptr, hipErrorInvalidValue);
    return *found;
}

void GraphExec::launch(const std::shared_ptr<Stream> &stream) {
    if (!steps_) {
        Steps steps;
        flatten(*graph_, steps);
        steps_ = std::make_shared<const Steps>(std::move(steps));
    }
    const auto run = std::make_shared<Run>();
    run->steps = steps_;
    run->frees_first = flags & free_on_launch;
    run->tickets.resize(steps_->size());
    for (size_t i = 0; i < steps_->size(); ++i) {
        const auto &[action, enabled] = (*steps_)[i];
        if (!enabled)
            continue;
        if (const auto *record = std::get_if<RecordEvent>(&action)) {
            const std::lock_guard lock(record->event->mutex);
            run->tickets[i] = record->event->recorded = std::make_shared<Ticket>();
            record->event->stream = stream;
        } else if (const auto *await = std::get_if<AwaitEvent>(&action)) {
            const std::lock_guard lock(await->event->mutex);
            run->tickets[i] = await->event->recorded;
        }
    }
    Device &device = runtime().device_of(*stream);
    run->device = &device;
    device.submit(*stream, [run] { return run->run_all(); });
}

// ---- handles

Handles<hipGraphExec_t, GraphExec> &graph_execs() {
    static auto *const made = new Handles<hipGraphExec_t, GraphExec>;
    return *made;
}

std::shared_ptr<GraphExec> find_exec(hipGraphExec_t handle) {
    auto exec = graph_execs().find(handle);
    require(exec != nullptr, hipErrorInvalidValue);
    return exec;
}

// ---- update

static hipGraphExecUpdateResult compare(const Action &old, const Action &now) {
    if (old.index() != now.index())
        return hipGraphExecUpdateErrorNodeTypeChanged;
    if (const auto *copy = std::get_if<Copy>(&old))
        if (copy->params.kind != std::get<Copy>(now).params.kind)
            return hipGraphExecUpdateErrorParametersChanged;
    if (const auto *call = std::get_if<KernelCall>(&old))
        if (call->function->device != std::get<KernelCall>(now).function->device)
            return hipGraphExecUpdateErrorUnsupportedFunctionChange;
    return hipGraphExecUpdateSuccess;
}

// Positions in `order`, so that two graphs' edges can be compared.
static std::vector<std::vector<size_t>> edges(const std::vector<Node *> &order) {
    std::map<const Node *, size_t> position;
    for (size_t i = 0; i < order.size(); ++i)
        position[order[i]] = i;
    std::vector<std::vector<size_t>> all;
    for (const Node *const node : order) {
        auto &ends = all.emplace_back();
        for (const Node *const earlier : node->before)
            ends.push_back(position[earlier]);
        std::ranges::sort(ends);
    }
    return all;
}

hipGraphExecUpdateResult update(Graph &mine, const Graph &theirs, const Node **culprit) {
    const auto old = mine.ordered(), now = theirs.ordered();
    if (old.size() != now.size())
        return hipGraphExecUpdateErrorTopologyChanged;
    const auto old_edges = edges(old), now_edges = edges(now);
    for (size_t i = 0; i < old.size(); ++i) {
        *culprit = now[i];
        if (const auto result = compare(old[i]->action, now[i]->action);
            result != hipGraphExecUpdateSuccess)
            return result;
        if (old_edges[i] != now_edges[i])
            return hipGraphExecUpdateErrorTopologyChanged;
        if (const auto *child = std::get_if<ChildGraph>(&now[i]->action)) {
            Graph &twin = *std::get<ChildGraph>(old[i]->action).graph;
            if (const auto result = update(twin, *child->graph, culprit);
                result != hipGraphExecUpdateSuccess)
                return result;
        }
    }
    for (size_t i = 0; i < old.size(); ++i)
        if (!std::holds_alternative<ChildGraph>(now[i]->action))
            old[i]->action = now[i]->action;
    return hipGraphExecUpdateSuccess;
}

hipGraphExecUpdateResult update(GraphExec &exec, const Graph &graph, const Node **culprit) {
    const auto result = update(exec.graph(), graph, culprit);
    exec.changed();
    if (result == hipGraphExecUpdateSuccess)
        *culprit = nullptr;
    return result;
}

} // namespace nw::hipsim
