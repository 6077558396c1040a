// SPDX-License-Identifier: MIT
// Shared by the launches of a device: the heap, hostcall buffers, the queue that kernels see.
#pragma once
#include <memory>
#include <mutex>
#include <vector>

#include "sim/hip/services/device_heap.h"
#include "sim/hip/services/hostcall.h"

namespace nw::hipsim {

class DeviceServices {
public:
    explicit DeviceServices(sim::Memory &memory) : memory_(memory), heap_(memory) {}
    ~DeviceServices();

    sim::Memory &memory() { return memory_; }
    DeviceHeap &heap() { return heap_; }
    u64 queue(); // address of an amd_queue_t
    // A buffer with at least `packets`, used by one launch at a time.
    std::unique_ptr<Hostcall> take_hostcall(u32 packets);
    void give_back(std::unique_ptr<Hostcall> hostcall);

private:
    sim::Memory &memory_;
    DeviceHeap heap_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<Hostcall>> free_;
    void *queue_ = nullptr;
};

} // namespace nw::hipsim
