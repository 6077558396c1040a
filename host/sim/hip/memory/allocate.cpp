// SPDX-License-Identifier: MIT
#include "sim/hip/memory/allocate.h"

#include <algorithm>
#include <cstring>
#include <sys/mman.h>

#include "sim/func/checker.h"
#include "sim/hip/device/properties.h"
#include "sim/hip/memory/pool.h"

namespace nw::hipsim {

static void *allocate(sim::Memory &memory, u64 bytes, const std::string &made_by) {
    require(bytes <= total_memory() - std::min(total_memory(), memory.bytes_in_use()),
            hipErrorOutOfMemory);
    void *const at = memory.allocate(bytes, made_by);
    require(at != nullptr, hipErrorOutOfMemory);
    return at;
}

void *allocate_device(Device &device, u64 bytes) {
    return allocate_device(device, bytes, nullptr, next_made_by());
}

void *allocate_device(Device &device, u64 bytes, std::shared_ptr<Pool> pool, std::string made_by) {
    if (pool)
        pool->took(bytes);
    void *at = nullptr;
    try {
        at = allocate(device.memory, bytes, made_by);
    } catch (...) {
        if (pool)
            pool->gave_back(bytes);
        throw;
    }
    runtime().sharing.publish({.begin = reinterpret_cast<u64>(at),
                               .size = bytes,
                               .kind = Block::Kind::device,
                               .device = device.ordinal,
                               .pool = std::move(pool),
                               .made_by = std::move(made_by)});
    return at;
}

void *unwritten(Device &device, void *at) {
    if (device.config.run.checker && device.config.run.checker->watches_memory())
        device.memory.watch_writes(at);
    return at;
}

// Host memory comes from the operating system, which clears it. `at` begins a page; pages that
// nobody has used stay so.
static void clear(void *at, u64 bytes) {
    constexpr u64 page = 4096, least_in_pages = u64{1} << 20;
    if (bytes < least_in_pages || madvise(at, round_up(bytes, page), MADV_DONTNEED) != 0)
        std::memset(at, 0, bytes);
}

void *allocate_shared(u64 bytes, Block::Kind kind, unsigned flags) {
    std::string made_by = next_made_by();
    void *const at = allocate(runtime().host_memory, bytes, made_by);
    clear(at, bytes);
    runtime().sharing.publish({.begin = reinterpret_cast<u64>(at),
                               .size = bytes,
                               .kind = kind,
                               .device = runtime().current_ordinal(),
                               .flags = flags,
                               .made_by = std::move(made_by)});
    return at;
}

Block block_at(const void *pointer, Block::Kind kind) {
    const auto block = runtime().blocks.find(pointer);
    require(block && block->kind == kind && block->begin == reinterpret_cast<u64>(pointer),
            hipErrorInvalidValue);
    return *block;
}

void release(const Block &block) {
    if (block.kind == Block::Kind::device || block.kind == Block::Kind::global)
        runtime().wait_for_users_of(runtime().device(block.device));
    else
        runtime().wait();
    require(runtime().blocks.remove(block.begin), hipErrorInvalidValue);
    release_storage(block);
}

// Streams free memory in order, long after the call, so the name is taken now.
static std::string freed_by() { return *current_call() ? current_call() : "hipFreeAsync"; }

void release_storage(const Block &block) {
    Runtime &runtime = hipsim::runtime();
    runtime.sharing.conceal(block);
    void *const at = reinterpret_cast<void *>(block.begin);
    if (block.borrowed)
        return;
    if (block.kind == Block::Kind::device)
        runtime.device(block.device).memory.release(at, freed_by());
    else
        runtime.host_memory.release(at, freed_by());
    if (block.pool)
        block.pool->gave_back(block.size);
}

} // namespace nw::hipsim
