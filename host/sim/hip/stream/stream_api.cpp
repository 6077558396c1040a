// SPDX-License-Identifier: MIT
#include <algorithm>

#include "sim/hip/graph/capture.h"

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

// Kept for who asks: the simulator runs streams alike.
hipError_t hipStreamCreateWithPriority(hipStream_t *stream, unsigned flags, int priority) {
    return api(__func__, [&] {
        create(stream, flags, std::clamp(priority, greatest_priority, least_priority));
    });
}

hipError_t hipStreamDestroy(hipStream_t handle) {
    return api(__func__, [&] {
        runtime();
        require(handle && handle != hipStreamPerThread, hipErrorInvalidHandle); // nobody made them
        const auto stream = runtime().streams.remove(handle);
        require(stream != nullptr, hipErrorContextIsDestroyed);
        abandon_capture(*stream);
        runtime().device_of(*stream).retire(stream);
    });
}

hipError_t hipStreamSynchronize(hipStream_t handle) {
    return api(__func__, [&] {
        const auto stream = runtime().stream(handle);
        forbid_wait_in_capture(*stream);
        return runtime().device_of(*stream).synchronize(*stream);
    });
}

hipError_t hipStreamQuery(hipStream_t handle) {
    return api(__func__, [&] {
        const auto stream = runtime().stream(handle);
        forbid_wait_in_capture(*stream);
        Device &device = runtime().device_of(*stream);
        return device.idle(*stream) ? device.take_error(*stream) : hipErrorNotReady;
    });
}

hipError_t hipStreamWaitEvent(hipStream_t handle, hipEvent_t event_handle, unsigned flags) {
    return api(__func__, [&] {
        const auto stream = runtime().stream(handle, hipErrorInvalidHandle);
        const auto event = runtime().event(event_handle);
        constexpr unsigned external = 1; // hipEventWaitExternal, since HIP 6
        require(flags == 0 || flags == external, hipErrorInvalidValue);
        await_event(stream, event, event_handle, flags == external);
    });
}

hipError_t hipStreamGetFlags(hipStream_t handle, unsigned *flags) {
    return api(__func__, [&] {
        const auto stream = runtime().stream(handle);
        require(flags != nullptr && handle != nullptr, hipErrorInvalidValue);
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

// Since HIP 7.1.
extern "C" hipError_t hipStreamGetId(hipStream_t handle, unsigned long long *id) {
    return api(__func__, [&] {
        const auto stream = runtime().stream(handle);
        require(id != nullptr, hipErrorInvalidValue);
        *id = stream->id;
    });
}

// ---- masks of compute units: kept for who asks, the simulator uses what it has

extern "C" {

hipError_t hipExtStreamCreateWithCUMask(hipStream_t *stream, uint32_t words, const uint32_t *mask) {
    return api(__func__, [&] {
        require(stream != nullptr, hipErrorInvalidHandle);
        require(words > 0 && mask, hipErrorInvalidValue);
        create(stream, hipStreamDefault, 0);
        runtime().stream(*stream)->mask.assign(mask, mask + words);
    });
}

hipError_t hipExtStreamGetCUMask(hipStream_t handle, uint32_t words, uint32_t *mask) {
    return api(__func__, [&] {
        const auto stream = runtime().stream(handle);
        const uint32_t units = runtime().device_of(*stream).facts.wgps;
        require(mask && words >= nw::ceil_div(units, 32u), hipErrorInvalidValue);
        for (uint32_t word = 0; word < nw::ceil_div(units, 32u); ++word) {
            const uint32_t left = units - word * 32;
            const uint32_t all = left >= 32 ? ~0u : (1u << left) - 1;
            const bool given = word < stream->mask.size() && (stream->mask[word] & all);
            mask[word] = given ? stream->mask[word] & all : all;
        }
    });
}
}
