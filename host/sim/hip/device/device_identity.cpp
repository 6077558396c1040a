// SPDX-License-Identifier: MIT
// Device identity: ordinals, bus ids, and the best match for given properties.
#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "sim/hip/device/properties.h"
#include "sim/hip/runtime.h"

namespace nw::hipsim {

static std::string bus_id(int ordinal) {
    const PropR0600 p = properties(runtime().device(ordinal).facts, ordinal);
    return fmt::format("{:04x}:{:02x}:{:02x}.0", p.pciDomainID, p.pciBusID, p.pciDeviceID);
}

// Counts the requested fields (not 0) that a device matches; the first best one wins.
template <class Prop> static int grants(const Prop &wish, const PropR0600 &has) {
    int count = 0;
    const auto grant = [&](auto wanted, auto there) { count += wanted && wanted <= there; };
    grant(wish.totalGlobalMem, has.totalGlobalMem);
    grant(wish.sharedMemPerBlock, has.sharedMemPerBlock);
    grant(wish.maxThreadsPerBlock, has.maxThreadsPerBlock);
    grant(wish.totalConstMem, has.totalConstMem);
    grant(wish.multiProcessorCount, has.multiProcessorCount);
    grant(wish.maxThreadsPerMultiProcessor, has.maxThreadsPerMultiProcessor);
    grant(wish.memoryClockRate, has.memoryClockRate);
    count += wish.major &&
             (wish.major < has.major || (wish.major == has.major && wish.minor <= has.minor));
    return count;
}

template <class Prop>
static hipError_t choose(const char *call, int *device, const void *wish_bytes) {
    return api(call, [&] {
        runtime();
        require(device && wish_bytes, hipErrorInvalidValue);
        Prop wish;
        std::memcpy(&wish, wish_bytes, sizeof wish);
        int best = 0, most = -1;
        for (int ordinal = 0; ordinal < runtime().device_count(); ++ordinal) {
            const int count = grants(wish, properties(runtime().device(ordinal).facts, ordinal));
            if (count > most)
                best = ordinal, most = count;
        }
        *device = best;
    });
}

} // namespace nw::hipsim

using namespace nw::hipsim;

extern "C" {

// As hipGetDeviceProperties: the layout goes with the symbol.
hipError_t choose_plain(int *device, const void *wish) asm("hipChooseDevice");
hipError_t choose_plain(int *device, const void *wish) {
    return choose<PropR0000>("hipChooseDevice", device, wish);
}
hipError_t choose_r0000(int *device, const void *wish) asm("hipChooseDeviceR0000");
hipError_t choose_r0000(int *device, const void *wish) {
    return choose<PropR0000>("hipChooseDeviceR0000", device, wish);
}
hipError_t choose_r0600(int *device, const void *wish) asm("hipChooseDeviceR0600");
hipError_t choose_r0600(int *device, const void *wish) {
    return choose<PropR0600>("hipChooseDeviceR0600", device, wish);
}

hipError_t hipDeviceComputeCapability(int *major, int *minor, hipDevice_t ordinal) {
    return api(__func__, [&] {
        const PropR0600 p = properties(runtime().device(ordinal).facts, ordinal);
        require(major && minor, hipErrorInvalidValue);
        *major = p.major;
        *minor = p.minor;
    });
}

hipError_t hipDeviceGetPCIBusId(char *id, int bytes, int ordinal) {
    return api(__func__, [&] {
        const std::string text = bus_id(ordinal);
        require(id && bytes > 0, hipErrorInvalidValue);
        const size_t room = static_cast<size_t>(bytes) - 1;
        id[text.copy(id, room)] = 0; // what fits, even if that is an error
        require(room >= text.size(), hipErrorInvalidValue);
    });
}

hipError_t hipDeviceGetByPCIBusId(int *device, const char *id) {
    return api(__func__, [&] {
        runtime();
        require(device && id, hipErrorInvalidValue);
        const std::string wanted = id;
        for (int ordinal = 0; ordinal < runtime().device_count(); ++ordinal)
            if (const std::string text = bus_id(ordinal); // "0000:01:00.0", or without the function
                text == wanted || text.substr(0, text.find('.')) == wanted) {
                *device = ordinal;
                return;
            }
        fail(hipErrorInvalidValue);
    });
}

hipError_t hipDeviceGetUuid(hipUUID *uuid, hipDevice_t ordinal) {
    return api(__func__, [&] {
        const PropR0600 p = properties(runtime().device(ordinal).facts, ordinal);
        require(uuid != nullptr, hipErrorInvalidValue);
        static_assert(sizeof *uuid == sizeof p.uuid);
        std::memcpy(uuid, p.uuid, sizeof p.uuid);
    });
}

// The first of these that exists becomes the thread's device.
hipError_t set_valid_devices(int *devices, int count) asm("hipSetValidDevices");
hipError_t set_valid_devices(int *devices, int count) {
    return api("hipSetValidDevices", [&] {
        runtime();
        require(count >= 0 && count <= runtime().device_count(), hipErrorInvalidValue);
        require(devices || count == 0, hipErrorInvalidValue);
        for (int i = 0; i < count; ++i)
            runtime().device(devices[i]);
        runtime().set_current_device(count > 0 ? devices[0] : 0);
    });
}

int stream_device(hipStream_t stream) asm("hipGetStreamDeviceId");
int stream_device(hipStream_t handle) {
    int ordinal = -1;
    static_cast<void>(
        guarded("hipGetStreamDeviceId", [&] { ordinal = runtime().stream(handle)->device; }));
    return ordinal;
}
}
