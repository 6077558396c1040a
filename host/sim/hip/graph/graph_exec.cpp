// SPDX-License-Identifier: MIT
#include "sim/hip/graph/graph_exec.h"

#include <algorithm>

#include "sim/hip/graph/capture.h"
#include "sim/hip/graph/graph_memory.h"
#include "sim/hip/ipc/shared_event.h"

namespace nw::hipsim {

constexpr u64 free_on_launch = 1; // hipGraphInstantiateFlagAutoFreeOnLaunch

// ---- one action

template <class... Cases> struct Overloaded : Cases... { using Cases::operator()...; };
template <class... Cases> Overloaded(Cases...) -> Overloaded<Cases...>;

hipError_t run(const Action &action, sim::timing::Command *command) noexcept {
    return std::visit(Overloaded{
                          [=](const KernelCall &call) { return call.run(command); },
                          [](const Copy &copy) {
                              estimate::spend(copy);
                              return copy.run();
                          },
                          [](const Fill &fill) {
                              estimate::spend(fill);
                              return fill.run();
                          },
                          [](const HostCall &call) {
                              const InCallback here;
                              call.function(call.data);
                              return hipSuccess;
                          },
                          [](const AllocateMemory &a) { return run_allocation(a.memory, false); },
                          [](const FreeMemory &f) { return run_free(f.pointer); },
                          [](const MemoryOps &ops) { return ops.run(); },
                          [](const auto &) { return hipSuccess; },
                      },
                      action);
}

// ---- one run of a graph

// Holds a ticket for every event step: the one it completes, or waits for.
struct GraphExec::Run {
    std::shared_ptr<const Steps> steps;
    std::vector<std::shared_ptr<Ticket>> tickets;
    std::vector<u64> records;       // of events that processes share; 0: none
    sim::timing::Commands commands; // begin, one of each step, end; empty where nothing is timed
    bool frees_first;

    // Completes all events, so that waiters of a failed or skipped run don't block forever.
    ~Run() {
        for (const auto &command : commands)
            command->executed();
        for (size_t i = 0; i < tickets.size(); ++i)
            if (tickets[i] && std::holds_alternative<RecordEvent>((*steps)[i].action))
                finish(i);
    }

    // The record that the step makes is reached.
    void finish(size_t index) const {
        const RecordEvent &record = std::get<RecordEvent>((*steps)[index].action);
        if (record.event->shared)
            record.event->shared->reach(records[index]);
        tickets[index]->finish();
    }

    void prepare(const std::shared_ptr<Stream> &stream, Device &device);
    void model(Device &device);

    // Runs a step that records an event or waits for one.
    hipError_t pass_event(size_t index) const {
        const Action &action = (*steps)[index].action;
        const auto &ticket = tickets[index];
        if (ticket && std::holds_alternative<RecordEvent>(action)) {
            estimate::spend_event();
            ticket->end_ns = estimate::now_ns();
            finish(index);
        } else if (ticket)
            ticket->wait();
        else if (records[index] > 0)
            return std::get<AwaitEvent>(action).event->shared->wait(records[index]);
        return hipSuccess;
    }

    hipError_t run_step(size_t index) const {
        const Action &action = (*steps)[index].action;
        if (const hipError_t error = pass_event(index); error != hipSuccess)
            return error;
        if (const auto *allocation = std::get_if<AllocateMemory>(&action))
            return run_allocation(allocation->memory, frees_first);
        return run(action, command(index));
    }

    hipError_t run_all(Device &device) const {
        const ReportedFaults::GraphView view(device.faults);
        for (size_t i = 0; i < steps->size(); ++i) {
            if ((*steps)[i].enabled)
                if (const hipError_t error = run_step(i); error != hipSuccess)
                    return error;
            if (command(i))
                command(i)->executed();
        }
        return hipSuccess;
    }

