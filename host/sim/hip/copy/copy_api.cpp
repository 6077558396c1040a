// SPDX-License-Identifier: MIT
// hipMemcpy in all forms except those for symbols.
#include "sim/hip/copy/copy.h"
#include "sim/hip/graph/capture.h"

namespace nw::hipsim {

// Every form is one call of these two: checks first, then the copy, in order with the stream.
template <class Make> static hipError_t now(const char *call, hipStream_t stream, Make &&make) {
    return api(call, [&] {
        runtime();
        return copy_now(stream, make());
    });
}

template <class Make> static hipError_t later(const char *call, hipStream_t stream, Make &&make) {
    return api(call, [&] {
        runtime().stream(stream);
        return copy_in_order(stream, make());
    });
}

template <class Params> static const Params &given(const Params *params) {
    require(params != nullptr, hipErrorInvalidValue);
    return *params;
}

static void check_devices(int first, int second) {
    runtime().device(first);
    runtime().device(second);
}

} // namespace nw::hipsim

using namespace nw::hipsim;

extern "C" {

// ---- one row

hipError_t hipMemcpy(void *to, const void *from, size_t bytes, hipMemcpyKind kind) {
    return now(__func__, nullptr, [&] { return linear_copy(to, from, bytes, kind); });
}

hipError_t hipMemcpyAsync(void *to, const void *from, size_t bytes, hipMemcpyKind kind,
                          hipStream_t stream) {
    return later(__func__, stream, [&] { return linear_copy(to, from, bytes, kind); });
}

hipError_t hipMemcpyWithStream(void *to, const void *from, size_t bytes, hipMemcpyKind kind,
                               hipStream_t stream) {
    return now(__func__, stream, [&] { return linear_copy(to, from, bytes, kind); });
}

hipError_t hipMemcpyDtoH(void *to, hipDeviceptr_t from, size_t bytes) {
    return now(__func__, nullptr,
               [&] { return linear_copy(to, from, bytes, hipMemcpyDeviceToHost); });
}

hipError_t hipMemcpyDtoD(hipDeviceptr_t to, hipDeviceptr_t from, size_t bytes) {
    return now(__func__, nullptr,
               [&] { return linear_copy(to, from, bytes, hipMemcpyDeviceToDevice); });
}

hipError_t hipMemcpyDtoHAsync(void *to, hipDeviceptr_t from, size_t bytes, hipStream_t stream) {
    return later(__func__, stream,
                 [&] { return linear_copy(to, from, bytes, hipMemcpyDeviceToHost); });
}

hipError_t hipMemcpyDtoDAsync(hipDeviceptr_t to, hipDeviceptr_t from, size_t bytes,
                              hipStream_t stream) {
    return later(__func__, stream,
                 [&] { return linear_copy(to, from, bytes, hipMemcpyDeviceToDevice); });
}

// HIP 7's headers made the source const.
hipError_t host_to_device(hipDeviceptr_t to, const void *from, size_t bytes) asm("hipMemcpyHtoD");
hipError_t host_to_device(hipDeviceptr_t to, const void *from, size_t bytes) {
    return now("hipMemcpyHtoD", nullptr,
               [&] { return linear_copy(to, from, bytes, hipMemcpyHostToDevice); });
}

hipError_t host_to_device_async(hipDeviceptr_t to, const void *from, size_t bytes,
                                hipStream_t stream) asm("hipMemcpyHtoDAsync");
hipError_t host_to_device_async(hipDeviceptr_t to, const void *from, size_t bytes,
                                hipStream_t stream) {
    return later("hipMemcpyHtoDAsync", stream,
                 [&] { return linear_copy(to, from, bytes, hipMemcpyHostToDevice); });
}

hipError_t hipMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t bytes) {
    return now(__func__, nullptr, [&] {
        check_devices(to_device, from_device);
        return linear_copy(to, from, bytes, hipMemcpyDeviceToDevice);
    });
}

hipError_t hipMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device,
                              size_t bytes, hipStream_t stream) {
    return later(__func__, stream, [&] {
        check_devices(to_device, from_device);
        return linear_copy(to, from, bytes, hipMemcpyDeviceToDevice);
    });
}

