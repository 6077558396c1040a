// SPDX-License-Identifier: MIT
// Registers host memory with the devices; device addresses of pinned memory.
#include <unistd.h>

#include "sim/hip/copy/host_copy.h"
#include "sim/hip/runtime.h"
#include "sim/hip/version.h"

namespace nw::hipsim {

// Tests one byte of every page: kernels may access all of it from now on.
static bool readable(const void *begin, u64 bytes) {
    const u64 page = static_cast<u64>(sysconf(_SC_PAGESIZE));
    const char *const at = static_cast<const char *>(begin);
    char byte;
    for (u64 offset = 0; offset < bytes; offset += page)
        if (!copy_from_caller(&byte, at + offset, 1))
            return false;
    return copy_from_caller(&byte, at + bytes - 1, 1);
}

static Block host_block(const void *pointer) {
    const auto block = runtime().blocks.find(pointer);
    require(block && block->kind == Block::Kind::host, hipErrorInvalidValue);
    return *block;
}

} // namespace nw::hipsim

using namespace nw;
using namespace nw::hipsim;

extern "C" {

hipError_t hipHostRegister(void *pointer, size_t bytes, unsigned flags) {
    return api(__func__, [&] {
        runtime();
        require(pointer && bytes > 0 && bytes <= UINTPTR_MAX - reinterpret_cast<u64>(pointer),
                hipErrorInvalidValue);
        constexpr unsigned known = hipHostRegisterPortable | hipHostRegisterMapped |
                                   hipHostRegisterIoMemory | hipExtHostRegisterCoarseGrained |
                                   0x10; // hipHostRegisterReadOnly, since HIP 5.3
        require((flags & ~known) == 0, hipErrorInvalidValue);
        const u64 begin = reinterpret_cast<u64>(pointer);
        if (const auto block = runtime().blocks.find(begin);
            host_major() < 7 && block && block->borrowed && block->kind == Block::Kind::host &&
            block->begin == begin && block->size >= bytes)
            return; // it is registered already: accepted up to HIP 6
        require(!runtime().blocks.overlaps(begin, bytes), hipErrorHostMemoryAlreadyRegistered);
        require(readable(pointer, bytes), hipErrorInvalidValue);
        runtime().sharing.publish({.begin = begin,
                                   .size = bytes,
                                   .kind = Block::Kind::host,
                                   .device = runtime().current_ordinal(),
                                   .flags = flags,
                                   .borrowed = true});
    });
}

hipError_t hipHostUnregister(void *pointer) {
    return api(__func__, [&] {
        runtime();
        require(pointer != nullptr, hipErrorInvalidValue);
        const auto block = runtime().blocks.find(pointer);
        require(block && block->kind == Block::Kind::host && block->borrowed &&
                    block->begin == reinterpret_cast<u64>(pointer),
                hipErrorHostMemoryNotRegistered);
        runtime().wait(); // kernels may still use it
        require(runtime().sharing.withdraw(*block), hipErrorHostMemoryNotRegistered);
    });
}

hipError_t hipHostGetDevicePointer(void **device_pointer, void *pointer, unsigned flags) {
    return api(__func__, [&] {
        runtime();
        require(device_pointer && pointer && flags == 0, hipErrorInvalidValue);
        host_block(pointer);
        *device_pointer = pointer; // one address for both
    });
}

hipError_t hipHostGetFlags(unsigned *flags, void *pointer) {
    return api(__func__, [&] {
        runtime();
        require(flags && pointer, hipErrorInvalidValue);
        const Block block = host_block(pointer);
        require(block.begin == reinterpret_cast<u64>(pointer), hipErrorInvalidValue);
        *flags = block.flags;
    });
}
}
