// SPDX-License-Identifier: MIT
#include "engines/ggml/replay.h"

#include <ggml-impl.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include <nibblewave.h>

#include "engines/ggml/fusion.h"
#include "engines/ggml/ops.h"

namespace nw::engine {

namespace {

constexpr std::size_t most = 8; // recordings: of batches that take turns
constexpr int least_nodes = 16; // a HIP graph of fewer takes longer than its launches (T-081)

void add_tensor(std::vector<uint64_t> &out, const ggml_tensor *t) {
    out.push_back(reinterpret_cast<uintptr_t>(t->data));
    out.push_back(static_cast<uint64_t>(t->type));
    out.insert(out.end(), std::begin(t->ne), std::end(t->ne));
    out.insert(out.end(), std::begin(t->nb), std::end(t->nb));
}

// All that decides which launches the nodes are.
void describe(const ggml_cgraph *graph, std::vector<uint64_t> &out) {
    out.clear();
    for (int i = 0; i < graph->n_nodes; i++) {
        const ggml_tensor *const node = graph->nodes[i];
        out.push_back(static_cast<uint64_t>(node->op));
        out.push_back(static_cast<uint64_t>(node->flags));
        add_tensor(out, node);
        for (const int32_t parameter : node->op_params)
            out.push_back(static_cast<uint32_t>(parameter));
        for (const ggml_tensor *const source : node->src)
            if (source)
                add_tensor(out, source);
            else
                out.push_back(0);
    }
}

int count(const ggml_cgraph *graph) {
    int out = 0;
    for (int i = 0; i < graph->n_nodes; i++)
        out += !computes_nothing(graph->nodes[i]);
    return out;
}

void destroy(hipGraphExec_t graph) {
    if (graph)
        succeeded(hip().hipGraphExecDestroy(graph), "hipGraphExecDestroy");
}

// Captures on a stream that no null stream waits for: another thread's copy on that would fail, and
// end the capture.
bool begin_capture(hipStream_t &stream) {
    const bool there =
        stream || succeeded(hip().hipStreamCreateWithFlags(&stream, hipStreamNonBlocking),
                            "hipStreamCreateWithFlags");
    return there && hip().hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed) == hipSuccess;
}

// The stream's capture as a graph that can be launched; null if there is none.
hipGraphExec_t captured(hipStream_t stream) {
    hipGraph_t graph = nullptr;
    hipGraphExec_t out = nullptr;
    if (!succeeded(hip().hipStreamEndCapture(stream, &graph), "hipStreamEndCapture") || !graph)
        return nullptr;
    if (hip().hipGraphInstantiate(&out, graph, nullptr, nullptr, 0) != hipSuccess)
        out = nullptr;
    succeeded(hip().hipGraphDestroy(graph), "hipGraphDestroy");
    return out;
}

// A graph may not see copies that were queued before it.
bool wait_for_copies(Queue &queue) {
    const bool copied = std::exchange(queue.copied, false);
    return !copied || succeeded(hip().hipStreamSynchronize(queue.stream), "hipStreamSynchronize");
}

// ---- the self-test: replays of many nodes have read old pointers and old data on some cards

constexpr int test_nodes = 256, test_floats = 64;

bool record_chain(Queue &queue, float *memory, hipStream_t &stream, hipGraphExec_t &out) {
    if (!begin_capture(stream))
        return false;
    nw_scale_op scale = NW_SCALE_OP_INIT;
    scale.n = test_floats, scale.scale = 1, scale.bias = 1;
    bool good = true;
    for (int i = 0; i < test_nodes; i++) {
        scale.x = memory + i * test_floats, scale.y = memory + (i + 1) * test_floats;
        good = nw_scale(queue.device.context.get(), &scale, stream) == NW_OK && good;
    }
    out = captured(stream);
    return good && out;
}

// Whether replays add 1 in each node to what was copied before each of them.
bool replays_follow(Queue &queue, float *memory, hipGraphExec_t graph) {
    for (const float start : {5.0f, -300.0f, 7000.0f}) {
        std::vector<float> values(test_floats);
        std::iota(values.begin(), values.end(), start);
        const std::size_t bytes = sizeof(float) * test_floats;
        if (queue.staging.queue(memory, values.data(), bytes, queue.stream) != hipSuccess ||
            hip().hipStreamSynchronize(queue.stream) != hipSuccess ||
            hip().hipGraphLaunch(graph, queue.stream) != hipSuccess)
            return false;
        std::vector<float> got(test_floats);
        if (hip().hipMemcpyAsync(got.data(), memory + test_nodes * test_floats, bytes,
                                 hipMemcpyDeviceToHost, queue.stream) != hipSuccess ||
            hip().hipStreamSynchronize(queue.stream) != hipSuccess)
            return false;
        for (float &value : values)
            value += test_nodes;
        if (got != values)
            return false;
    }
    return true;
}

// Two recordings of other memory, each of more nodes than cards have failed with.
bool passes_test(Queue &queue, hipStream_t &stream) {
    const std::size_t bytes = sizeof(float) * test_floats * (test_nodes + 1);
    nw_scale_op any = NW_SCALE_OP_INIT;
    any.n = test_floats;
    bool good = nw_scale_prepare(queue.device.context.get(), &any) == NW_OK;
    for (int i = 0; good && i < 2; i++) {
        void *memory = nullptr;
        hipGraphExec_t graph = nullptr;
        good = hip().hipMalloc(&memory, bytes) == hipSuccess &&
               record_chain(queue, static_cast<float *>(memory), stream, graph) &&
               replays_follow(queue, static_cast<float *>(memory), graph);
        destroy(graph);
        static_cast<void>(hip().hipFree(memory));
    }
    return good;
}

// Once for each device.
bool replays(Queue &queue, hipStream_t &stream) {
    Device &device = queue.device;
    const std::lock_guard lock(device.mutex);
    if (device.replays < 0) {
        device.replays = is_fused("graph") && passes_test(queue, stream);
        if (!device.replays && is_fused("graph"))
            GGML_LOG_WARN("nibblewave: %s: a replayed HIP graph gave old results in a self-test; "
                          "graphs are queued node by node\n",
                          device.name.c_str());
    }
    return device.replays > 0;
}

} // namespace

