// SPDX-License-Identifier: MIT
#include "engines/ggml/events.h"

namespace nw::engine {

namespace {

hipEvent_t of(ggml_backend_event_t event) { return static_cast<hipEvent_t>(event->context); }

// ggml's functions return nothing, so a failure is kept for the next graph.
void must(Device &device, int error, const char *call) {
    if (!succeeded(error, call))
        device.broken = true;
}

// The target's stream goes on after what is on the source's.
bool let_wait(Queue &from, Queue &to) {
    if (from.stream == to.stream)
        return true;
    if (!from.passed &&
        !succeeded(hip().hipEventCreateWithFlags(&from.passed, hipEventDisableTiming),
                   "hipEventCreateWithFlags"))
        return false;
    return succeeded(hip().hipEventRecord(from.passed, from.stream), "hipEventRecord") &&
           enter(to.device) &&
           succeeded(hip().hipStreamWaitEvent(to.stream, from.passed, 0), "hipStreamWaitEvent");
}

} // namespace

ggml_backend_event_t make_event(ggml_backend_dev_t dev) {
    hipEvent_t event = nullptr;
    if (!enter(device_of(dev)) ||
        !succeeded(hip().hipEventCreateWithFlags(&event, hipEventDisableTiming),
                   "hipEventCreateWithFlags"))
        return nullptr;
    return new ggml_backend_event{dev, event};
}

void free_event(ggml_backend_dev_t dev, ggml_backend_event_t event) {
    if (enter(device_of(dev)))
        succeeded(hip().hipEventDestroy(of(event)), "hipEventDestroy");
    delete event;
}

void await_event(ggml_backend_dev_t dev, ggml_backend_event_t event) {
    must(device_of(dev), hip().hipEventSynchronize(of(event)), "hipEventSynchronize");
}

void record_event(Queue &queue, ggml_backend_event_t event) {
    if (enter(queue.device))
        must(queue.device, hip().hipEventRecord(of(event), queue.stream), "hipEventRecord");
}

void queue_wait(Queue &queue, ggml_backend_event_t event) {
    if (enter(queue.device))
        must(queue.device, hip().hipStreamWaitEvent(queue.stream, of(event), 0),
             "hipStreamWaitEvent");
}

bool queue_copy(Queue &from, Queue &to, const ggml_tensor *source, ggml_tensor *target) {
    const std::size_t bytes = ggml_nbytes(source);
    if (!enter(from.device))
        return false;
    const int error = &from.device == &to.device
                          ? hip().hipMemcpyAsync(target->data, source->data, bytes,
                                                 hipMemcpyDeviceToDevice, from.stream)
                          : hip().hipMemcpyPeerAsync(target->data, to.device.ordinal, source->data,
                                                     from.device.ordinal, bytes, from.stream);
    return succeeded(error, "a copy between devices") && let_wait(from, to);
}

} // namespace nw::engine