// Since HIP 7.1, with types of their own.
struct PeerBox { // hipMemcpy3DPeerParms
    hipArray_t from_array;
    hipPos from_at;
    hipPitchedPtr from;
    int from_device;
    hipArray_t to_array;
    hipPos to_at;
    hipPitchedPtr to;
    int to_device;
    hipExtent extent;
};

static Copy peer_box_copy(const PeerBox *params) {
    const PeerBox &p = given(params);
    check_devices(p.to_device, p.from_device);
    hipMemcpy3DParms box{};
    box.srcArray = reinterpret_cast<decltype(box.srcArray)>(p.from_array);
    box.dstArray = reinterpret_cast<decltype(box.dstArray)>(p.to_array);
    box.srcPos = p.from_at, box.srcPtr = p.from;
    box.dstPos = p.to_at, box.dstPtr = p.to;
    box.extent = p.extent;
    box.kind = hipMemcpyDeviceToDevice;
    return box_copy(box);
}

hipError_t peer_box_now(const PeerBox *params) asm("hipMemcpy3DPeer");
hipError_t peer_box_now(const PeerBox *params) {
    return now("hipMemcpy3DPeer", nullptr, [&] { return peer_box_copy(params); });
}

hipError_t peer_box_later(const PeerBox *params, hipStream_t stream) asm("hipMemcpy3DPeerAsync");
hipError_t peer_box_later(const PeerBox *params, hipStream_t stream) {
    return later("hipMemcpy3DPeerAsync", stream, [&] { return peer_box_copy(params); });
}

// Attributes are hints, which real HIP doesn't use either. All copies are checked before the first
// one is queued; `failed` is the first bad one.
hipError_t batch(void **to, void **from, size_t *bytes, size_t count, void *attributes,
                 size_t *attribute_starts, size_t attribute_count, size_t *failed,
                 hipStream_t stream) asm("hipMemcpyBatchAsync");
hipError_t batch(void **to, void **from, size_t *bytes, size_t count, void *, size_t *, size_t,
                 size_t *failed, hipStream_t stream) {
    return api("hipMemcpyBatchAsync", [&] {
        runtime().stream(stream);
        require(to && from && bytes && count > 0, hipErrorInvalidValue);
        std::vector<Copy> copies;
        for (size_t i = 0; i < count; ++i) {
            if (failed)
                *failed = i;
            require(bytes[i] > 0, hipErrorInvalidValue);
            copies.push_back(linear_copy(to[i], from[i], bytes[i], hipMemcpyDefault));
        }
        if (failed)
            *failed = ~size_t{0};
        for (const Copy &copy : copies)
            if (const hipError_t error = copy_in_order(stream, copy); error != hipSuccess)
                return error;
        return hipSuccess;
    });
}

// ---- rows

hipError_t hipMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                       size_t height, hipMemcpyKind kind) {
    return now(__func__, nullptr,
               [&] { return rows_copy(to, to_pitch, from, from_pitch, width, height, kind); });
}

hipError_t hipMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                            size_t width, size_t height, hipMemcpyKind kind, hipStream_t stream) {
    return later(__func__, stream,
                 [&] { return rows_copy(to, to_pitch, from, from_pitch, width, height, kind); });
}

hipError_t hipMemcpyParam2D(const hip_Memcpy2D *params) {
    return now(__func__, nullptr, [&] { return driver_rows_copy(params); });
}

hipError_t hipMemcpyParam2DAsync(const hip_Memcpy2D *params, hipStream_t stream) {
    return later(__func__, stream, [&] { return driver_rows_copy(params); });
}

hipError_t hipDrvMemcpy2DUnaligned(const hip_Memcpy2D *params) {
    return now(__func__, nullptr, [&] { return driver_rows_copy(params); });
}

// ---- boxes

hipError_t hipMemcpy3D(const hipMemcpy3DParms *params) {
    return now(__func__, nullptr, [&] { return box_copy(given(params)); });
}

hipError_t hipMemcpy3DAsync(const hipMemcpy3DParms *params, hipStream_t stream) {
    return later(__func__, stream, [&] { return box_copy(given(params)); });
}

hipError_t hipDrvMemcpy3D(const HIP_MEMCPY3D *params) {
    return now(__func__, nullptr, [&] { return driver_box_copy(params); });
}

hipError_t hipDrvMemcpy3DAsync(const HIP_MEMCPY3D *params, hipStream_t stream) {
    return later(__func__, stream, [&] { return driver_box_copy(params); });
}
}
