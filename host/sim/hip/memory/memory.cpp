// SPDX-License-Identifier: MIT
// Allocation.
#include <algorithm>

#include "sim/hip/device/properties.h"
#include "sim/hip/graph/capture.h"
#include "sim/hip/ipc/shared_memory.h"
#include "sim/hip/memory/allocate.h"

namespace nw::hipsim {

constexpr u64 pitch_alignment = 256; // bytes; of rows that hipMallocPitch pads

// Calls `make` for a size that is not 0; a size of 0 gives a null pointer.
template <class Make> static void allocate_into(void **pointer, u64 bytes, Make make) {
    require(pointer != nullptr, hipErrorInvalidValue);
    forbid_in_capture();
    *pointer = nullptr;
    if (bytes > 0)
        *pointer = make();
}

static void allocate_host(void **pointer, u64 bytes, unsigned flags) {
    constexpr unsigned known = hipHostMallocPortable | hipHostMallocMapped |
                               hipHostMallocWriteCombined | hipHostMallocNumaUser |
                               hipHostMallocCoherent | hipHostMallocNonCoherent;
    constexpr unsigned both = hipHostMallocCoherent | hipHostMallocNonCoherent;
    runtime();
    require((flags & ~known) == 0 && (flags & both) != both, hipErrorInvalidValue);
    allocate_into(pointer, bytes, [&] { return allocate_shared(bytes, Block::Kind::host, flags); });
}

static void allocate_plain(void **pointer, u64 bytes) {
    Device &device = runtime().current_device();
    allocate_into(pointer, bytes,
                  [&] { return unwritten(device, allocate_device(device, bytes)); });
}

static void allocate_rows(void **pointer, size_t *pitch, u64 width, u64 height, u64 depth) {
    runtime();
    require(pointer && pitch, hipErrorInvalidValue);
    *pitch = 0;
    u64 bytes = 0;
    const u64 row = width <= UINT64_MAX - pitch_alignment ? round_up(width, pitch_alignment) : 0;
    require(width == 0 || row > 0, hipErrorOutOfMemory);
    require(!__builtin_mul_overflow(row, height, &bytes) &&
                !__builtin_mul_overflow(bytes, depth, &bytes),
            hipErrorOutOfMemory);
    allocate_plain(pointer, bytes);
    *pitch = row;
}

static void free_host(void *pointer) {
    runtime();
    if (!pointer)
        return;
    const Block block = block_at(pointer, Block::Kind::host);
    require(!block.borrowed, hipErrorInvalidValue); // its owner frees it
    release(block);
}

} // namespace nw::hipsim

using namespace nw;
using namespace nw::hipsim;

extern "C" {

hipError_t hipMalloc(void **pointer, size_t bytes) {
    return api(__func__, [&] { allocate_plain(pointer, bytes); });
}

// All memory is coherent between host and devices here, so the flags have no effect.
hipError_t hipExtMallocWithFlags(void **pointer, size_t bytes, unsigned flags) {
    return api(__func__, [&] {
        constexpr unsigned fine_grained = 1, signal = 2, uncached = 3, contiguous = 4;
        require(flags == 0 || flags == fine_grained || flags == uncached || flags == contiguous ||
                    (flags == signal && bytes == sizeof(u64)),
                hipErrorInvalidValue);
        allocate_plain(pointer, bytes);
    });
}

hipError_t hipMallocManaged(void **pointer, size_t bytes, unsigned flags) {
    return api(__func__, [&] {
        runtime();
        require(bytes > 0, hipErrorInvalidValue);
        require(flags == hipMemAttachGlobal || flags == hipMemAttachHost, hipErrorInvalidValue);
        allocate_into(pointer, bytes,
                      [&] { return allocate_shared(bytes, Block::Kind::managed, flags); });
    });
}

hipError_t hipHostMalloc(void **pointer, size_t bytes, unsigned flags) {
    return api(__func__, [&] { allocate_host(pointer, bytes, flags); });
}

hipError_t hipHostAlloc(void **pointer, size_t bytes, unsigned flags) {
    return api(__func__, [&] { allocate_host(pointer, bytes, flags); });
}

// Of HIP 6.3 alone: its headers' hipHostMalloc<T> calls it.
extern "C" hipError_t hipExtHostAlloc(void **pointer, size_t bytes, unsigned flags) {
    return api(__func__, [&] { allocate_host(pointer, bytes, flags); });
}

hipError_t hipMallocHost(void **pointer, size_t bytes) {
    return api(__func__, [&] { allocate_host(pointer, bytes, hipHostMallocDefault); });
}

hipError_t hipMemAllocHost(void **pointer, size_t bytes) {
    return api(__func__, [&] { allocate_host(pointer, bytes, hipHostMallocDefault); });
}

hipError_t hipMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height) {
    return api(__func__, [&] { allocate_rows(pointer, pitch, width, height, 1); });
}

hipError_t hipMemAllocPitch(hipDeviceptr_t *pointer, size_t *pitch, size_t width, size_t height,
                            unsigned element_bytes) {
    return api(__func__, [&] {
        require(element_bytes == 4 || element_bytes == 8 || element_bytes == 16,
                hipErrorInvalidValue);
        allocate_rows(reinterpret_cast<void **>(pointer), pitch, width, height, 1);
    });
}

hipError_t hipMalloc3D(hipPitchedPtr *pitched, hipExtent extent) {
    return api(__func__, [&] {
        require(pitched != nullptr, hipErrorInvalidValue);
        hipPitchedPtr made{};
        allocate_rows(&made.ptr, &made.pitch, extent.width, extent.height, extent.depth);
        made.xsize = extent.width;
        made.ysize = extent.height;
        *pitched = made;
    });
}

hipError_t hipFree(void *pointer) {
    return api(__func__, [&] {
        runtime();
        forbid_in_capture();
        if (!pointer)
            return;
        if (imports().has_opened(pointer))
            fail(hipErrorInvalidValue, "another process's memory: hipIpcCloseMemHandle closes it");
        const auto block = runtime().blocks.find(pointer);
        const bool shared = block && (block->kind == Block::Kind::managed ||
                                      (block->kind == Block::Kind::host && !block->borrowed));
        release(block_at(pointer, shared ? block->kind : Block::Kind::device));
    });
}

hipError_t hipHostFree(void *pointer) {
    return api(__func__, [&] { free_host(pointer); });
}

hipError_t hipFreeHost(void *pointer) {
    return api(__func__, [&] { free_host(pointer); });
}

hipError_t hipMemGetInfo(size_t *free, size_t *total) {
    return api(__func__, [&] {
        Device &device = runtime().current_device();
        if (total)
            *total = total_memory();
        if (free)
            *free = total_memory() - std::min<u64>(total_memory(), device.memory.bytes_in_use());
    });
}
}
