// SPDX-License-Identifier: MIT
// Graphs, pinned memory and queued copies: what measurements need beyond launches.
#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "hip/library.h"

namespace nw::hip {

static hipStream_t stream_of(const Stream &stream) {
    return static_cast<hipStream_t>(stream.handle());
}

// ---- HostBuffer

HostBuffer::HostBuffer(std::shared_ptr<Library> library, u64 bytes)
    : library_(std::move(library)), size_(bytes) {
    // Coherent whatever HIP_HOST_COHERENT says: the device must not keep lines of it.
    library_->check(library_->on_device().hipHostMalloc(&data_, bytes, hipHostMallocCoherent),
                    "hipHostMalloc", fmt::format("{} bytes", bytes));
}

HostBuffer::HostBuffer(HostBuffer &&other) noexcept
    : library_(std::move(other.library_)), data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

HostBuffer::~HostBuffer() {
    if (data_)
        static_cast<void>(library_->call().hipHostFree(data_));
}

// ---- Graph

Graph::Graph(std::shared_ptr<Library> library, const Stream &stream,
             const std::function<void()> &queue)
    : library_(std::move(library)) {
    const EntryPoints &call = library_->on_device();
    library_->check(call.hipStreamBeginCapture(stream_of(stream), hipStreamCaptureModeThreadLocal),
                    "hipStreamBeginCapture");
    hipGraph_t graph = nullptr;
    try {
        queue();
    } catch (...) {
        static_cast<void>(call.hipStreamEndCapture(stream_of(stream), &graph));
        if (graph)
            static_cast<void>(call.hipGraphDestroy(graph));
        throw;
    }
    library_->check(call.hipStreamEndCapture(stream_of(stream), &graph), "hipStreamEndCapture");
    hipGraphExec_t exec = nullptr;
    const hipError_t code = call.hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0);
    static_cast<void>(call.hipGraphDestroy(graph));
    library_->check(code, "hipGraphInstantiate");
    exec_ = exec;
}

Graph::Graph(Graph &&other) noexcept
    : library_(std::move(other.library_)), exec_(std::exchange(other.exec_, nullptr)) {}

Graph::~Graph() {
    if (exec_)
        static_cast<void>(library_->call().hipGraphExecDestroy(static_cast<hipGraphExec_t>(exec_)));
}

// ---- Device

void Device::wait(const Stream &stream, const Event &event) const {
    library_->check(library_->on_device().hipStreamWaitEvent(
                        stream_of(stream), static_cast<hipEvent_t>(event.handle()), 0),
                    "hipStreamWaitEvent");
}

HostBuffer Device::allocate_host(u64 bytes) const { return {library_, bytes}; }

Graph Device::capture(const Stream &stream, const std::function<void()> &queue) const {
    return {library_, stream, queue};
}

void Device::launch(const Graph &graph, const Stream &stream) const {
    if (library_->has_queued_uploads.exchange(false)) // a replay may miss them
        library_->check(library_->on_device().hipStreamSynchronize(stream_of(stream)),
                        "hipStreamSynchronize");
    library_->check(library_->on_device().hipGraphLaunch(
                        static_cast<hipGraphExec_t>(graph.handle()), stream_of(stream)),
                    "hipGraphLaunch");
}

static void queue_copy(const Library &library, void *to, const void *from, u64 bytes, u64 room,
                       hipMemcpyKind kind, const Stream &stream) {
    if (bytes > room)
        throw Error(-1, {}, "copy",
                    fmt::format("copy: {} bytes, but a side has only {}", bytes, room));
    library.check(library.on_device().hipMemcpyAsync(to, from, bytes, kind, stream_of(stream)),
                  "hipMemcpyAsync", fmt::format("{} bytes", bytes));
}

void Device::copy(const Buffer &to, const HostBuffer &from, u64 bytes, const Stream &stream) const {
    queue_copy(*library_, to.data(), from.data(), bytes, std::min(to.size(), from.size()),
               hipMemcpyHostToDevice, stream);
    library_->has_queued_uploads = !stream.capturing();
}

void Device::copy(const HostBuffer &to, const Buffer &from, u64 bytes, const Stream &stream) const {
    queue_copy(*library_, to.data(), from.data(), bytes, std::min(to.size(), from.size()),
               hipMemcpyDeviceToHost, stream);
}

void Device::copy(const Buffer &to, const Buffer &from, u64 bytes, const Stream &stream) const {
    queue_copy(*library_, to.data(), from.data(), bytes, std::min(to.size(), from.size()),
               hipMemcpyDeviceToDevice, stream);
}

void Device::gather(void *to, const void *from, u64 stride, u64 row_bytes, u64 rows,
                    const Stream &stream) const {
    library_->check(library_->on_device().hipMemcpy2DAsync(
                        to, row_bytes, from, stride, row_bytes, rows, hipMemcpyDeviceToDevice,
                        static_cast<hipStream_t>(stream.handle())),
                    "hipMemcpy2DAsync");
}

} // namespace nw::hip
