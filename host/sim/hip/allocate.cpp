// SPDX-License-Identifier: MIT
#include "sim/hip/allocate.h"

#include <algorithm>

#include "sim/hip/pool.h"
#include "sim/hip/properties.h"

namespace nw::hipsim {

static void *allocate(sim::Memory &memory, u64 bytes) {
    require(bytes <= total_memory() - std::min(total_memory(), memory.bytes_in_use()),
            hipErrorOutOfMemory);
    void *const at = memory.allocate(bytes);
    require(at != nullptr, hipErrorOutOfMemory);
    return at;
}

void *allocate_device(Device &device, u64 bytes, std::shared_ptr<Pool> pool) {
    if (pool)
        pool->took(bytes);
    void *at = nullptr;
    try {
        at = allocate(device.memory, bytes);
    } catch (...) {
        if (pool)
            pool->gave_back(bytes);
        throw;
    }
    runtime().sharing.publish({.begin = reinterpret_cast<u64>(at),
                               .size = bytes,
                               .kind = Block::Kind::device,
                               .device = device.ordinal,
                               .pool = std::move(pool)});
    return at;
}

void *allocate_shared(u64 bytes, Block::Kind kind, unsigned flags) {
    void *const at = allocate(runtime().host_memory, bytes);
    runtime().sharing.publish({.begin = reinterpret_cast<u64>(at),
                               .size = bytes,
                               .kind = kind,
                               .device = runtime().current_ordinal(),
                               .flags = flags});
    return at;
}

Block block_at(const void *pointer, Block::Kind kind) {
    const auto block = runtime().blocks.find(pointer);
    require(block && block->kind == kind && block->begin == reinterpret_cast<u64>(pointer),
            hipErrorInvalidValue);
    return *block;
}

void release(const Block &block) {
    runtime().wait();
    require(runtime().blocks.remove(block.begin), hipErrorInvalidValue);
    release_storage(block);
}

void release_storage(const Block &block) {
    Runtime &runtime = hipsim::runtime();
    runtime.sharing.conceal(block);
    void *const at = reinterpret_cast<void *>(block.begin);
    if (block.borrowed)
        return;
    if (block.kind == Block::Kind::device)
        runtime.device(block.device).memory.release(at);
    else
        runtime.host_memory.release(at);
    if (block.pool)
        block.pool->gave_back(block.size);
}

} // namespace nw::hipsim
