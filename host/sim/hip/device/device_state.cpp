// SPDX-License-Identifier: MIT
// Device settings. Stored and returned: no flag, cache or limit changes a result here.
#include "sim/hip/graph/capture.h"
#include "sim/hip/memory/allocate.h"

namespace nw::hipsim {

static std::atomic<u64> &limit_of(Device &device, int which) {
    constexpr int stack = 0, heap = 2; // hipLimitStackSize, hipLimitMallocHeapSize
    require(which == stack || which == heap, hipErrorUnsupportedLimit);
    return which == stack ? device.stack_bytes : device.heap_bytes;
}

// Frees everything that the host allocated on the device. Streams and events stay valid handles, as
// in real ROCm for a host that still holds them.
static void reset(Device &device) {
    device.wait();
    for (const Block &block : runtime().blocks.of_device(device.ordinal))
        if (block.kind == Block::Kind::device || block.kind == Block::Kind::managed)
            static_cast<void>(guarded("hipDeviceReset", [&] { release(block); }));
    runtime().pools.for_each([&](Pool &pool) {
        if (pool.device == device.ordinal)
            pool.spares.trim(0);
    });
    static_cast<void>(device.synchronize()); // drops unreported errors
    device.flags = 0;
    device.cache_config = hipFuncCachePreferNone;
}

} // namespace nw::hipsim

using namespace nw;
using namespace nw::hipsim;

extern "C" {

hipError_t hipDeviceReset() {
    return api(__func__, [&] {
        Device &device = runtime().current_device();
        forbid_device_wait_in_capture();
        reset(device);
    });
}

hipError_t hipSetDeviceFlags(unsigned flags) {
    return api(__func__, [&] {
        Device &device = runtime().current_device();
        constexpr unsigned known =
            hipDeviceScheduleMask | hipDeviceMapHost | unsigned{hipDeviceLmemResizeToMax};
        const unsigned schedule = flags & hipDeviceScheduleMask;
        require((flags & ~known) == 0, hipErrorInvalidValue);
        require(schedule == hipDeviceScheduleAuto || schedule == hipDeviceScheduleSpin ||
                    schedule == hipDeviceScheduleYield || schedule == hipDeviceScheduleBlockingSync,
                hipErrorInvalidValue);
        device.flags = schedule;
    });
}

hipError_t hipGetDeviceFlags(unsigned *flags) {
    return api(__func__, [&] {
        Device &device = runtime().current_device();
        require(flags != nullptr, hipErrorInvalidValue);
        *flags = device.flags;
    });
}

hipError_t hipDeviceSetCacheConfig(hipFuncCache_t config) {
    return api(__func__, [&] {
        Device &device = runtime().current_device();
        require(config >= hipFuncCachePreferNone && config <= hipFuncCachePreferEqual,
                hipErrorInvalidValue);
        device.cache_config = config;
    });
}

hipError_t hipDeviceGetCacheConfig(hipFuncCache_t *config) {
    return api(__func__, [&] {
        Device &device = runtime().current_device();
        require(config != nullptr, hipErrorInvalidValue);
        *config = device.cache_config;
    });
}

// LDS always has 4-byte banks: accepted without effect, as in real ROCm.
hipError_t hipDeviceSetSharedMemConfig(hipSharedMemConfig config) {
    return api(__func__, [&] {
        runtime();
        require(config >= hipSharedMemBankSizeDefault && config <= hipSharedMemBankSizeEightByte,
                hipErrorInvalidValue);
    });
}

hipError_t hipDeviceGetSharedMemConfig(hipSharedMemConfig *config) {
    return api(__func__, [&] {
        runtime();
        require(config != nullptr, hipErrorInvalidValue);
        *config = hipSharedMemBankSizeFourByte;
    });
}

hipError_t hipDeviceGetLimit(size_t *value, hipLimit_t which) {
    return api(__func__, [&] {
        Device &device = runtime().current_device();
        require(value != nullptr, hipErrorInvalidValue);
        *value = limit_of(device, which);
    });
}

hipError_t set_limit(int which, size_t value) asm("hipDeviceSetLimit");
hipError_t set_limit(int which, size_t value) {
    return api("hipDeviceSetLimit", [&] { limit_of(runtime().current_device(), which) = value; });
}
}
