// SPDX-License-Identifier: MIT
// A backend is a stream of a device and the workspace of its launches.
#include <ggml-impl.h>

#include <algorithm>
#include <array>
#include <set>

#include "engines/ggml/events.h"
#include "engines/ggml/fusion.h"
#include "engines/ggml/hip_calls.h"
#include "engines/ggml/node.h"
#include "engines/ggml/ops.h"
#include "engines/ggml/order.h"
#include "engines/ggml/replay.h"

namespace nw::engine {

namespace {

// Properties that determine the size of a node's workspace. Parameters and types decide which call
// computes attention.
using Shape = std::array<int64_t, 20>;

Shape shape_of(const ggml_tensor *node) {
    const ggml_tensor *const a = node->src[0], *const b = node->src[1], *const ids = node->src[2];
    Shape out{node->op, a->type,  a->ne[0], a->ne[1], a->ne[2],
              a->ne[3], b->ne[1], b->ne[2], b->ne[3]};
    for (std::size_t d = 1; d < 4; d++) // strides decide whether b is one product
        out[8 + d] = static_cast<int64_t>(b->nb[d]);
    if (ids)
        out[12] = ids->ne[0], out[13] = static_cast<int64_t>(ids->nb[1]), out[14] = ids->type;
    out[15] = b->type, out[16] = node->src[3] != nullptr;
    for (int n = 0; n < 3; n++)
        out[static_cast<std::size_t>(17 + n)] = node->op_params[n];
    return out;
}

struct Backend {
    Queue queue;
    Replay replay{};
    uint64_t fitting = 0;     // uid of a graph for which the workspace is known to be sufficient
    std::set<Shape> shapes{}; // nodes for which it is: a size takes microseconds to compute
};

Backend &of(ggml_backend_t backend) { return *static_cast<Backend *>(backend->context); }

const char *get_name(ggml_backend_t backend) { return of(backend).queue.device.name.c_str(); }

void destroy(ggml_backend_t backend) {
    Queue &own = of(backend).queue;
    if (enter(own.device)) {
        succeeded(hip().hipStreamSynchronize(own.stream), "hipStreamSynchronize");
        own.staging.release();
        of(backend).replay.release();
        own.turns.release();
        own.converted.release();
        if (own.passed)
            succeeded(hip().hipEventDestroy(own.passed), "hipEventDestroy");
        succeeded(hip().hipFree(own.workspace), "hipFree");
        succeeded(hip().hipStreamDestroy(own.stream), "hipStreamDestroy");
    }
    delete &of(backend);
    delete backend;
}

void set_tensor_async(ggml_backend_t backend, ggml_tensor *tensor, const void *data,
                      std::size_t offset, std::size_t size) {
    Queue &own = of(backend).queue;
    char *const to = static_cast<char *>(tensor->data) + offset;
    count_write(own.device, root_of(tensor)->buffer);
    if (!enter(own.device) ||
        !succeeded(own.staging.queue(to, data, size, own.stream), "hipMemcpyAsync"))
        own.device.broken = true;
    own.copied = true;
}

void get_tensor_async(ggml_backend_t backend, const ggml_tensor *tensor, void *data,
                      std::size_t offset, std::size_t size) {
    Queue &own = of(backend).queue;
    const char *const from = static_cast<const char *>(tensor->data) + offset;
    if (!enter(own.device) ||
        !succeeded(hip().hipMemcpyAsync(data, from, size, hipMemcpyDeviceToHost, own.stream),
                   "hipMemcpyAsync"))
        own.device.broken = true;
}

bool is_ours(ggml_backend_t);

// The host's memory is read before this returns.
bool copy_tensor_async(ggml_backend_t from, ggml_backend_t to, const ggml_tensor *source,
                       ggml_tensor *target) {
    Queue &own = of(to).queue;
    const ggml_backend_buffer_t there = root_of(source)->buffer, here = root_of(target)->buffer;
    if (!there || !here || !is_memory_of(own.device, here->buft) || own.device.shares_memory)
        return false;
    if (ggml_backend_buffer_is_host(there)) {
        ggml_backend_synchronize(from); // the CPU's has ended its graphs anyway
        set_tensor_async(to, target, source->data, 0, ggml_nbytes(source));
        return true;
    }
    if (!is_ours(from) || !is_memory_of(of(from).queue.device, there->buft))
        return false;
    count_write(own.device, here);
    own.copied = true;
    return queue_copy(of(from).queue, own, source, target);
}

void synchronize(ggml_backend_t backend) {
    Queue &own = of(backend).queue;
    if (!enter(own.device) ||
        !succeeded(hip().hipStreamSynchronize(own.stream), "hipStreamSynchronize"))
        own.device.broken = true;
}

// A workspace is 0 at first, and launches leave it usable.
bool grow(Queue &own, uint64_t bytes) {
    // Queued launches use the old one.
    if (!succeeded(hip().hipStreamSynchronize(own.stream), "hipStreamSynchronize") ||
        !succeeded(hip().hipFree(own.workspace), "hipFree"))
        return false;
    own.workspace = nullptr;
    own.workspace_bytes = 0;
    own.freed = true;
    if (!succeeded(hip().hipMalloc(&own.workspace, bytes), "hipMalloc of a workspace"))
        return false;
    own.workspace_bytes = bytes;
    return succeeded(hip().hipMemsetAsync(own.workspace, 0, bytes, own.stream), "hipMemsetAsync");
}

// The first node that the device does not compute, or null. The scheduler, whose graphs have a uid,
// asks supports_op for each node; a program without it may not.
const ggml_tensor *first_refused(Backend &own, const ggml_cgraph *graph) {
    for (int i = 0; i < graph->n_nodes; i++) {
        const ggml_tensor *const node = graph->nodes[i];
        if (computes_nothing(node))
            continue;
        if (!is_known(node))
            return node;
        const bool asked = graph->uid || (has_workspace(node) && own.shapes.count(shape_of(node)));
        if (!asked && !supports(own.queue.device, node))
            return node;
    }
    return nullptr;
}

// Makes the workspace large enough for all nodes.
bool reserve(Backend &own, const ggml_cgraph *graph) {
    uint64_t bytes = 0;
    for (int i = 0; i < graph->n_nodes; i++) {
        const ggml_tensor *const node = graph->nodes[i];
        if (computes_nothing(node))
            continue;
        bytes = std::max(bytes, scratch_of(node));
        if (has_workspace(node) && own.shapes.insert(shape_of(node)).second)
            bytes = std::max(bytes, workspace_bytes(own.queue.device, node));
    }
    if (bytes <= own.queue.workspace_bytes || grow(own.queue, bytes))
        return true;
    own.shapes.clear();
    return false;
}

// Whether the graph can be queued as it is.
ggml_status prepare(Backend &own, const ggml_cgraph *graph) {
    if (graph->uid && graph->uid == own.fitting)
        return GGML_STATUS_SUCCESS;
    own.fitting = 0;
    if (const ggml_tensor *const node = first_refused(own, graph)) {
        say_error("%s does not compute %s (%s): use ggml_backend_sched, with the CPU's backend as "
                  "its last; for a program without it, set NIBBLEWAVE_GGML_TYPE=accel",
                  own.queue.device.name.c_str(), ggml_op_desc(node), node->name);
        return GGML_STATUS_FAILED;
    }
    if (!reserve(own, graph) ||
        !own.queue.converted.reserve(graph, own.queue.stream, own.queue.freed))
        return GGML_STATUS_ALLOC_FAILED;
    own.fitting = graph->uid;
    return GGML_STATUS_SUCCESS;
}

// Queues the graph's nodes. False, and logs, if one can't be.
bool queue_nodes(Queue &own, const ggml_cgraph *graph) {
    own.converted.forget();
    own.done.clear();
    std::string why;
    for (int i = 0; i < graph->n_nodes;) {
        const int queued = queue_from(own, graph, i, why);
        if (const ggml_tensor *const node = graph->nodes[i]; !queued) {
            say_error("%s (%s of %s): %s", node->name, ggml_op_desc(node), node->src[0]->name,
                      why.c_str());
            return false;
        }
        i += queued;
    }
    return true;
}

// The same, or the graph as it was recorded.
bool queue_graph(Backend &own, const ggml_cgraph *graph) {
    if (own.replay.launch(own.queue, graph))
        return true;
    const bool recording = own.replay.begin(own.queue);
    const bool queued = queue_nodes(own.queue, graph);
    return own.replay.end(own.queue, recording, queued) ||
           (recording && queue_nodes(own.queue, graph));
}

ggml_status compute(ggml_backend_t backend, ggml_cgraph *graph) {
    Queue &own = of(backend).queue;
    if (!enter(own.device))
        return GGML_STATUS_FAILED;
    if (own.device.broken) {
        say_error("%s: a copy to or from it failed before; its data can't be used",
                  own.device.name.c_str());
        return GGML_STATUS_FAILED;
    }
    if (const ggml_status status = prepare(of(backend), graph); status != GGML_STATUS_SUCCESS)
        return status;
    if (!queue_graph(of(backend), graph))
        return GGML_STATUS_FAILED;
    // The scheduler reads memory that is the host's without asking whether this graph has ended,
    // and the CPU writes it.
    if (own.device.shares_memory &&
        !succeeded(hip().hipStreamSynchronize(own.stream), "hipStreamSynchronize"))
        return GGML_STATUS_FAILED;
    return GGML_STATUS_SUCCESS;
}

template <class... More>
constexpr void set_order(void (*&member)(ggml_backend_t, ggml_cgraph *, More...)) {
    member = [](ggml_backend_t, ggml_cgraph *graph, More...) { gather_products(graph); };
}
// Its parameters differ from version to version of ggml; old ones have no such member.
template <class Face>
constexpr auto set_order(Face &face, int) -> decltype((void)face.graph_optimize) {
    set_order(face.graph_optimize);
}
template <class Face> constexpr void set_order(Face &, long) {}

constexpr ggml_backend_i backend_face() {
    ggml_backend_i face{};
    face.get_name = get_name;
    face.free = destroy;
    face.set_tensor_async = set_tensor_async;
    face.get_tensor_async = get_tensor_async;
    face.cpy_tensor_async = copy_tensor_async;
    face.synchronize = synchronize;
    face.event_record = [](ggml_backend_t backend, ggml_backend_event_t event) {
        record_event(of(backend).queue, event);
    };
    face.event_wait = [](ggml_backend_t backend, ggml_backend_event_t event) {
        queue_wait(of(backend).queue, event);
    };
    face.graph_compute = compute;
    set_order(face, 0);
    return face;
}

ggml_guid guid = {0x6e, 0x77, 0x4b, 0x91, 0x2d, 0x5c, 0x4f, 0x0a,
                  0x9b, 0x37, 0xe4, 0x18, 0xc2, 0x60, 0xd5, 0x7f};

bool is_ours(ggml_backend_t backend) { return backend->guid == &guid; }

} // namespace

ggml_backend_t make_backend(Device &device) {
    std::unique_ptr<Backend> own(new Backend{{device}});
    if (!enter(device) || !succeeded(hip().hipStreamCreate(&own->queue.stream), "hipStreamCreate"))
        return nullptr;
    return new ggml_backend{&guid, backend_face(), &device.face, own.release()};
}

} // namespace nw::engine
