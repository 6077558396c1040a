// SPDX-License-Identifier: MIT
// hipMemcpy in all its forms. A device address is a host address, so the kind is only checked.
#include <cstring>

#include "sim/hip/host_copy.h"
#include "sim/hip/runtime.h"

namespace nw::hipsim {

namespace {

struct Copy {
    void *to;
    const void *from;
    u64 bytes;
    bool to_known, from_known; // our allocations; anything else is the caller's pageable memory

    bool pageable() const { return !to_known || !from_known; }
    hipError_t run() const {
        bool ok = true;
        if (!from_known)
            ok = copy_from_caller(to, from, bytes);
        else if (!to_known)
            ok = copy_to_caller(to, from, bytes);
        else
            std::memmove(to, from, bytes);
        if (!ok)
            say("a copy met host memory that is not there");
        return ok ? hipSuccess : hipErrorInvalidValue;
    }
};

} // namespace

static Copy check_copy(void *to, const void *from, u64 bytes, hipMemcpyKind kind) {
    constexpr int without_cu = 1024; // hipMemcpyDeviceToDeviceNoCU, since HIP 6
    require(to && from, hipErrorInvalidValue);
    require((kind >= hipMemcpyHostToHost && kind <= hipMemcpyDefault) || kind == without_cu,
            hipErrorInvalidMemcpyDirection);
    const Blocks &blocks = runtime().blocks;
    const auto to_block = blocks.find(to), from_block = blocks.find(from);
    for (const auto &[block, at] :
         {std::pair{to_block, static_cast<const void *>(to)}, {from_block, from}})
        require(!block || bytes <= block->left(reinterpret_cast<u64>(at)), hipErrorInvalidValue);
    // Neither is ours: a device pointer was freed or never was one.
    require(to_block || from_block || kind == hipMemcpyHostToHost || kind == hipMemcpyDefault,
            hipErrorInvalidValue);
    return {to, from, bytes, to_block.has_value(), from_block.has_value()};
}

static hipError_t copy(const char *call, void *to, const void *from, u64 bytes,
                       hipMemcpyKind kind) {
    return api(call, [&] {
        Device &device = runtime().current_device();
        if (bytes == 0)
            return hipSuccess;
        const Copy copy = check_copy(to, from, bytes, kind);
        return device.run_now(*device.null_stream(), [&] { return copy.run(); });
    });
}

// Pageable memory is copied before the call returns, as on real ROCm: the caller may reuse it.
static hipError_t copy_async(const char *call, void *to, const void *from, u64 bytes,
                             hipMemcpyKind kind, hipStream_t handle) {
    return api(call, [&] {
        const auto stream = runtime().stream(handle);
        Device &device = runtime().device_of(*stream);
        if (bytes == 0)
            return hipSuccess;
        const Copy copy = check_copy(to, from, bytes, kind);
        if (copy.pageable())
            return device.run_now(*stream, [&] { return copy.run(); });
        device.submit(*stream, [copy] { return copy.run(); });
        return hipSuccess;
    });
}

} // namespace nw::hipsim

using namespace nw::hipsim;

hipError_t hipMemcpy(void *to, const void *from, size_t bytes, hipMemcpyKind kind) {
    return copy(__func__, to, from, bytes, kind);
}

hipError_t hipMemcpyAsync(void *to, const void *from, size_t bytes, hipMemcpyKind kind,
                          hipStream_t stream) {
    return copy_async(__func__, to, from, bytes, kind, stream);
}

hipError_t hipMemcpyDtoH(void *to, hipDeviceptr_t from, size_t bytes) {
    return copy(__func__, to, from, bytes, hipMemcpyDeviceToHost);
}

hipError_t hipMemcpyDtoD(hipDeviceptr_t to, hipDeviceptr_t from, size_t bytes) {
    return copy(__func__, to, from, bytes, hipMemcpyDeviceToDevice);
}

hipError_t hipMemcpyDtoHAsync(void *to, hipDeviceptr_t from, size_t bytes, hipStream_t stream) {
    return copy_async(__func__, to, from, bytes, hipMemcpyDeviceToHost, stream);
}

hipError_t hipMemcpyDtoDAsync(hipDeviceptr_t to, hipDeviceptr_t from, size_t bytes,
                              hipStream_t stream) {
    return copy_async(__func__, to, from, bytes, hipMemcpyDeviceToDevice, stream);
}

// HIP 7's headers made the source const.
extern "C" {

hipError_t host_to_device(hipDeviceptr_t to, const void *from, size_t bytes) asm("hipMemcpyHtoD");
hipError_t host_to_device(hipDeviceptr_t to, const void *from, size_t bytes) {
    return copy("hipMemcpyHtoD", to, from, bytes, hipMemcpyHostToDevice);
}

hipError_t host_to_device_async(hipDeviceptr_t to, const void *from, size_t bytes,
                                hipStream_t stream) asm("hipMemcpyHtoDAsync");
hipError_t host_to_device_async(hipDeviceptr_t to, const void *from, size_t bytes,
                                hipStream_t stream) {
    return copy_async("hipMemcpyHtoDAsync", to, from, bytes, hipMemcpyHostToDevice, stream);
}
}
