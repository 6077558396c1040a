// SPDX-License-Identifier: MIT
// Pointer attributes.
#include <cstring>

#include "sim/hip/runtime.h"
#include "sim/hip/version.h"

namespace nw::hipsim {

static bool host_visible(Block::Kind kind) {
    return kind == Block::Kind::host || kind == Block::Kind::managed;
}

// hipMemoryType was renumbered in ROCm 6.
static int memory_type(Block::Kind kind) {
    const bool five = host_major() == 5;
    switch (kind) {
    case Block::Kind::host:
        return five ? 0 : 1;
    case Block::Kind::managed:
        return five ? 4 : 3;
    case Block::Kind::device:
    case Block::Kind::global:
    case Block::Kind::mapped:
        break;
    }
    return five ? 1 : 2;
}
static int array_type() { return host_major() == 5 ? 2 : 10; }

static constexpr int no_device = -2; // hipInvalidDeviceId

template <class T> static void give(void *to, T value) { *static_cast<T *>(to) = value; }

static void pointer_attribute(void *to, hipPointer_attribute which, const Block &block,
                              u64 address) {
    switch (which) {
    case HIP_POINTER_ATTRIBUTE_MEMORY_TYPE:
        return give<int>(to, memory_type(block.kind));
    case HIP_POINTER_ATTRIBUTE_DEVICE_POINTER:
        return give<u64>(to, address);
    case HIP_POINTER_ATTRIBUTE_HOST_POINTER:
        require(host_visible(block.kind), hipErrorInvalidValue);
        return give<u64>(to, address);
    case HIP_POINTER_ATTRIBUTE_IS_MANAGED:
        return give<bool>(to, block.kind == Block::Kind::managed);
    case HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS:
        return give<bool>(to, block.synchronous);
    case HIP_POINTER_ATTRIBUTE_BUFFER_ID:
        return give<u64>(to, block.id);
    case HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        return give<int>(to, block.device);
    case HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        return give<u64>(to, block.begin);
    case HIP_POINTER_ATTRIBUTE_RANGE_SIZE:
        return give<u32>(to,
                         static_cast<u32>(block.size)); // 4 bytes on AMD, whatever the comment says
    case HIP_POINTER_ATTRIBUTE_MAPPED:
        return give<bool>(to, true);
    case HIP_POINTER_ATTRIBUTE_ACCESS_FLAGS:
        return give<u32>(to, block.flags);
    case HIP_POINTER_ATTRIBUTE_CONTEXT: // not supported by ROCm either
    case HIP_POINTER_ATTRIBUTE_P2P_TOKENS:
    case HIP_POINTER_ATTRIBUTE_IS_LEGACY_HIP_IPC_CAPABLE:
    case HIP_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
    case HIP_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case HIP_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        fail(hipErrorNotSupported);
    default:
        fail(hipErrorInvalidValue);
    }
}

// Attributes of memory that HIP doesn't know. The type alone is one, from HIP 7
// on.
static void unknown_attribute(void *to, hipPointer_attribute which) {
    switch (which) {
    case HIP_POINTER_ATTRIBUTE_MEMORY_TYPE:
        give<int>(to, 0); // hipMemoryTypeUnregistered
        return require(host_major() >= 7, hipErrorInvalidValue);
    case HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        give<int>(to, no_device);
        break;
    case HIP_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case HIP_POINTER_ATTRIBUTE_HOST_POINTER:
    case HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        give<u64>(to, 0);
        break;
    case HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case HIP_POINTER_ATTRIBUTE_IS_MANAGED:
    case HIP_POINTER_ATTRIBUTE_MAPPED:
        give<bool>(to, false);
        break;
    case HIP_POINTER_ATTRIBUTE_BUFFER_ID: // 4 bytes on AMD, these three
    case HIP_POINTER_ATTRIBUTE_RANGE_SIZE:
    case HIP_POINTER_ATTRIBUTE_ACCESS_FLAGS:
        give<u32>(to, 0);
        break;
    default:
        break;
    }
    fail(hipErrorInvalidValue);
}

} // namespace nw::hipsim

using namespace nw;
using namespace nw::hipsim;

extern "C" {

hipError_t hipPointerGetAttribute(void *data, hipPointer_attribute which, hipDeviceptr_t pointer) {
    return api(__func__, [&] {
        runtime();
        require(data && pointer, hipErrorInvalidValue);
        if (which == HIP_POINTER_ATTRIBUTE_MEMORY_TYPE && runtime().arrays.find(pointer))
            return give<int>(data, array_type());
        if (const auto block = runtime().blocks.find(pointer))
            pointer_attribute(data, which, *block, reinterpret_cast<u64>(pointer));
        else
            unknown_attribute(data, which);
    });
}

// A success whatever the pointer is.
hipError_t hipDrvPointerGetAttributes(unsigned count, hipPointer_attribute *which, void **data,
                                      hipDeviceptr_t pointer) {
    return api(__func__, [&] {
        runtime();
        require(which && data && pointer && count > 0, hipErrorInvalidValue);
        const auto block = runtime().blocks.find(pointer);
        for (unsigned i = 0; i < count; ++i) {
            require(data[i] != nullptr, hipErrorInvalidValue);
            static_cast<void>(guarded(__func__, [&] {
                if (block)
                    pointer_attribute(data[i], which[i], *block, reinterpret_cast<u64>(pointer));
                else
                    unknown_attribute(data[i], which[i]);
            }));
        }
    });
}

// The only settable attribute: copies from and to the block then wait for their end.
hipError_t set_pointer_attribute(const void *value, hipPointer_attribute which,
                                 hipDeviceptr_t pointer) asm("hipPointerSetAttribute");
hipError_t set_pointer_attribute(const void *value, hipPointer_attribute which,
                                 hipDeviceptr_t pointer) {
    return api("hipPointerSetAttribute", [&] {
        runtime();
        require(value && pointer && which == HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS,
                hipErrorInvalidValue);
        const auto block = runtime().blocks.find(pointer);
        require(block && runtime().blocks.set_synchronous(block->begin,
                                                          *static_cast<const int *>(value) != 0),
                hipErrorInvalidDevicePointer);
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
        require(attributes && (pointer || host_major() >= 7), hipErrorInvalidValue);
        const auto block = runtime().blocks.find(pointer);
        Layout layout{};
        if (block) {
            layout = {memory_type(block->kind),
                      block->device,
                      pointer,
                      host_visible(block->kind) ? pointer : nullptr,
                      block->kind == Block::Kind::managed,
                      block->flags};
        } else { // HIP 6 describes it as unregistered memory, HIP 5 refuses
            require(host_major() >= 6, hipErrorInvalidValue);
            layout.device = no_device;
        }
        std::memcpy(static_cast<void *>(attributes), &layout, sizeof layout);
    });
}

hipError_t hipMemGetAddressRange(hipDeviceptr_t *base, size_t *bytes, hipDeviceptr_t pointer) {
    return api(__func__, [&] {
        runtime();
        require(base || bytes, hipErrorInvalidValue);
        const auto block = runtime().blocks.find(pointer);
        require(block.has_value(), hipErrorNotFound);
        if (base)
            *base = reinterpret_cast<hipDeviceptr_t>(block->begin);
        if (bytes)
            *bytes = block->size;
    });
}

hipError_t hipMemPtrGetInfo(void *pointer, size_t *bytes) {
    return api(__func__, [&] {
        runtime();
        require(bytes != nullptr, hipErrorInvalidValue);
        const auto block = runtime().blocks.find(pointer);
        *bytes = block ? block->size : 0;
        require(!pointer || block, hipErrorInvalidValue);
    });
}
}
