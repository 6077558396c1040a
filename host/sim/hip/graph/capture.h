// SPDX-License-Identifier: MIT
// Stream capture: queued commands become nodes of a graph. Checks calls that are forbidden
// meanwhile, with the codes of real HIP.
#pragma once
#include <thread>

#include "sim/hip/graph/graph.h"
#include "sim/hip/runtime.h"

namespace nw::hipsim {

struct Capture {
    u64 id = 0;
    hipStreamCaptureMode mode{};
    std::thread::id thread; // the thread that began it
    Stream *origin = nullptr;
    std::shared_ptr<Graph> graph;
    bool made_graph = true; // else it was the caller's, and stays
    bool valid = true;
    std::vector<std::weak_ptr<Stream>> streams; // the origin and those that joined
    std::vector<std::weak_ptr<Node>> let_go;    // by hand: nothing more needs to wait for them
};

bool capturing(const Stream &stream);

// Queues the action in the stream, or makes it a node when the stream captures.
void enqueue(const std::shared_ptr<Stream> &stream, Action action);
void record_event(const std::shared_ptr<Event> &event, hipEvent_t handle,
                  const std::shared_ptr<Stream> &stream, bool external = false);
void await_event(const std::shared_ptr<Stream> &stream, const std::shared_ptr<Event> &event,
                 hipEvent_t handle, bool external = false);

// Into a new graph when `graph` is null. graph_mutex() must be held, as for the end.
void begin_capture(const std::shared_ptr<Stream> &stream, hipStreamCaptureMode mode,
                   std::shared_ptr<Graph> graph, const std::vector<Node *> &before);
std::shared_ptr<Graph> end_capture(Stream &stream);
void abandon_capture(Stream &stream); // the stream is being destroyed

// Adds a node after the stream's captured nodes. graph_mutex() must be held.
void add_captured(Stream &stream, Action action);

// Dependencies of the stream's next node. graph_mutex() must be held.
std::vector<Node *> frontier_of(const Stream &stream);
void set_frontier(Stream &stream, const std::vector<Node *> &nodes);
// Fails with hipErrorStreamCaptureImplicit if the null stream would synchronize with a capture's
// streams, and invalidates that capture. graph_mutex() must be held.
void check_implicit(const Stream &stream);
// The same for a question: the captures go on.
void ask_implicit(const Stream &stream);

// Each fails if a capture forbids the call, and invalidates that capture.
void forbid_in_capture();             // allocation: hipErrorStreamCaptureUnsupported, by the mode
void forbid_synchronous_in_capture(); // hipMemcpy and the like: hipErrorStreamCaptureImplicit
void forbid_device_wait_in_capture(); // hipErrorStreamCaptureUnsupported
void forbid_wait_in_capture(Stream &stream);     // the same, for one stream
void forbid_wait_in_capture(const Event &event); // hipErrorCapturedEvent

hipStreamCaptureMode exchange_thread_mode(hipStreamCaptureMode mode);

} // namespace nw::hipsim
