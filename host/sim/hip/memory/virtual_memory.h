// SPDX-License-Identifier: MIT
// Virtual memory management: address ranges without memory, memory without addresses, and one put
// behind the other.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "base/types.h"
#include "sim/hip/headers.h"
#include "sim/hip/memory/allocation_prop.h"

namespace nw::hipsim {

// Memory of hipMemCreate: a memory file, so that it can be mapped at several addresses and be
// given to another process as a file descriptor.
struct PhysicalMemory {
    PhysicalMemory(u64 bytes, const AllocationProp &prop); // hipErrorOutOfMemory
    PhysicalMemory(int descriptor, u64 bytes, const AllocationProp &prop);
    ~PhysicalMemory();
    PhysicalMemory(const PhysicalMemory &) = delete;

    const int descriptor;
    const u64 bytes;
    const AllocationProp prop;
    unsigned references = 1; // of hipMemCreate, hipMemRetainAllocationHandle; guarded by the table
};

struct Mapping {
    u64 size;
    std::shared_ptr<PhysicalMemory> memory;
    std::map<int, hipMemAccessFlags> access; // by device
};

struct VirtualMemory {
    std::mutex mutex;                // guards what follows
    std::map<u64, u64> reserved;     // size by begin
    std::map<u64, Mapping> mappings; // by begin
    std::map<void *, std::shared_ptr<PhysicalMemory>> handles;

    std::shared_ptr<PhysicalMemory> find(hipMemGenericAllocationHandle_t handle) const;
    hipMemGenericAllocationHandle_t add(std::shared_ptr<PhysicalMemory> memory);
    Mapping &mapping_at(u64 address); // hipErrorInvalidValue when none holds it
};
VirtualMemory &virtual_memory();

// Bytes. ROCr's "alloc granule" and "alloc recommended granule" of a GPU's memory, as rocminfo
// prints them.
inline constexpr u64 mapping_granularity = 4096, recommended_granularity = u64{2} << 20;

} // namespace nw::hipsim
