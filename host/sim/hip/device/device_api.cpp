// SPDX-License-Identifier: MIT
// Devices: count, current device, names.
#include <algorithm>
#include <string_view>

#include "sim/hip/device/properties.h"
#include "sim/hip/graph/capture.h"

using namespace nw::hipsim;

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
    return api(__func__, [&] {
        Device &device = runtime().current_device();
        forbid_device_wait_in_capture();
        return device.synchronize();
    });
}

hipError_t hipDeviceGetStreamPriorityRange(int *least, int *greatest) {
    return api(__func__, [&] {
        runtime();
        if (least)
            *least = least_priority;
        if (greatest)
            *greatest = greatest_priority;
    });
}
