// SPDX-License-Identifier: MIT
// Devices, and the contexts that HIP keeps for CUDA's sake: one per device, always there.
#include <algorithm>
#include <string_view>

#include "sim/hip/properties.h"
#include "sim/hip/runtime.h"

using namespace nw::hipsim;

static hipCtx_t context_of(Device &device) { return reinterpret_cast<hipCtx_t>(&device); }

hipError_t hipInit(unsigned flags) {
    return api(__func__, [&] {
        runtime();
        require(flags == 0, hipErrorInvalidValue);
    });
}

hipError_t hipGetDeviceCount(int *count) {
    return api(__func__, [&] {
        require(count != nullptr, hipErrorInvalidValue);
        *count = 0;
        *count = runtime().device_count();
    });
}

hipError_t hipGetDevice(int *ordinal) {
    return api(__func__, [&] {
        runtime();
        require(ordinal != nullptr, hipErrorInvalidValue);
        *ordinal = runtime().current_ordinal();
    });
}

hipError_t hipSetDevice(int ordinal) {
    return api(__func__, [&] { runtime().set_current_device(ordinal); });
}

hipError_t hipDeviceGet(hipDevice_t *device, int ordinal) {
    return api(__func__, [&] {
        runtime();
        require(device != nullptr, hipErrorInvalidValue);
        *device = runtime().device(ordinal).ordinal;
    });
}

hipError_t hipDeviceGetName(char *name, int bytes, hipDevice_t device) {
    return api(__func__, [&] {
        runtime();
        require(name && bytes > 0, hipErrorInvalidValue);
        const std::string_view full = runtime().device(device).facts.marketing_name;
        name[full.copy(name, static_cast<size_t>(bytes) - 1)] = '\0';
    });
}

hipError_t hipDeviceTotalMem(size_t *bytes, hipDevice_t device) {
    return api(__func__, [&] {
        runtime().device(device);
        require(bytes != nullptr, hipErrorInvalidValue);
        *bytes = total_memory();
    });
}

hipError_t hipDeviceSynchronize() {
    return api(__func__, [&] { return runtime().current_device().synchronize(); });
}

hipError_t hipDeviceGetStreamPriorityRange(int *least, int *greatest) {
    return api(__func__, [&] {
        runtime();
        if (least)
            *least = 0; // every stream is served alike
        if (greatest)
            *greatest = 0;
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
        Runtime &runtime = nw::hipsim::runtime();
        if (!context) // takes the thread's context away; device 0 is where threads start
            return runtime.set_current_device(0);
        for (int ordinal = 0; ordinal < runtime.device_count(); ++ordinal)
            if (context_of(runtime.device(ordinal)) == context)
                return runtime.set_current_device(ordinal);
        fail(hipErrorInvalidContext);
    });
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
