// SPDX-License-Identifier: MIT
// Attributes of streams, since HIP 7.1: kept to be read back; they have no effect here.
#include <cstring>

#include "sim/hip/launch/launch_config.h"
#include "sim/hip/runtime.h"

namespace nw::hipsim {

// hipLaunchAttributeID, where launch_config.h doesn't have it.
enum : int { stream_sync_policy = 3, stream_domain_map = 9, stream_domain = 10 };

static void check_attribute(int which) {
    constexpr int known[] = {launch_access_policy_window, stream_sync_policy, launch_priority,
                             stream_domain_map, stream_domain};
    require(std::ranges::count(known, which) == 1, hipErrorInvalidValue);
}

static StreamAttribute initial(const Stream &stream, int which) {
    StreamAttribute value{};
    constexpr int automatic = 1; // hipSyncPolicyAuto
    if (which == stream_sync_policy)
        std::memcpy(value.data(), &automatic, sizeof automatic);
    if (which == launch_priority)
        std::memcpy(value.data(), &stream.priority, sizeof stream.priority);
    if (which == stream_domain_map)
        value[1] = std::byte{1}; // the remote domain
    return value;
}

static void check_value(int which, const StreamAttribute &value) {
    int number = 0;
    std::memcpy(&number, value.data(), sizeof number);
    if (which == stream_sync_policy)
        require(number >= 1 && number <= 4, hipErrorInvalidValue);
    if (which == launch_priority)
        require(number >= greatest_priority && number <= least_priority, hipErrorInvalidValue);
    if (which == stream_domain)
        require(number == 0 || number == 1, hipErrorInvalidValue);
}

} // namespace nw::hipsim

using namespace nw::hipsim;

extern "C" {

hipError_t get_attribute(hipStream_t stream, int which,
                         StreamAttribute *value) asm("hipStreamGetAttribute");
hipError_t get_attribute(hipStream_t handle, int which, StreamAttribute *value) {
    return api("hipStreamGetAttribute", [&] {
        const auto stream = runtime().stream(handle);
        require(value != nullptr, hipErrorInvalidValue);
        check_attribute(which);
        const std::lock_guard lock(stream->attributes_mutex);
        const auto found = stream->attributes.find(which);
        *value = found == stream->attributes.end() ? initial(*stream, which) : found->second;
    });
}

hipError_t set_attribute(hipStream_t stream, int which,
                         const StreamAttribute *value) asm("hipStreamSetAttribute");
hipError_t set_attribute(hipStream_t handle, int which, const StreamAttribute *value) {
    return api("hipStreamSetAttribute", [&] {
        const auto stream = runtime().stream(handle);
        require(value != nullptr, hipErrorInvalidValue);
        check_attribute(which);
        check_value(which, *value);
        const std::lock_guard lock(stream->attributes_mutex);
        stream->attributes[which] = *value;
    });
}

hipError_t copy_attributes(hipStream_t to, hipStream_t from) asm("hipStreamCopyAttributes");
hipError_t copy_attributes(hipStream_t to_handle, hipStream_t from_handle) {
    return api("hipStreamCopyAttributes", [&] {
        const auto to = runtime().stream(to_handle), from = runtime().stream(from_handle);
        if (to == from)
            return;
        const std::scoped_lock lock(to->attributes_mutex, from->attributes_mutex);
        to->attributes = from->attributes;
    });
}
}
