// SPDX-License-Identifier: MIT
#include "sim/hip/memory/virtual_memory.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/hip/device/properties.h"
#include "sim/hip/error.h"

namespace nw::hipsim {

static int memory_file(u64 bytes) {
    require(bytes <= total_memory(), hipErrorOutOfMemory);
    const int file = memfd_create("hipsim", MFD_CLOEXEC);
    require(file >= 0, hipErrorOutOfMemory);
    if (ftruncate(file, static_cast<off_t>(bytes)) != 0) {
        close(file);
        fail(hipErrorOutOfMemory);
    }
    return file;
}

PhysicalMemory::PhysicalMemory(u64 bytes, const AllocationProp &prop)
    : descriptor(memory_file(bytes)), bytes(bytes), prop(prop) {}

PhysicalMemory::PhysicalMemory(int descriptor, u64 bytes, const AllocationProp &prop)
    : descriptor(descriptor), bytes(bytes), prop(prop) {}

PhysicalMemory::~PhysicalMemory() { close(descriptor); }

VirtualMemory &virtual_memory() {
    static auto *const made = new VirtualMemory; // outlives the host's destructors
    return *made;
}

std::shared_ptr<PhysicalMemory> VirtualMemory::find(hipMemGenericAllocationHandle_t handle) const {
    const auto at = handles.find(handle);
    require(at != handles.end(), hipErrorInvalidValue);
    return at->second;
}

hipMemGenericAllocationHandle_t VirtualMemory::add(std::shared_ptr<PhysicalMemory> memory) {
    PhysicalMemory *const handle = memory.get();
    handles[handle] = std::move(memory);
    return reinterpret_cast<hipMemGenericAllocationHandle_t>(handle);
}

Mapping &VirtualMemory::mapping_at(u64 address) {
    auto above = mappings.upper_bound(address);
    require(above != mappings.begin(), hipErrorInvalidValue);
    --above;
    require(address - above->first < above->second.size, hipErrorInvalidValue);
    return above->second;
}

} // namespace nw::hipsim
