// SPDX-License-Identifier: MIT
#include "sim/hip/services/device_heap.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "sim/hip/device/properties.h"

namespace nw::hipsim {

namespace {

// All zero is an empty heap without slabs, for the device libraries of 5.2 to 7.1.
constexpr u64 state_bytes = 128 << 10;
constexpr u64 slab_bytes = 2 << 20; // kernels find a slab's head by its alignment
constexpr const char *maker = "malloc in a kernel";

} // namespace

DeviceHeap::~DeviceHeap() {
    for (const auto &[address, slab] : given_)
        give_back(address, slab);
    if (state_)
        memory_.release(state_);
}

u64 DeviceHeap::state() {
    const std::lock_guard lock(mutex_);
    if (!state_) {
        state_ = memory_.allocate(state_bytes, "the device heap's state");
        if (!state_)
            throw std::bad_alloc();
        std::memset(state_, 0, state_bytes);
    }
    return reinterpret_cast<u64>(state_);
}

u64 DeviceHeap::allocate(u64 bytes) {
    const std::lock_guard lock(mutex_);
    const u64 used = std::min(memory_.bytes_in_use() + slab_bytes_in_use_, total_memory());
    if (bytes == 0 || bytes > total_memory() - used)
        return 0;
    const bool slab = bytes == slab_bytes;
    void *const at =
        slab ? std::aligned_alloc(slab_bytes, slab_bytes) : memory_.allocate(bytes, maker);
    if (!at)
        return 0;
    if (slab) {
        memory_.adopt(at, bytes, maker);
        slab_bytes_in_use_ += bytes;
    }
    given_.emplace(reinterpret_cast<u64>(at), slab);
    return reinterpret_cast<u64>(at);
}

bool DeviceHeap::free(u64 address) {
    const std::lock_guard lock(mutex_);
    const auto at = given_.find(address);
    if (at == given_.end())
        return false;
    give_back(address, at->second);
    given_.erase(at);
    return true;
}

void DeviceHeap::give_back(u64 address, bool slab) {
    auto *const at = reinterpret_cast<void *>(address);
    if (!slab) {
        memory_.release(at, "free in a kernel");
        return;
    }
    memory_.disown(at);
    slab_bytes_in_use_ -= slab_bytes;
    std::free(at);
}

} // namespace nw::hipsim
