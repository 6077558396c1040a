// SPDX-License-Identifier: MIT
// External memory: a memory file of another interface or process (memfd_create, shm_open), by its
// descriptor. There is no other device whose memory could come in.
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "sim/hip/runtime.h"

namespace nw::hipsim {

namespace {

// The mapped file. Buffers in it are blocks that keep it: hipFree lets one go.
struct ExternalMemory {
    ExternalMemory(void *at, u64 bytes, int device) : at(at), bytes(bytes), device(device) {}
    ~ExternalMemory() { munmap(at, bytes); }
    ExternalMemory(const ExternalMemory &) = delete;
    void *const at;
    const u64 bytes;
    const int device;
};

Handles<const void *, ExternalMemory> &external_memories() {
    static auto *const made = new Handles<const void *, ExternalMemory>;
    return *made;
}

std::shared_ptr<ExternalMemory> find_external(const void *handle) {
    auto found = external_memories().find(handle);
    require(found != nullptr, hipErrorInvalidValue);
    return found;
}

void *map_descriptor(int descriptor, u64 bytes) {
    struct stat file {};
    if (fstat(descriptor, &file) != 0)
        fail(hipErrorOutOfMemory,
             fmt::format("descriptor {}: {}", descriptor, std::strerror(errno)));
    if (static_cast<u64>(file.st_size) < bytes)
        fail(hipErrorOutOfMemory, fmt::format("descriptor {}: the file has {} bytes, size says {}",
                                              descriptor, file.st_size, bytes));
    void *const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (at == MAP_FAILED)
        fail(hipErrorOutOfMemory,
             fmt::format("descriptor {}: {}", descriptor, std::strerror(errno)));
    return at;
}

void check_external(const hipExternalMemoryHandleDesc &desc) {
    constexpr unsigned dedicated = 1; // hipExternalMemoryDedicated
    require((desc.flags & ~dedicated) == 0 && desc.size > 0, hipErrorInvalidValue);
    require(desc.type >= hipExternalMemoryHandleTypeOpaqueFd &&
                desc.type <= hipExternalMemoryHandleTypeD3D11ResourceKmt,
            hipErrorInvalidValue);
    if (desc.type != hipExternalMemoryHandleTypeOpaqueFd)
        fail(hipErrorNotSupported,
             fmt::format("a handle of type {}: only POSIX descriptors (type {}) exist on Linux",
                         static_cast<int>(desc.type),
                         static_cast<int>(hipExternalMemoryHandleTypeOpaqueFd)));
}

// The same range is the same buffer.
void *buffer_in(const std::shared_ptr<ExternalMemory> &memory, u64 offset, u64 bytes) {
    require(bytes > 0 && offset <= memory->bytes && bytes <= memory->bytes - offset,
            hipErrorInvalidValue);
    const u64 begin = reinterpret_cast<u64>(memory->at) + offset;
    const auto known = runtime().blocks.find(begin);
    if (known && known->begin == begin && known->size == bytes)
        return reinterpret_cast<void *>(begin);
    if (runtime().blocks.overlaps(begin, bytes))
        fail(hipErrorInvalidValue,
             fmt::format("bytes {}..{} overlap another buffer of this memory: free it first",
                         offset, offset + bytes - 1));
    runtime().sharing.publish({.begin = begin,
                               .size = bytes,
                               .kind = Block::Kind::device,
                               .device = memory->device,
                               .borrowed = true,
                               .storage = memory});
    return reinterpret_cast<void *>(begin);
}

} // namespace

} // namespace nw::hipsim

using namespace nw::hipsim;

extern "C" {

// Takes over the descriptor, as CUDA does.
hipError_t hipImportExternalMemory(hipExternalMemory_t *memory,
                                   const hipExternalMemoryHandleDesc *desc) {
    return api(__func__, [&] {
        const int device = runtime().current_device().ordinal;
        require(memory && desc, hipErrorInvalidValue);
        check_external(*desc);
        void *const at = map_descriptor(desc->handle.fd, desc->size);
        external_memories().add(at, std::make_shared<ExternalMemory>(at, desc->size, device));
        close(desc->handle.fd);
        *memory = at;
    });
}

hipError_t hipExternalMemoryGetMappedBuffer(void **pointer, hipExternalMemory_t memory,
                                            const hipExternalMemoryBufferDesc *desc) {
    return api(__func__, [&] {
        runtime();
        require(pointer && desc && desc->flags == 0, hipErrorInvalidValue);
        *pointer = buffer_in(find_external(memory), desc->offset, desc->size);
    });
}

// Its buffers live on until hipFree.
hipError_t hipDestroyExternalMemory(hipExternalMemory_t memory) {
    return api(__func__, [&] {
        runtime();
        find_external(memory);
        external_memories().remove(memory);
    });
}
}
