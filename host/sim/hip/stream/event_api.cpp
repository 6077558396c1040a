// SPDX-License-Identifier: MIT
#include "sim/hip/graph/capture.h"
#include "sim/hip/ipc/shared_event.h"

namespace nw::hipsim {

static void create(hipEvent_t *handle, unsigned flags) {
    runtime();
    require(handle != nullptr, hipErrorInvalidValue);
    constexpr unsigned known =
        hipEventBlockingSync | hipEventDisableTiming | hipEventInterprocess |
        hipEventReleaseToDevice | hipEventReleaseToSystem |
        0x20000000; // hipEventDisableSystemFence, newer than the oldest headers
    constexpr unsigned releases = hipEventReleaseToDevice | hipEventReleaseToSystem;
    require((flags & ~known) == 0 && (flags & releases) != releases, hipErrorInvalidValue);
    require(!(flags & hipEventInterprocess) || (flags & hipEventDisableTiming),
            hipErrorInvalidValue);
    auto event = std::make_shared<Event>();
    event->flags = flags;
    event->device = runtime().current_ordinal();
    if (flags & hipEventInterprocess)
        event->shared = std::make_shared<SharedEvent>();
    *handle = runtime().events.add(std::move(event));
}

static std::pair<std::shared_ptr<Ticket>, std::shared_ptr<Stream>> recording(Event &event) {
    const std::lock_guard lock(event.mutex);
    return {event.recorded, event.stream.lock()};
}

// The record that counts, if another process made it; else 0.
static u64 record_elsewhere(const Event &event) {
    return event.shared && event.shared->recorded_elsewhere() ? event.shared->last_record() : 0;
}

// An earlier error of the stream is reported to the waiter of the event.
static hipError_t error_of(const std::shared_ptr<Stream> &stream) {
    return stream ? runtime().device_of(*stream).take_error(*stream) : hipSuccess;
}

} // namespace nw::hipsim

using namespace nw::hipsim;

hipError_t hipEventCreate(hipEvent_t *event) {
    return api(__func__, [&] { create(event, hipEventDefault); });
}

hipError_t hipEventCreateWithFlags(hipEvent_t *event, unsigned flags) {
    return api(__func__, [&] { create(event, flags); });
}

hipError_t hipEventDestroy(hipEvent_t event) {
    return api(__func__, [&] {
        runtime();
        require(event != nullptr, hipErrorInvalidHandle);
        require(runtime().events.remove(event) != nullptr, hipErrorContextIsDestroyed);
    });
}

hipError_t hipEventRecord(hipEvent_t handle, hipStream_t stream_handle) {
    return api(__func__, [&] {
        const auto event = runtime().event(handle);
        record_event(event, handle, runtime().stream(stream_handle));
    });
}

// Since HIP 6.4. External: while the stream captures, a node that records the event at each launch.
extern "C" hipError_t hipEventRecordWithFlags(hipEvent_t handle, hipStream_t stream_handle,
                                              unsigned flags) {
    return api(__func__, [&] {
        const auto event = runtime().event(handle);
        constexpr unsigned external = 1;
        require(flags == 0 || flags == external, hipErrorInvalidValue);
        record_event(event, handle, runtime().stream(stream_handle), flags == external);
    });
}

// An event that was never recorded counts as done.
hipError_t hipEventSynchronize(hipEvent_t handle) {
    return api(__func__, [&] {
        const auto event = runtime().event(handle);
        forbid_wait_in_capture(*event);
        InCallback::forbid();
        if (const nw::u64 record = record_elsewhere(*event))
            return event->shared->wait(record);
        const auto [ticket, stream] = recording(*event);
        if (ticket) {
            if (stream)
                stream->help(*ticket);
            ticket->wait();
            ticket->observe();
        }
        return error_of(stream);
    });
}

hipError_t hipEventQuery(hipEvent_t handle) {
    return api(__func__, [&] {
        const auto event = runtime().event(handle);
        forbid_wait_in_capture(*event);
        if (const nw::u64 record = record_elsewhere(*event))
            return event->shared->reached(record) ? hipSuccess : hipErrorNotReady;
        const auto [ticket, stream] = recording(*event);
        if (ticket && !ticket->done())
            return hipErrorNotReady;
        if (ticket)
            ticket->observe();
        return error_of(stream);
    });
}

// Programs divide by the time that this gives, or require it to be positive.
static void say_that_it_is_estimated() {
    static std::once_flag said;
    std::call_once(said, [] {
        say("hipEventElapsedTime: launches are not timed, so times are estimates from counted "
            "instructions and bytes; HIPSIM_TIMING=on models them");
    });
}

// Modelled time; estimated without it (HIPSIM_TIMING), or 0 for devices of hipsimOpenDevice: host
// time spent on simulation must never be taken for GPU time.
hipError_t hipEventElapsedTime(float *ms, hipEvent_t start_handle, hipEvent_t stop_handle) {
    return api(__func__, [&] {
        runtime();
        require(ms != nullptr, hipErrorInvalidValue);
        const auto start = runtime().event(start_handle), stop = runtime().event(stop_handle);
        require(start->device == stop->device, hipErrorInvalidHandle);
        require(!((start->flags | stop->flags) & hipEventDisableTiming), hipErrorInvalidHandle);
        const auto first = recording(*start).first, last = recording(*stop).first;
        require(first && last, hipErrorInvalidHandle);
        if (!first->done() || !last->done())
            return hipErrorNotReady;
        first->observe();
        last->observe();
        if (last->clock)
            say_that_it_is_estimated();
        *ms = static_cast<float>((last->end_us() - first->end_us()) / 1000);
        return hipSuccess;
    });
}
