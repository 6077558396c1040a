// SPDX-License-Identifier: MIT
// Allocation, and what a pointer is.
#include <algorithm>
#include <cstring>

#include "sim/hip/properties.h"
#include "sim/hip/runtime.h"
#include "sim/hip/version.h"

namespace nw::hipsim {

static void *allocate(sim::Memory &memory, u64 bytes) {
    if (bytes > total_memory() - std::min(total_memory(), memory.bytes_in_use()))
        fail(hipErrorOutOfMemory);
    void *const at = memory.allocate(bytes);
    require(at != nullptr, hipErrorOutOfMemory);
    return at;
}

// Frees wait for what may still use the memory, but leave the errors of that to calls whose results
// people look at.
static void release_device(Runtime &runtime, const Block &block) {
    runtime.wait();
    runtime.blocks.remove(block.begin);
    runtime.device(block.device).memory.release(reinterpret_cast<void *>(block.begin));
}

static void release_host(Runtime &runtime, const Block &block) {
    void *const at = reinterpret_cast<void *>(block.begin);
    runtime.wait();
    for (int ordinal = 0; ordinal < runtime.device_count(); ++ordinal)
        runtime.device(ordinal).memory.disown(at);
    runtime.blocks.remove(block.begin);
    runtime.host_memory.release(at);
}

// The block that starts at `pointer` and is of `kind`.
static Block owned_block(Runtime &runtime, const void *pointer, Block::Kind kind) {
    const auto block = runtime.blocks.find(pointer);
    require(block && block->kind == kind && block->begin == reinterpret_cast<u64>(pointer),
            hipErrorInvalidValue);
    return *block;
}

// hipMemoryType was renumbered in ROCm 6.
static int memory_type(Block::Kind kind) {
    const bool host = kind == Block::Kind::host;
    if (host_major() == 5)
        return host ? 0 : 1;
    return host ? 1 : 2;
}

template <class T> static void give(void *to, T value) { *static_cast<T *>(to) = value; }

static void pointer_attribute(void *to, hipPointer_attribute which, const Block &block,
                              u64 address) {
    switch (which) {
    case HIP_POINTER_ATTRIBUTE_MEMORY_TYPE:
        return give<int>(to, memory_type(block.kind));
    case HIP_POINTER_ATTRIBUTE_DEVICE_POINTER:
        return give<u64>(to, address);
    case HIP_POINTER_ATTRIBUTE_HOST_POINTER:
        require(block.kind == Block::Kind::host, hipErrorInvalidValue);
        return give<u64>(to, address);
    case HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case HIP_POINTER_ATTRIBUTE_IS_MANAGED:
    case HIP_POINTER_ATTRIBUTE_IS_LEGACY_HIP_IPC_CAPABLE:
    case HIP_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
        return give<bool>(to, false);
    case HIP_POINTER_ATTRIBUTE_BUFFER_ID:
        return give<u64>(to, block.id);
    case HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        return give<int>(to, block.device);
    case HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        return give<u64>(to, block.begin);
    case HIP_POINTER_ATTRIBUTE_RANGE_SIZE:
        return give<u64>(to, block.size);
    case HIP_POINTER_ATTRIBUTE_MAPPED:
        return give<bool>(to, true);
    default:
        fail(hipErrorNotSupported);
    }
}

} // namespace nw::hipsim

using namespace nw;
using namespace nw::hipsim;

hipError_t hipMalloc(void **pointer, size_t bytes) {
    return api(__func__, [&] {
        Device &device = runtime().current_device();
        require(pointer != nullptr, hipErrorInvalidValue);
        *pointer = nullptr;
        if (bytes == 0)
            return;
        void *const at = allocate(device.memory, bytes);
        runtime().blocks.add(
            {reinterpret_cast<u64>(at), bytes, Block::Kind::device, device.ordinal});
        *pointer = at;
    });
}

hipError_t hipHostMalloc(void **pointer, size_t bytes, unsigned flags) {
    return api(__func__, [&] {
        Runtime &runtime = hipsim::runtime();
        require(pointer != nullptr, hipErrorInvalidValue);
        *pointer = nullptr;
        constexpr unsigned known = hipHostMallocPortable | hipHostMallocMapped |
                                   hipHostMallocWriteCombined | hipHostMallocNumaUser |
                                   hipHostMallocCoherent | hipHostMallocNonCoherent;
        constexpr unsigned both = hipHostMallocCoherent | hipHostMallocNonCoherent;
        require((flags & ~known) == 0 && (flags & both) != both, hipErrorInvalidValue);
        if (bytes == 0)
            return;
        void *const at = allocate(runtime.host_memory, bytes);
        for (int ordinal = 0; ordinal < runtime.device_count(); ++ordinal)
            runtime.device(ordinal).memory.adopt(at, bytes);
        runtime.blocks.add({reinterpret_cast<u64>(at), bytes, Block::Kind::host,
                            runtime.current_ordinal(), flags});
        *pointer = at;
    });
}

hipError_t hipFree(void *pointer) {
    return api(__func__, [&] {
        Runtime &runtime = hipsim::runtime();
        if (pointer)
            release_device(runtime, owned_block(runtime, pointer, Block::Kind::device));
    });
}

hipError_t hipHostFree(void *pointer) {
    return api(__func__, [&] {
        Runtime &runtime = hipsim::runtime();
        if (pointer)
            release_host(runtime, owned_block(runtime, pointer, Block::Kind::host));
    });
}

hipError_t hipMemGetInfo(size_t *free, size_t *total) {
    return api(__func__, [&] {
        Device &device = runtime().current_device();
        require(free && total, hipErrorInvalidValue);
        *total = total_memory();
        *free = *total - std::min<u64>(*total, device.memory.bytes_in_use());
    });
}

hipError_t hipPointerGetAttribute(void *data, hipPointer_attribute which, hipDeviceptr_t pointer) {
    return api(__func__, [&] {
        runtime();
        require(data && pointer, hipErrorInvalidValue);
        const auto block = runtime().blocks.find(pointer);
        require(block.has_value(), hipErrorInvalidValue);
        pointer_attribute(data, which, *block, reinterpret_cast<u64>(pointer));
    });
}

hipError_t hipPointerGetAttributes(hipPointerAttribute_t *attributes, const void *pointer) {
    struct Layout { // the same in HIP 5, 6 and 7, but for names and the numbers of `type`
        int type, device;
        const void *device_pointer, *host_pointer;
        int is_managed;
        unsigned flags;
    };
    static_assert(sizeof(Layout) == sizeof *attributes);
    return api(__func__, [&] {
        runtime();
        require(attributes && pointer, hipErrorInvalidValue);
        const auto block = runtime().blocks.find(pointer);
        Layout layout{};
        if (block) {
            const bool host = block->kind == Block::Kind::host;
            layout = {memory_type(block->kind),
                      block->device,
                      pointer,
                      host ? pointer : nullptr,
                      0,
                      block->flags};
        } else { // HIP 6 describes it as unregistered memory, HIP 5 refuses
            require(host_major() >= 6, hipErrorInvalidValue);
            layout.device = -2; // hipInvalidDeviceId
        }
        std::memcpy(static_cast<void *>(attributes), &layout, sizeof layout);
    });
}
