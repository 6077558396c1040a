// SPDX-License-Identifier: MIT
#include "sim/hip/copy/copy.h"
#include "sim/hip/copy/fill.h"
#include "sim/hip/graph/capture.h"

namespace nw::hipsim {

template <class Make>
static hipError_t fill_stream_now(const char *call, hipStream_t handle, Make &&make) {
    return api(call, [&] {
        const auto stream = runtime().stream(handle);
        forbid_synchronous_in_capture();
        const Fill fill = make();
        if (fill.empty())
            return hipSuccess;
        if (stays_on_device(fill.at) && !runtime().device_of(*stream).idle(*stream)) {
            enqueue(stream, fill);
            return hipSuccess;
        }
        return fill_now(*stream, fill);
    });
}

template <class Make>
static hipError_t fill_in_order(const char *call, hipStream_t handle, Make &&make) {
    return api(call, [&] {
        const auto stream = runtime().stream(handle);
        const Fill fill = make();
        if (!fill.empty())
            enqueue(stream, fill);
    });
}

static u32 byte(int value) { return static_cast<unsigned char>(value); }

} // namespace nw::hipsim

using namespace nw;
using namespace nw::hipsim;

extern "C" {

hipError_t hipMemset(void *to, int value, size_t bytes) {
    return fill_stream_now(__func__, nullptr,
                           [&] { return linear_fill(to, 1, byte(value), bytes); });
}
hipError_t hipMemsetD8(hipDeviceptr_t to, unsigned char value, size_t count) {
    return fill_stream_now(__func__, nullptr, [&] { return linear_fill(to, 1, value, count); });
}
hipError_t hipMemsetD16(hipDeviceptr_t to, unsigned short value, size_t count) {
    return fill_stream_now(__func__, nullptr, [&] { return linear_fill(to, 2, value, count); });
}
hipError_t hipMemsetD32(hipDeviceptr_t to, int value, size_t count) {
    return fill_stream_now(__func__, nullptr,
                           [&] { return linear_fill(to, 4, static_cast<u32>(value), count); });
}
hipError_t hipMemset2D(void *to, size_t pitch, int value, size_t width, size_t height) {
    return fill_stream_now(__func__, nullptr,
                           [&] { return rows_fill(to, pitch, 1, byte(value), width, height); });
}
hipError_t hipMemset3D(hipPitchedPtr to, int value, hipExtent extent) {
    return fill_stream_now(__func__, nullptr, [&] { return box_fill(to, byte(value), extent); });
}

hipError_t hipMemsetAsync(void *to, int value, size_t bytes, hipStream_t stream) {
    return fill_in_order(__func__, stream, [&] { return linear_fill(to, 1, byte(value), bytes); });
}
hipError_t hipMemsetD8Async(hipDeviceptr_t to, unsigned char value, size_t count,
                            hipStream_t stream) {
    return fill_in_order(__func__, stream, [&] { return linear_fill(to, 1, value, count); });
}
hipError_t hipMemsetD16Async(hipDeviceptr_t to, unsigned short value, size_t count,
                             hipStream_t stream) {
    return fill_in_order(__func__, stream, [&] { return linear_fill(to, 2, value, count); });
}
hipError_t hipMemsetD32Async(hipDeviceptr_t to, int value, size_t count, hipStream_t stream) {
    return fill_in_order(__func__, stream,
                         [&] { return linear_fill(to, 4, static_cast<u32>(value), count); });
}
hipError_t hipMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height,
                            hipStream_t stream) {
    return fill_in_order(__func__, stream,
                         [&] { return rows_fill(to, pitch, 1, byte(value), width, height); });
}
hipError_t hipMemset3DAsync(hipPitchedPtr to, int value, hipExtent extent, hipStream_t stream) {
    return fill_in_order(__func__, stream, [&] { return box_fill(to, byte(value), extent); });
}

// Since HIP 7.1.
#define ROWS_OF_ELEMENTS(name, Type, bytes)                                                        \
    hipError_t name(hipDeviceptr_t to, size_t pitch, Type value, size_t width, size_t height) {    \
        return fill_stream_now(__func__, nullptr,                                                  \
                               [&] { return rows_fill(to, pitch, bytes, value, width, height); }); \
    }                                                                                              \
    hipError_t name##Async(hipDeviceptr_t to, size_t pitch, Type value, size_t width,              \
                           size_t height, hipStream_t stream) {                                    \
        return fill_in_order(__func__, stream,                                                     \
                             [&] { return rows_fill(to, pitch, bytes, value, width, height); });   \
    }
ROWS_OF_ELEMENTS(hipMemsetD2D8, unsigned char, 1)
ROWS_OF_ELEMENTS(hipMemsetD2D16, unsigned short, 2)
ROWS_OF_ELEMENTS(hipMemsetD2D32, unsigned, 4)
#undef ROWS_OF_ELEMENTS
}