    sim::timing::Command *command(size_t step) const {
        return commands.empty() ? nullptr : commands[step + 1].get();
    }
};

std::vector<size_t> GraphExec::flatten(const Graph &graph, const std::vector<size_t> &entry,
                                       Steps &steps) {
    std::map<const Node *, std::vector<size_t>> ends; // of each node
    std::vector<size_t> last;
    for (const Node *const node : graph.ordered()) {
        std::vector<size_t> after = node->before.empty() ? entry : std::vector<size_t>{};
        for (const Node *const earlier : node->before)
            std::ranges::copy(ends[earlier], std::back_inserter(after));
        if (const auto *child = std::get_if<ChildGraph>(&node->action)) {
            ends[node] = flatten(*child->graph, after, steps);
        } else {
            ends[node] = {steps.size()};
            steps.push_back({node->action, node->enabled, std::move(after)});
        }
        if (node->after.empty())
            std::ranges::copy(ends[node], std::back_inserter(last));
    }
    return graph.nodes().empty() ? entry : last;
}

std::shared_ptr<const GraphExec::Steps> GraphExec::flatten(const Graph &graph) {
    Steps steps;
    flatten(graph, {}, steps);
    return std::make_shared<const Steps>(std::move(steps));
}

GraphExec::GraphExec(const Graph &graph, u64 flags) : flags(flags), graph_(graph.clone()) {
    steps_ = flatten(*graph_);
}

Node &GraphExec::twin(const Node &node) {
    require(node.graph && graph_->is_clone_of(*node.graph), hipErrorInvalidValue);
    Node *const found = graph_->find(node.id);
    require(found != nullptr, hipErrorInvalidValue);
    return *found;
}

// Nodes without an edge between them may overlap in modelled time, though one thread runs them.
void GraphExec::Run::model(Device &device) {
    using sim::timing::Command;
    commands.resize(steps->size() + 2);
    commands.front() = std::make_shared<Command>();
    commands.back() = std::make_shared<Command>();
    commands.back()->after.push_back(commands.front());
    for (size_t i = 0; i < steps->size(); ++i) {
        const auto &[action, enabled, after] = (*steps)[i];
        auto &own = commands[i + 1];
        own = enabled ? commands_of(device, action).front() : std::make_shared<Command>();
        own->in_graph = true;
        if (after.empty())
            own->after.push_back(commands.front());
        for (const size_t earlier : after)
            own->after.push_back(commands[earlier + 1]);
        commands.back()->after.push_back(own);
    }
}

// The events' tickets, and the commands.
void GraphExec::Run::prepare(const std::shared_ptr<Stream> &stream, Device &device) {
    if (device.timeline)
        model(device);
    tickets.resize(steps->size());
    records.resize(steps->size());
    for (size_t i = 0; i < steps->size(); ++i) {
        const auto &[action, enabled, after] = (*steps)[i];
        if (!enabled)
            continue;
        if (const auto *record = std::get_if<RecordEvent>(&action)) {
            const std::lock_guard lock(record->event->mutex);
            tickets[i] = std::make_shared<Ticket>();
            tickets[i]->timeline = device.timeline;
            tickets[i]->clock = device.clock;
            tickets[i]->command = device.timeline ? commands[i + 1] : nullptr;
            if (const auto &shared = record->event->shared)
                records[i] = shared->begin_record();
            record->event->recorded = tickets[i];
            record->event->stream = stream;
        } else if (const auto *await = std::get_if<AwaitEvent>(&action)) {
            const std::lock_guard lock(await->event->mutex);
            if (const auto &shared = await->event->shared; shared && shared->recorded_elsewhere()) {
                records[i] = shared->last_record();
                continue;
            }
            tickets[i] = await->event->recorded;
            if (tickets[i] && device.timeline && tickets[i]->timeline == device.timeline)
                commands[i + 1]->after.push_back(tickets[i]->command);
        }
    }
}

void GraphExec::changed() {
    if (steps_)
        before_update_ = std::exchange(steps_, nullptr);
}

void GraphExec::launch(const std::shared_ptr<Stream> &stream) {
    if (!steps_)
        steps_ = flatten(*graph_);
    const auto run = std::make_shared<Run>();
    run->steps = steps_;
    run->frees_first = flags & free_on_launch;
    Device &device = runtime().device_of(*stream);
    const auto old = std::exchange(before_update_, nullptr);
    if (old && device.faults.choices().graph_packets == sim::choice::graph_packets::old)
        run->steps = old;
    run->prepare(stream, device);
    const auto whole = device.submit(
        *stream, [run, &device] { return run->run_all(device); }, run->commands);
    for (const auto &ticket : run->tickets)
        if (ticket && ticket->command) // of an event that it records
            ticket->behind_host |= whole->behind_host;
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
