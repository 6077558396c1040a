// SPDX-License-Identifier: MIT
#include "sim/hip/graph/capture.h"
#include "sim/hip/ipc/shared_event.h"

#include <algorithm>
#include <atomic>
#include <set>

namespace nw::hipsim {

namespace {

// All active captures; guarded by graph_mutex().
std::vector<std::shared_ptr<Capture>> &captures() {
    static auto *const made = new std::vector<std::shared_ptr<Capture>>;
    return *made;
}

std::atomic<size_t> capture_count{0}; // avoids the lock when nothing is captured
thread_local hipStreamCaptureMode thread_mode = hipStreamCaptureModeGlobal;

bool none_going_on() { return capture_count.load(std::memory_order_acquire) == 0; }

} // namespace

hipStreamCaptureMode exchange_thread_mode(hipStreamCaptureMode mode) {
    return std::exchange(thread_mode, mode);
}

bool capturing(const Stream &stream) {
    if (none_going_on())
        return false;
    const std::lock_guard lock(graph_mutex());
    return stream.capture != nullptr;
}

// ---- frontiers

std::vector<Node *> frontier_of(const Stream &stream) {
    std::vector<Node *> nodes;
    for (const auto &weak : stream.frontier)
        if (const auto node = weak.lock()) // else it was destroyed by hand
            nodes.push_back(node.get());
    return nodes;
}

void set_frontier(Stream &stream, const std::vector<Node *> &nodes) {
    stream.frontier.clear();
    for (Node *const node : nodes)
        stream.frontier.push_back(node->weak_from_this());
}

void add_captured(Stream &stream, Action action) {
    require(stream.capture->valid, hipErrorStreamCaptureInvalidated);
    Node &node = stream.capture->graph->add(std::move(action), frontier_of(stream));
    set_frontier(stream, {&node});
}

static void join(const std::shared_ptr<Stream> &stream, const std::shared_ptr<Capture> &capture) {
    stream->capture = capture;
    capture->streams.push_back(stream);
}

static void leave(Stream &stream) {
    stream.capture = nullptr;
    stream.frontier.clear();
}

// ---- queued commands

void check_implicit(const Stream &stream) {
    const bool null = &stream == runtime().device(stream.device).null_stream().get();
    if (!null)
        return;
    bool met = false;
    for (const auto &capture : captures())
        for (const auto &weak : capture->streams)
            if (const auto other = weak.lock(); other && other->blocking()) {
                capture->valid = false;
                met = true;
            }
    require(!met, hipErrorStreamCaptureImplicit);
}

void ask_implicit(const Stream &stream) {
    if (&stream != runtime().device(stream.device).null_stream().get())
        return;
    for (const auto &capture : captures())
        for (const auto &weak : capture->streams)
            if (const auto other = weak.lock())
                require(!other->blocking(), hipErrorStreamCaptureImplicit);
}

void enqueue(const std::shared_ptr<Stream> &stream, Action action) {
    if (!none_going_on()) {
        const std::lock_guard lock(graph_mutex());
        if (stream->capture)
            return add_captured(*stream, std::move(action));
        check_implicit(*stream);
    }
    const auto shared = std::make_shared<const Action>(std::move(action));
    Device &device = runtime().device_of(*stream);
    auto commands = commands_of(device, *shared);
    const auto command = commands.empty() ? nullptr : commands.front();
    const By by = waits_for_host(*shared) ? By::thread : By::anyone;
    device.submit(
        *stream, [shared, command] { return run(*shared, command.get()); }, std::move(commands),
        nullptr, by);
}

void record_event(const std::shared_ptr<Event> &event, hipEvent_t handle,
                  const std::shared_ptr<Stream> &stream, bool external) {
    const std::lock_guard lock(graph_mutex());
    if (stream->capture && external)
        return add_captured(*stream, RecordEvent{event, handle});
    if (stream->capture) {
        require(stream->capture->valid, hipErrorStreamCaptureInvalidated);
        event->capture = stream->capture;
        event->frontier = stream->frontier;
        return;
    }
    require(event->device == stream->device, hipErrorInvalidHandle);
    check_implicit(*stream);
    const u64 record = event->shared ? event->shared->begin_record() : 0;
    const auto pass = [record, shared = event->shared] {
        estimate::spend_event();
        if (shared)
            shared->reach(record);
        return hipSuccess;
    };
    auto ticket = runtime().device_of(*stream).submit(*stream, pass, {}, nullptr, By::anyone);
    event->capture.reset();
    event->frontier.clear();
    const std::lock_guard event_lock(event->mutex);
    event->recorded = std::move(ticket);
    event->stream = stream;
}

// The stream joins the event's capture, or two branches of it join.
static void await_captured(const std::shared_ptr<Stream> &stream,
                           const std::shared_ptr<Capture> &capture, const Event &event) {
    require(!stream->capture || stream->capture == capture, hipErrorStreamCaptureMerge);
    require(capture->valid, hipErrorStreamCaptureInvalidated);
    check_implicit(*stream); // the null stream can't join
    if (!stream->capture)
        join(stream, capture);
    std::vector<Node *> nodes = frontier_of(*stream);
    for (const auto &weak : event.frontier)
        if (const auto node = weak.lock(); node && std::ranges::count(nodes, node.get()) == 0)
            nodes.push_back(node.get());
    set_frontier(*stream, nodes);
}

// The last record, which is another process's.
static void await_elsewhere(Stream &stream, const std::shared_ptr<SharedEvent> &shared) {
    Device &device = runtime().device_of(stream);
    device.submit(
        stream, [shared, record = shared->last_record()] { return shared->wait(record); },
        waiting_for_host(device));
}

void await_event(const std::shared_ptr<Stream> &stream, const std::shared_ptr<Event> &event,
                 hipEvent_t handle, bool external) {
    const std::lock_guard lock(graph_mutex());
    if (external) {
        require(stream->capture != nullptr, hipErrorInvalidHandle);
        return add_captured(*stream, AwaitEvent{event, handle});
    }
    if (const auto capture = event->capture.lock())
        return await_captured(stream, capture, *event);
    if (stream->capture) { // it would depend on work that the graph doesn't have
        stream->capture->valid = false;
        fail(hipErrorStreamCaptureIsolation);
    }
    check_implicit(*stream);
    if (event->shared && event->shared->recorded_elsewhere())
        return await_elsewhere(*stream, event->shared);
    std::shared_ptr<Ticket> recorded;
    std::shared_ptr<Stream> earlier;
    {
        const std::lock_guard event_lock(event->mutex);
        recorded = event->recorded;
        earlier = event->stream.lock();
    }
    if (earlier)
        runtime().pools.for_each([&](Pool &pool) {
            if (pool.follows_events())
                pool.spares.order(earlier, stream);
        });
    if (recorded) // an event that was never recorded is complete
        runtime().device_of(*stream).submit(
            *stream, [] { return hipSuccess; }, {}, recorded);
}

// ---- begin and end

void begin_capture(const std::shared_ptr<Stream> &stream, hipStreamCaptureMode mode,
                   std::shared_ptr<Graph> graph, const std::vector<Node *> &before) {
    static u64 last_id = 0;
    require(!stream->capture, hipErrorIllegalState);
    auto capture = std::make_shared<Capture>();
    capture->id = ++last_id;
    capture->mode = mode;
    capture->thread = std::this_thread::get_id();
    capture->origin = stream.get();
    capture->made_graph = !graph;
    capture->graph = graph ? std::move(graph) : std::make_shared<Graph>();
    join(stream, capture);
    set_frontier(*stream, before);
    captures().push_back(std::move(capture));
    ++capture_count;
}

static void close(const std::shared_ptr<Capture> &capture) {
    for (const auto &weak : capture->streams)
        if (const auto stream = weak.lock(); stream && stream->capture == capture)
            leave(*stream);
    std::erase(captures(), capture);
    --capture_count;
}

// hipStreamGetCaptureInfo_v2 may have returned its handle.
static void drop_graph(const Capture &capture) {
    if (capture.made_graph)
        graph_tables().graphs.remove(handle_of(*capture.graph));
}

// Every branch must have joined the origin: its last nodes precede or equal the origin's.
static bool joined(const Capture &capture) {
    std::vector<Node *> reached = frontier_of(*capture.origin);
    for (const auto &weak : capture.let_go)
        if (const auto node = weak.lock())
            reached.push_back(node.get());
    std::set<Node *> seen(reached.begin(), reached.end());
    while (!reached.empty()) {
        const Node &node = *reached.back();
        reached.pop_back();
        for (Node *const earlier : node.before)
            if (seen.insert(earlier).second)
                reached.push_back(earlier);
    }
    const auto in_reach = [&](Node *last) { return seen.contains(last); };
    return std::ranges::all_of(capture.streams, [&](const auto &weak) {
        const auto stream = weak.lock();
        return !stream || std::ranges::all_of(frontier_of(*stream), in_reach);
    });
}

std::shared_ptr<Graph> end_capture(Stream &stream) {
    const auto capture = stream.capture; // outlives close()
    require(capture != nullptr, hipErrorIllegalState);
    require(capture->origin == &stream, hipErrorStreamCaptureUnmatched);
    require(capture->mode == hipStreamCaptureModeRelaxed ||
                capture->thread == std::this_thread::get_id(),
            hipErrorStreamCaptureWrongThread);
    const bool whole = !capture->valid || joined(*capture);
    close(capture);
    if (!capture->valid || !whole)
        drop_graph(*capture);
    require(capture->valid, hipErrorStreamCaptureInvalidated);
    require(whole, hipErrorStreamCaptureUnjoined);
    return capture->graph;
}

void abandon_capture(Stream &stream) {
    if (none_going_on())
        return;
    const std::lock_guard lock(graph_mutex());
    const auto capture = stream.capture;
    if (!capture)
        return;
    capture->valid = false;
    if (capture->origin != &stream)
        return leave(stream);
    close(capture);
    drop_graph(*capture);
}

// ---- forbidden calls

template <class Condition> static bool invalidate_if(Condition condition) {
    bool any = false;
    for (const auto &capture : captures())
        if (condition(*capture)) {
            capture->valid = false;
            any = true;
        }
    return any;
}

// The capture, if any, that restricts the calling thread in its mode.
static bool minded(const Capture &capture) {
    if (thread_mode == hipStreamCaptureModeRelaxed)
        return false;
    if (thread_mode == hipStreamCaptureModeGlobal && capture.mode == hipStreamCaptureModeGlobal)
        return true;
    return capture.mode != hipStreamCaptureModeRelaxed &&
           capture.thread == std::this_thread::get_id();
}

void forbid_in_capture() {
    if (none_going_on())
        return;
    const std::lock_guard lock(graph_mutex());
    require(!invalidate_if(minded), hipErrorStreamCaptureUnsupported);
}

void forbid_synchronous_in_capture() {
    if (none_going_on())
        return;
    const std::lock_guard lock(graph_mutex());
    require(!invalidate_if([](const Capture &) { return true; }), hipErrorStreamCaptureImplicit);
}

void forbid_device_wait_in_capture() {
    if (none_going_on())
        return;
    const std::lock_guard lock(graph_mutex());
    require(!invalidate_if([](const Capture &) { return true; }), hipErrorStreamCaptureUnsupported);
}

void forbid_wait_in_capture(Stream &stream) {
    if (none_going_on())
        return;
    const std::lock_guard lock(graph_mutex());
    if (stream.capture) {
        stream.capture->valid = false;
        fail(hipErrorStreamCaptureUnsupported);
    }
    const bool null = &stream == runtime().device(stream.device).null_stream().get();
    require(null || !invalidate_if(minded), hipErrorStreamCaptureUnsupported);
}

void forbid_wait_in_capture(const Event &event) {
    if (none_going_on())
        return;
    const std::lock_guard lock(graph_mutex());
    if (const auto capture = event.capture.lock()) {
        capture->valid = false;
        fail(hipErrorCapturedEvent);
    }
}

} // namespace nw::hipsim
