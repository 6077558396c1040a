// SPDX-License-Identifier: MIT
// hipMemset in all its forms.
#include <algorithm>

#include "sim/hip/runtime.h"

namespace nw::hipsim {

// `count` elements of T. The asynchronous forms name a stream; the others return when it is done.
template <class T> static Work check_fill(void *to, T value, u64 count) {
    require(to != nullptr, hipErrorInvalidValue);
    const auto block = runtime().blocks.find(to);
    require(block && count <= block->left(reinterpret_cast<u64>(to)) / sizeof(T),
            hipErrorInvalidValue);
    require(reinterpret_cast<u64>(to) % sizeof(T) == 0, hipErrorInvalidValue);
    return [=] {
        std::fill_n(static_cast<T *>(to), count, value);
        return hipSuccess;
    };
}

template <class T> static hipError_t fill(const char *call, void *to, T value, u64 count) {
    return api(call, [&] {
        Device &device = runtime().current_device();
        if (count == 0)
            return hipSuccess;
        return device.run_now(*device.null_stream(), check_fill(to, value, count));
    });
}

template <class T>
static hipError_t fill_async(const char *call, void *to, T value, u64 count, hipStream_t handle) {
    return api(call, [&] {
        const auto stream = runtime().stream(handle);
        if (count > 0)
            runtime().device_of(*stream).submit(*stream, check_fill(to, value, count));
    });
}

} // namespace nw::hipsim

using namespace nw;
using namespace nw::hipsim;

hipError_t hipMemset(void *to, int value, size_t bytes) {
    return fill(__func__, to, static_cast<u8>(value), bytes);
}
hipError_t hipMemsetD8(hipDeviceptr_t to, unsigned char value, size_t count) {
    return fill(__func__, to, u8{value}, count);
}
hipError_t hipMemsetD16(hipDeviceptr_t to, unsigned short value, size_t count) {
    return fill(__func__, to, u16{value}, count);
}
hipError_t hipMemsetD32(hipDeviceptr_t to, int value, size_t count) {
    return fill(__func__, to, static_cast<u32>(value), count);
}

hipError_t hipMemsetAsync(void *to, int value, size_t bytes, hipStream_t stream) {
    return fill_async(__func__, to, static_cast<u8>(value), bytes, stream);
}
hipError_t hipMemsetD8Async(hipDeviceptr_t to, unsigned char value, size_t count,
                            hipStream_t stream) {
    return fill_async(__func__, to, u8{value}, count, stream);
}
hipError_t hipMemsetD16Async(hipDeviceptr_t to, unsigned short value, size_t count,
                             hipStream_t stream) {
    return fill_async(__func__, to, u16{value}, count, stream);
}
hipError_t hipMemsetD32Async(hipDeviceptr_t to, int value, size_t count, hipStream_t stream) {
    return fill_async(__func__, to, static_cast<u32>(value), count, stream);
}
