// SPDX-License-Identifier: MIT
// Contexts: one per device, as in AMD's runtime. Each thread has a stack of them; the top is the
// current device.
#include <vector>

#include "sim/hip/graph/capture.h"
#include "sim/hip/version.h"

namespace nw::hipsim {

static Device &device_with(hipCtx_t context) {
    Device *const device = runtime().device_of(context);
    require(device != nullptr, hipErrorInvalidContext);
    return *device;
}

// The stack below the current device.
static std::vector<int> &pushed() {
    thread_local std::vector<int> ordinals;
    return ordinals;
}

static void push(int ordinal) {
    pushed().push_back(runtime().current_ordinal());
    runtime().set_current_device(ordinal);
}

} // namespace nw::hipsim

using namespace nw::hipsim;

extern "C" {

hipError_t hipCtxCreate(hipCtx_t *context, unsigned flags, hipDevice_t ordinal) {
    return api(__func__, [&] {
        runtime();
        require(context != nullptr, hipErrorInvalidValue);
        Device &device = runtime().device(ordinal);
        device.flags = flags; // with those that hipSetDeviceFlags drops
        push(ordinal);
        *context = context_of(device);
    });
}

hipError_t hipCtxDestroy(hipCtx_t context) {
    return api(__func__, [&] {
        runtime();
        require(context != nullptr, hipErrorInvalidValue);
        Device &device = device_with(context);
        if (device.ordinal == runtime().current_ordinal() && !pushed().empty()) {
            runtime().set_current_device(pushed().back());
            pushed().pop_back();
        }
    });
}

hipError_t hipCtxPushCurrent(hipCtx_t context) {
    return api(__func__, [&] { push(device_with(context).ordinal); });
}

hipError_t hipCtxPopCurrent(hipCtx_t *context) {
    return api(__func__, [&] {
        Device &top = runtime().current_device();
        require(!pushed().empty(), hipErrorInvalidContext);
        runtime().set_current_device(pushed().back());
        pushed().pop_back();
        if (context)
            *context = context_of(top);
    });
}

hipError_t hipCtxGetCurrent(hipCtx_t *context) {
    return api(__func__, [&] {
        Device &device = runtime().current_device();
        require(context != nullptr, hipErrorInvalidValue);
        *context = context_of(device);
    });
}

hipError_t hipCtxSetCurrent(hipCtx_t context) {
    return api(__func__, [&] {
        if (context)
            runtime().set_current_device(device_with(context).ordinal);
        else // takes the thread's context away; device 0 is where threads start
            runtime().set_current_device(0);
    });
}

hipError_t hipCtxGetDevice(hipDevice_t *ordinal) {
    return api(__func__, [&] {
        runtime();
        require(ordinal != nullptr, hipErrorInvalidValue);
        *ordinal = runtime().current_ordinal();
    });
}

hipError_t context_version(hipCtx_t context, unsigned *version) asm("hipCtxGetApiVersion");
hipError_t context_version(hipCtx_t context, unsigned *version) {
    return api("hipCtxGetApiVersion", [&] {
        runtime();
        require(version != nullptr, hipErrorInvalidValue);
        if (context)
            device_with(context);
        constexpr unsigned the_only_one = 4; // as AMD's runtime says
        *version = the_only_one;
    });
}

hipError_t hipCtxSynchronize() {
    return api(__func__, [&] {
        Device &device = runtime().current_device();
        forbid_device_wait_in_capture();
        return device.synchronize();
    });
}

hipError_t hipCtxGetFlags(unsigned *flags) { return hipGetDeviceFlags(flags); }

hipError_t hipCtxGetCacheConfig(hipFuncCache_t *config) { return hipDeviceGetCacheConfig(config); }
hipError_t hipCtxSetCacheConfig(hipFuncCache_t config) { return hipDeviceSetCacheConfig(config); }

hipError_t hipCtxGetSharedMemConfig(hipSharedMemConfig *config) {
    return hipDeviceGetSharedMemConfig(config);
}
hipError_t hipCtxSetSharedMemConfig(hipSharedMemConfig config) {
    return hipDeviceSetSharedMemConfig(config);
}

hipError_t hipDevicePrimaryCtxRetain(hipCtx_t *context, hipDevice_t ordinal) {
    return api(__func__, [&] {
        Device &device = runtime().device(ordinal);
        require(context != nullptr, hipErrorInvalidValue);
        *context = context_of(device);
    });
}

hipError_t hipDevicePrimaryCtxRelease(hipDevice_t ordinal) {
    return api(__func__, [&] { runtime().device(ordinal); });
}

hipError_t hipDevicePrimaryCtxReset(hipDevice_t ordinal) {
    return api(__func__, [&] { runtime().device(ordinal); });
}

hipError_t hipDevicePrimaryCtxGetState(hipDevice_t ordinal, unsigned *flags, int *active) {
    return api(__func__, [&] {
        Device &device = runtime().device(ordinal);
        if (flags)
            *flags = device.flags;
        if (active)
            *active = ordinal == runtime().current_ordinal();
    });
}

// In real ROCm every existing device is active.
hipError_t hipDevicePrimaryCtxSetFlags(hipDevice_t ordinal, unsigned) {
    return api(__func__, [&] {
        runtime().device(ordinal);
        fail(hipErrorContextAlreadyInUse);
    });
}
}
