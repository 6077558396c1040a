// SPDX-License-Identifier: MIT
// hidden_heap_v1: the state that kernels' malloc and free keep, and the memory that they ask the
// host for when they have none left.
#pragma once
#include <map>
#include <mutex>

#include "base/types.h"
#include "sim/func/memory/memory.h"

namespace nw::hipsim {

class DeviceHeap {
public:
    explicit DeviceHeap(sim::Memory &memory) : memory_(memory) {}
    ~DeviceHeap();
    DeviceHeap(const DeviceHeap &) = delete;
    DeviceHeap &operator=(const DeviceHeap &) = delete;

    u64 state(); // its address
    // 4 KiB aligned, a slab of the device library to its own size; 0: no memory is left.
    u64 allocate(u64 bytes);
    bool free(u64 address); // false: allocate() didn't return it, or it is free

private:
    void give_back(u64 address, bool slab);

    sim::Memory &memory_;
    std::mutex mutex_;
    void *state_ = nullptr;
    std::map<u64, bool> given_; // whether it is a slab
    u64 slab_bytes_in_use_ = 0;
};

} // namespace nw::hipsim
