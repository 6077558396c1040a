// SPDX-License-Identifier: MIT
#include "sim/hip/runtime.h"

namespace nw::hipsim {

static void create(hipStream_t *handle, unsigned flags, int priority) {
    Device &device = runtime().current_device();
    require(handle != nullptr, hipErrorInvalidValue);
    require((flags & ~unsigned{hipStreamNonBlocking}) == 0, hipErrorInvalidValue);
    *handle = runtime().streams.add(device.create_stream(flags, priority));
}

} // namespace nw::hipsim

using namespace nw::hipsim;

hipError_t hipStreamCreate(hipStream_t *stream) {
    return api(__func__, [&] { create(stream, hipStreamDefault, 0); });
}

hipError_t hipStreamCreateWithFlags(hipStream_t *stream, unsigned flags) {
    return api(__func__, [&] { create(stream, flags, 0); });
}

hipError_t hipStreamCreateWithPriority(hipStream_t *stream, unsigned flags, int) {
    return api(__func__, [&] { create(stream, flags, 0); }); // the only priority there is
}

hipError_t hipStreamDestroy(hipStream_t handle) {
    return api(__func__, [&] {
        const auto stream = runtime().streams.remove(handle);
        require(stream != nullptr, hipErrorInvalidHandle); // the null stream can't be destroyed
        runtime().device_of(*stream).retire(stream);
    });
}

hipError_t hipStreamSynchronize(hipStream_t handle) {
    return api(__func__, [&] {
        const auto stream = runtime().stream(handle);
        return runtime().device_of(*stream).synchronize(*stream);
    });
}

hipError_t hipStreamQuery(hipStream_t handle) {
    return api(__func__, [&] {
        const auto stream = runtime().stream(handle);
        Device &device = runtime().device_of(*stream);
        return device.idle(*stream) ? device.take_error(*stream) : hipErrorNotReady;
    });
}

hipError_t hipStreamWaitEvent(hipStream_t handle, hipEvent_t event_handle, unsigned flags) {
    return api(__func__, [&] {
        const auto stream = runtime().stream(handle);
        const auto event = runtime().event(event_handle);
        require(flags == 0, hipErrorInvalidValue);
        std::shared_ptr<Ticket> recorded;
        {
            const std::lock_guard lock(event->mutex);
            recorded = event->recorded;
        }
        if (recorded) // an event that was never recorded holds nobody up
            runtime().device_of(*stream).submit(
                *stream, [] { return hipSuccess; }, recorded);
    });
}

hipError_t hipStreamGetFlags(hipStream_t handle, unsigned *flags) {
    return api(__func__, [&] {
        const auto stream = runtime().stream(handle);
        require(flags != nullptr, hipErrorInvalidValue);
        *flags = stream->flags;
    });
}

hipError_t hipStreamGetPriority(hipStream_t handle, int *priority) {
    return api(__func__, [&] {
        const auto stream = runtime().stream(handle);
        require(priority != nullptr, hipErrorInvalidValue);
        *priority = stream->priority;
    });
}

// Newer than the oldest headers that we build with.
extern "C" hipError_t hipStreamGetDevice(hipStream_t handle, hipDevice_t *device) {
    return api(__func__, [&] {
        const auto stream = runtime().stream(handle);
        require(device != nullptr, hipErrorInvalidValue);
        *device = stream->device;
    });
}
