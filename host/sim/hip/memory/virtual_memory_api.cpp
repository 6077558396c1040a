// SPDX-License-Identifier: MIT
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>

#include "sim/hip/copy/host_copy.h"
#include "sim/hip/memory/virtual_memory.h"
#include "sim/hip/runtime.h"

namespace nw::hipsim {

static bool aligned(u64 value) { return value % mapping_granularity == 0; }

// The layout of the host's last request: for memory that comes from another process.
static std::atomic<bool> host_is_before_5_3{false};

static AllocationProp checked_prop(const hipMemAllocationProp *given) {
    const AllocationProp prop = read_prop(given);
    require(runtime().has_device(prop.device), hipErrorInvalidValue);
    host_is_before_5_3 = prop.before_5_3;
    return prop;
}

static void *reserve(u64 size, u64 alignment, void *wish) {
    // Enough to cut an aligned piece out of it; what is left over is given back.
    const u64 step = std::max(alignment, recommended_granularity);
    require(size <= UINT64_MAX - step, hipErrorOutOfMemory);
    void *const got =
        mmap(nullptr, size + step, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    require(got != MAP_FAILED, hipErrorOutOfMemory);
    const u64 begin = reinterpret_cast<u64>(got), at = round_up(begin, step);
    if (at > begin)
        munmap(got, at - begin);
    munmap(reinterpret_cast<void *>(at + size), begin + step - at);
    static_cast<void>(wish); // a hint, as in CUDA
    return reinterpret_cast<void *>(at);
}

// [begin, begin + size) is inside one reserved range.
static void check_reserved(const VirtualMemory &all, u64 begin, u64 size) {
    auto above = all.reserved.upper_bound(begin);
    require(above != all.reserved.begin(), hipErrorInvalidValue);
    --above;
    const u64 offset = begin - above->first;
    require(offset < above->second && size <= above->second - offset, hipErrorInvalidValue);
}

static void change_access(u64 begin, Mapping &mapping, const hipMemAccessDesc &wish) {
    require(wish.location.type == hipMemLocationTypeDevice, hipErrorInvalidValue);
    require(wish.flags == hipMemAccessFlagsProtNone || wish.flags == hipMemAccessFlagsProtRead ||
                wish.flags == hipMemAccessFlagsProtReadWrite,
            hipErrorInvalidValue);
    sim::Memory &memory = runtime().device(wish.location.id).memory;
    void *const at = reinterpret_cast<void *>(begin);
    memory.disown(at);
    if (wish.flags != hipMemAccessFlagsProtNone)
        memory.adopt(at, mapping.size, "hipMemMap");
    mapping.access[wish.location.id] = wish.flags;
}

static void unmap(VirtualMemory &all, std::map<u64, Mapping>::iterator at) {
    void *const begin = reinterpret_cast<void *>(at->first);
    for (const auto &[device, flags] : at->second.access)
        runtime().device(device).memory.disown(begin);
    runtime().blocks.remove(at->first);
    mmap(begin, at->second.size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
         -1, 0);
    all.mappings.erase(at);
}

} // namespace nw::hipsim

using namespace nw;
using namespace nw::hipsim;

extern "C" {

hipError_t hipMemGetAllocationGranularity(size_t *bytes, const hipMemAllocationProp *prop,
                                          hipMemAllocationGranularity_flags which) {
    return api(__func__, [&] {
        checked_prop(prop);
        require(bytes != nullptr, hipErrorInvalidValue);
        require(which == hipMemAllocationGranularityMinimum ||
                    which == hipMemAllocationGranularityRecommended,
                hipErrorInvalidValue);
        *bytes = which == hipMemAllocationGranularityMinimum ? mapping_granularity
                                                             : recommended_granularity;
    });
}

hipError_t hipMemAddressReserve(void **pointer, size_t size, size_t alignment, void *wish,
                                unsigned long long flags) {
    return api(__func__, [&] {
        runtime();
        require(pointer && flags == 0, hipErrorInvalidValue);
        require(size > 0 && aligned(size) && (alignment & (alignment - 1)) == 0,
                hipErrorOutOfMemory); // sic
        *pointer = reserve(size, alignment, wish);
        const std::lock_guard lock(virtual_memory().mutex);
        virtual_memory().reserved[reinterpret_cast<u64>(*pointer)] = size;
    });
}

hipError_t hipMemAddressFree(void *pointer, size_t size) {
    return api(__func__, [&] {
        runtime();
        VirtualMemory &all = virtual_memory();
        const std::lock_guard lock(all.mutex);
        const u64 begin = reinterpret_cast<u64>(pointer);
        const auto range = all.reserved.find(begin);
        require(range != all.reserved.end() && range->second == size, hipErrorInvalidValue);
        const auto mapped = all.mappings.lower_bound(begin); // must be unmapped first
        require(mapped == all.mappings.end() || mapped->first - begin >= size,
                hipErrorInvalidValue);
        munmap(pointer, size);
        all.reserved.erase(range);
    });
}

hipError_t hipMemCreate(hipMemGenericAllocationHandle_t *handle, size_t size,
                        const hipMemAllocationProp *prop, unsigned long long flags) {
    return api(__func__, [&] {
        const AllocationProp checked = checked_prop(prop);
        require(handle && flags == 0 && size > 0 && aligned(size), hipErrorInvalidValue);
        const std::lock_guard lock(virtual_memory().mutex);
        *handle = virtual_memory().add(std::make_shared<PhysicalMemory>(size, checked));
    });
}

// The memory goes with its last handle and its last mapping.
hipError_t hipMemRelease(hipMemGenericAllocationHandle_t handle) {
    return api(__func__, [&] {
        runtime();
        VirtualMemory &all = virtual_memory();
        const std::lock_guard lock(all.mutex);
        if (--all.find(handle)->references == 0)
            all.handles.erase(handle);
    });
}

hipError_t hipMemRetainAllocationHandle(hipMemGenericAllocationHandle_t *handle, void *pointer) {
    return api(__func__, [&] {
        runtime();
        require(handle && pointer, hipErrorInvalidValue);
        VirtualMemory &all = virtual_memory();
        const std::lock_guard lock(all.mutex);
        const auto memory = all.mapping_at(reinterpret_cast<u64>(pointer)).memory;
        if (all.handles.contains(memory.get()))
            ++memory->references;
        else
            memory->references = 1;
        *handle = all.add(memory);
    });
}

hipError_t hipMemMap(void *pointer, size_t size, size_t offset,
                     hipMemGenericAllocationHandle_t handle, unsigned long long flags) {
    return api(__func__, [&] {
        runtime();
        require(pointer && size > 0 && offset == 0 && flags == 0, hipErrorInvalidValue);
        const u64 begin = reinterpret_cast<u64>(pointer);
        require(aligned(begin) && aligned(size), hipErrorInvalidValue);
        VirtualMemory &all = virtual_memory();
        const std::lock_guard lock(all.mutex);
        const auto memory = all.find(handle);
        require(size <= memory->bytes, hipErrorInvalidValue);
        check_reserved(all, begin, size);
        require(!runtime().blocks.overlaps(begin, size), hipErrorInvalidValue);
        require(mmap(pointer, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                     memory->descriptor, 0) != MAP_FAILED,
                hipErrorOutOfMemory);
        all.mappings[begin] = {size, memory, {}};
        runtime().sharing.publish({.begin = begin,
                                   .size = size,
                                   .kind = Block::Kind::mapped,
                                   .device = memory->prop.device});
        runtime().device(memory->prop.device).faults.mapped(begin, size);
    });
}

// Several mappings that follow each other are unmapped by one call, too.
hipError_t hipMemUnmap(void *pointer, size_t size) {
    return api(__func__, [&] {
        require(pointer && size > 0, hipErrorInvalidValue);
        runtime().wait(); // kernels may still use it
        VirtualMemory &all = virtual_memory();
        const std::lock_guard lock(all.mutex);
        const u64 begin = reinterpret_cast<u64>(pointer);
        u64 covered = 0;
        for (auto at = all.mappings.find(begin); covered < size; ++at) {
            require(at != all.mappings.end() && at->first == begin + covered, hipErrorInvalidValue);
            covered += at->second.size;
        }
        require(covered == size, hipErrorInvalidValue);
        for (u64 at = begin; at < begin + size;) {
            const auto mapping = all.mappings.find(at);
            at += mapping->second.size;
            unmap(all, mapping);
        }
    });
}

hipError_t hipMemSetAccess(void *pointer, size_t size, const hipMemAccessDesc *wishes,
                           size_t count) {
    return api(__func__, [&] {
        runtime();
        require(pointer && size > 0 && wishes && count > 0, hipErrorInvalidValue);
        for (size_t i = 0; i < count; ++i)
            require(wishes[i].location.id >= 0 && wishes[i].location.id < runtime().device_count(),
                    hipErrorInvalidValue);
        VirtualMemory &all = virtual_memory();
        const std::lock_guard lock(all.mutex);
        const u64 begin = reinterpret_cast<u64>(pointer), end = begin + size;
        require(runtime().blocks.left(begin) >= size, hipErrorInvalidValue);
        for (auto at = all.mappings.find(begin); at != all.mappings.end() && at->first < end; ++at)
            for (size_t i = 0; i < count; ++i)
                change_access(at->first, at->second, wishes[i]);
        require(all.mappings.contains(begin), hipErrorInvalidValue);
    });
}

hipError_t hipMemGetAccess(unsigned long long *flags, const hipMemLocation *location,
                           void *pointer) {
    return api(__func__, [&] {
        runtime();
        require(flags && location && pointer, hipErrorInvalidValue);
        require(location->type == hipMemLocationTypeDevice, hipErrorInvalidValue);
        runtime().device(location->id);
        const std::lock_guard lock(virtual_memory().mutex);
        const Mapping &mapping = virtual_memory().mapping_at(reinterpret_cast<u64>(pointer));
        const auto set = mapping.access.find(location->id);
        *flags = set == mapping.access.end() ? hipMemAccessFlagsProtNone : set->second;
    });
}

hipError_t hipMemGetAllocationPropertiesFromHandle(hipMemAllocationProp *prop,
                                                   hipMemGenericAllocationHandle_t handle) {
    return api(__func__, [&] {
        runtime();
        require(prop != nullptr, hipErrorInvalidValue);
        const std::lock_guard lock(virtual_memory().mutex);
        write_prop(prop, virtual_memory().find(handle)->prop);
    });
}

hipError_t hipMemExportToShareableHandle(void *shared, hipMemGenericAllocationHandle_t handle,
                                         hipMemAllocationHandleType type,
                                         unsigned long long flags) {
    return api(__func__, [&] {
        runtime();
        require(shared && flags == 0 && type == hipMemHandleTypePosixFileDescriptor,
                hipErrorInvalidValue);
        const std::lock_guard lock(virtual_memory().mutex);
        const int copy = dup(virtual_memory().find(handle)->descriptor);
        require(copy >= 0, hipErrorOutOfMemory);
        *static_cast<int *>(shared) = copy;
    });
}

hipError_t hipMemImportFromShareableHandle(hipMemGenericAllocationHandle_t *handle, void *shared,
                                           hipMemAllocationHandleType type) {
    return api(__func__, [&] {
        runtime();
        require(handle && shared && type == hipMemHandleTypePosixFileDescriptor,
                hipErrorInvalidValue);
        const int theirs = descriptor_of(shared);
        struct stat file {};
        require(fstat(theirs, &file) == 0 && file.st_size > 0, hipErrorInvalidValue);
        const int ours = dup(theirs);
        require(ours >= 0, hipErrorOutOfMemory);
        const AllocationProp prop{.type = hipMemAllocationTypePinned,
                                  .location_type = hipMemLocationTypeDevice,
                                  .device = runtime().current_ordinal(),
                                  .before_5_3 = host_is_before_5_3};
        const std::lock_guard lock(virtual_memory().mutex);
        *handle = virtual_memory().add(
            std::make_shared<PhysicalMemory>(ours, static_cast<u64>(file.st_size), prop));
    });
}
}
