// SPDX-License-Identifier: MIT
#include <algorithm>

#include "sim/hip/graph/graph_call.h"

namespace nw::hipsim {

// A stream that may capture: not the null stream, which is shared.
static std::shared_ptr<Stream> capturable(hipStream_t handle, hipError_t otherwise) {
    auto stream = runtime().stream(handle);
    require(stream != runtime().device_of(*stream).null_stream(), otherwise);
    return stream;
}

static void check_mode(hipStreamCaptureMode mode) {
    require(mode >= hipStreamCaptureModeGlobal && mode <= hipStreamCaptureModeRelaxed,
            hipErrorInvalidValue);
}

static hipStreamCaptureStatus status_of(const Stream &stream) {
    if (!stream.capture)
        return hipStreamCaptureStatusNone;
    return stream.capture->valid ? hipStreamCaptureStatusActive : hipStreamCaptureStatusInvalidated;
}

} // namespace nw::hipsim

using namespace nw::hipsim;

extern "C" {

hipError_t hipStreamBeginCapture(hipStream_t handle, hipStreamCaptureMode mode) {
    return graph_call(__func__, [&] {
        const auto stream = capturable(handle, hipErrorStreamCaptureUnsupported);
        check_mode(mode);
        begin_capture(stream, mode, nullptr, {});
    });
}

// Since HIP 6.1. Edge data isn't supported by real HIP either.
hipError_t begin_to_graph(hipStream_t handle, hipGraph_t graph, const hipGraphNode_t *before,
                          const void *edge_data, size_t count,
                          hipStreamCaptureMode mode) asm("hipStreamBeginCaptureToGraph");
hipError_t begin_to_graph(hipStream_t handle, hipGraph_t graph, const hipGraphNode_t *before,
                          const void *edge_data, size_t count, hipStreamCaptureMode mode) {
    return graph_call("hipStreamBeginCaptureToGraph", [&] {
        require(edge_data == nullptr, hipErrorNotSupported);
        auto target = find_graph(graph);
        require((before != nullptr) == (count > 0), hipErrorInvalidValue);
        const auto nodes = find_nodes(*target, before, count);
        const auto stream = capturable(handle, hipErrorStreamCaptureUnsupported);
        check_mode(mode);
        begin_capture(stream, mode, std::move(target), nodes);
    });
}

hipError_t hipStreamEndCapture(hipStream_t handle, hipGraph_t *graph) {
    return graph_call(__func__, [&] {
        require(graph != nullptr, hipErrorInvalidValue);
        *graph = nullptr;
        *graph = graph_tables().graphs.add(end_capture(*capturable(handle, hipErrorIllegalState)));
    });
}

hipError_t hipStreamIsCapturing(hipStream_t handle, hipStreamCaptureStatus *status) {
    return graph_call(__func__, [&] {
        const auto stream = runtime().stream(handle);
        require(status != nullptr, hipErrorInvalidValue);
        ask_implicit(*stream);
        *status = status_of(*stream);
    });
}

hipError_t hipStreamGetCaptureInfo(hipStream_t handle, hipStreamCaptureStatus *status,
                                   unsigned long long *id) {
    return hipStreamGetCaptureInfo_v2(handle, status, id, nullptr, nullptr, nullptr);
}

hipError_t hipStreamGetCaptureInfo_v2(hipStream_t handle, hipStreamCaptureStatus *status,
                                      unsigned long long *id, hipGraph_t *graph,
                                      const hipGraphNode_t **nodes, size_t *count) {
    return graph_call(__func__, [&] {
        const auto stream = runtime().stream(handle);
        require(status != nullptr, hipErrorInvalidValue);
        ask_implicit(*stream);
        *status = status_of(*stream);
        if (*status != hipStreamCaptureStatusActive)
            return;
        auto &last = stream->frontier_handles;
        last.clear();
        for (const Node *const node : frontier_of(*stream))
            last.push_back(handle_of(*node));
        graph_tables().graphs.add(stream->capture->graph); // the caller may add nodes to it
        if (id)
            *id = stream->capture->id;
        if (graph)
            *graph = handle_of(*stream->capture->graph);
        if (nodes)
            *nodes = last.data();
        if (count)
            *count = last.size();
    });
}

hipError_t hipStreamUpdateCaptureDependencies(hipStream_t handle, hipGraphNode_t *nodes,
                                              size_t count, unsigned flags) {
    return graph_call(__func__, [&] {
        const auto stream = runtime().stream(handle);
        require(stream->capture != nullptr, hipErrorIllegalState);
        require(flags == hipStreamAddCaptureDependencies ||
                    flags == hipStreamSetCaptureDependencies,
                hipErrorInvalidValue);
        auto all =
            flags == hipStreamAddCaptureDependencies ? frontier_of(*stream) : std::vector<Node *>{};
        for (Node *const node : find_nodes(*stream->capture->graph, nodes, count))
            if (std::ranges::count(all, node) == 0)
                all.push_back(node);
        if (flags == hipStreamSetCaptureDependencies)
            for (Node *const node : frontier_of(*stream))
                stream->capture->let_go.push_back(node->weak_from_this());
        set_frontier(*stream, all);
    });
}

hipError_t hipThreadExchangeStreamCaptureMode(hipStreamCaptureMode *mode) {
    return api(__func__, [&] {
        runtime();
        require(mode != nullptr, hipErrorInvalidValue);
        check_mode(*mode);
        *mode = exchange_thread_mode(*mode);
    });
}
}
