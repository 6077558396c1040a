// SPDX-License-Identifier: MIT
// Device memory that several processes use. An allocation becomes a memory file when it is first
// exported: its address and contents stay, so memory that nobody exports costs nothing.
#pragma once
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "sim/hip/headers.h"
#include "sim/hip/ipc/shared_file.h"
#include "sim/hip/memory/blocks.h"

namespace nw::hipsim {

// Contents of hipIpcMemHandle_t and hipMemPoolPtrExportData.
struct MemoryHandle {
    static constexpr u64 right_mark = 0x7370696d65686970; // tells it from other bytes
    u64 mark = 0;
    FileName file;
    u64 bytes = 0;  // of the allocation
    u64 offset = 0; // of the exported pointer in it
    u64 pool = 0;   // the exporter's number for it; 0: none
};

// Waits for the device's users, the first time. hipErrorInvalidValue for what isn't live device
// memory of this process.
MemoryHandle export_memory(const void *pointer);

// Another process's allocation, mapped here. The last owner unmaps it.
class Imported {
public:
    explicit Imported(const MemoryHandle &handle); // hipErrorInvalidDevicePointer
    ~Imported();
    Imported(const Imported &) = delete;

    const FileName file;
    const u64 bytes;
    u64 begin() const { return reinterpret_cast<u64>(mapped_) + host_page; }
    bool freed() const; // by its owner

private:
    SharedFile source_;
    void *mapped_ = nullptr;
};

// All that this process imports.
class Imports {
public:
    // The address of the handle's pointer here. The same allocation opened again on one device has
    // the same address, and must be closed as often.
    void *open(const MemoryHandle &handle);
    void close(const void *pointer);            // hipErrorInvalidValue: not opened
    bool has_opened(const void *pointer) const; // then hipFree isn't its end
    // For pools: freed as the process's own memory is.
    void *add(const MemoryHandle &handle, std::shared_ptr<Pool> pool);
    // Kernels no longer reach what its owner has freed since.
    void refresh() {
        if (any_.load(std::memory_order_relaxed))
            drop_freed();
    }

private:
    struct Opened {
        std::weak_ptr<Imported> memory;
        int device = 0;
        unsigned times = 0;
    };
    void *publish(const std::shared_ptr<Imported> &memory, u64 offset, std::shared_ptr<Pool> pool);
    void drop_freed();

    mutable std::mutex mutex_;     // guards what follows
    std::map<u64, Opened> opened_; // by the allocation's begin
    std::vector<std::weak_ptr<Imported>> watched_;
    std::atomic<bool> any_{false};
};
Imports &imports();

} // namespace nw::hipsim