Replay::Recording *Replay::find(const ggml_cgraph *graph) {
    const auto by_uid = std::find_if(seen_.begin(), seen_.end(), [&](const Recording &one) {
        return graph->uid && one.uid == graph->uid;
    });
    if (by_uid != seen_.end())
        return &*by_uid;
    describe(graph, nodes_);
    const auto found = std::find_if(seen_.begin(), seen_.end(),
                                    [&](const Recording &one) { return one.nodes == nodes_; });
    if (found == seen_.end())
        return nullptr;
    found->uid = graph->uid;
    return &*found;
}

bool Replay::launch(Queue &queue, const ggml_cgraph *graph) {
    if (queue.freed)
        forget();
    queue.freed = false;
    at_hand_ = nullptr;
    if (graph->n_nodes < least_nodes || !replays(queue, recorder_))
        return false;
    at_hand_ = find(graph);
    if (!at_hand_) {
        if (count(graph) < least_nodes)
            return false;
        if (seen_.size() >= most) {
            destroy(seen_.front().graph);
            seen_.erase(seen_.begin());
        }
        seen_.push_back({});
        at_hand_ = &seen_.back();
        at_hand_->nodes = std::move(nodes_), at_hand_->uid = graph->uid;
        return false;
    }
    if (at_hand_->weights_written != queue.device.weights_written) { // frequency factors, perhaps
        destroy(std::exchange(at_hand_->graph, nullptr));
        at_hand_->seen = false;
    }
    if (!at_hand_->graph || !wait_for_copies(queue))
        return false;
    return succeeded(hip().hipGraphLaunch(at_hand_->graph, queue.stream), "hipGraphLaunch");
}

bool Replay::begin(Queue &queue) {
    queue.reads_inputs = false;
    if (!at_hand_ || at_hand_->never || !at_hand_->seen)
        return false;
    if (!begin_capture(recorder_)) {
        at_hand_->never = true;
        return false;
    }
    std::swap(queue.stream, recorder_);
    return true;
}

bool Replay::end(Queue &queue, bool recording, bool queued) {
    if (!recording) {
        if (at_hand_) {
            at_hand_->seen = true, at_hand_->never |= queue.reads_inputs;
            at_hand_->weights_written = queue.device.weights_written;
        }
        return queued;
    }
    std::swap(queue.stream, recorder_);
    at_hand_->graph = captured(recorder_);
    if (queued && at_hand_->graph && wait_for_copies(queue) &&
        succeeded(hip().hipGraphLaunch(at_hand_->graph, queue.stream), "hipGraphLaunch"))
        return true;
    destroy(at_hand_->graph);
    at_hand_->graph = nullptr, at_hand_->never = true;
    return false;
}

void Replay::release() {
    forget();
    if (recorder_)
        succeeded(hip().hipStreamDestroy(recorder_), "hipStreamDestroy");
    recorder_ = nullptr;
}

void Replay::forget() {
    for (const Recording &one : seen_)
        destroy(one.graph);
    seen_.clear();
    at_hand_ = nullptr;
}

} // namespace nw::engine
