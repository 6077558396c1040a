// SPDX-License-Identifier: MIT
// Shared by these programs: HIP's own headers, and their exit.
#pragma once
#include <hip/hip_runtime.h>

#include "device_library.h"

#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        const hipError_t error = (call);                                                           \
        if (error != hipSuccess) {                                                                 \
            std::printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, hipGetErrorName(error));     \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)

template <class T> struct OnDevice {
    explicit OnDevice(const std::vector<T> &values) : count(values.size()) {
        CHECK(hipMalloc(&data, count * sizeof(T)));
        CHECK(hipMemcpy(data, values.data(), count * sizeof(T), hipMemcpyHostToDevice));
    }
    OnDevice(const OnDevice &) = delete;
    ~OnDevice() { CHECK(hipFree(data)); }

    std::vector<T> values() const {
        std::vector<T> host(count);
        CHECK(hipMemcpy(host.data(), data, count * sizeof(T), hipMemcpyDeviceToHost));
        return host;
    }

    size_t count;
    T *data = nullptr;
};

inline int judge(size_t wrong) {
    std::printf("%zu wrong\n", wrong);
    return wrong != 0;
}
