// SPDX-License-Identifier: MIT
// Hints about managed memory. Memory never migrates here; hints are stored for queries.
#include <map>
#include <mutex>
#include <set>

#include "sim/hip/capture.h"
#include "sim/hip/runtime.h"

namespace nw::hipsim {

namespace {

constexpr int nowhere = -2; // hipInvalidDeviceId
constexpr int cpu = -1;     // hipCpuDeviceId

struct Hints {
    u64 size = 0;
    bool read_mostly = false, coarse = false;
    int preferred = nowhere, prefetched = nowhere;
    std::set<int> accessed_by;
};

struct AllHints {
    std::mutex mutex;
    std::map<u64, Hints> by_block; // by Block::id, which is never used again
};

AllHints &all_hints() {
    static AllHints *const made = new AllHints; // outlives the host's destructors
    return *made;
}

} // namespace

static Block managed_block(const void *pointer, u64 bytes) {
    require(pointer && bytes > 0, hipErrorInvalidValue);
    const auto block = runtime().blocks.find(pointer);
    require(block && block->kind == Block::Kind::managed && bytes <= runtime().blocks.left(pointer),
            hipErrorInvalidValue);
    return *block;
}

static void check_place(int device) {
    if (device != cpu)
        runtime().device(device);
}

// Hints apply to a whole block: a range of it shares them.
static void advise(Hints &hints, hipMemoryAdvise advice, int device) {
    switch (advice) {
    case hipMemAdviseSetReadMostly:
    case hipMemAdviseUnsetReadMostly:
        hints.read_mostly = advice == hipMemAdviseSetReadMostly;
        return;
    case hipMemAdviseSetPreferredLocation:
        hints.preferred = device;
        return;
    case hipMemAdviseUnsetPreferredLocation:
        hints.preferred = nowhere;
        return;
    case hipMemAdviseSetAccessedBy:
        hints.accessed_by.insert(device);
        return;
    case hipMemAdviseUnsetAccessedBy:
        hints.accessed_by.erase(device);
        return;
    case hipMemAdviseSetCoarseGrain:
    case hipMemAdviseUnsetCoarseGrain:
        hints.coarse = advice == hipMemAdviseSetCoarseGrain;
        return;
    }
    fail(hipErrorInvalidValue);
}

static void range_attribute(void *data, size_t bytes, hipMemRangeAttribute which,
                            const Hints &hints) {
    const auto give = [&](int value) {
        require(bytes == sizeof value, hipErrorInvalidValue);
        *static_cast<int *>(data) = value;
    };
    switch (which) {
    case hipMemRangeAttributeReadMostly:
        return give(hints.read_mostly);
    case hipMemRangeAttributePreferredLocation:
        return give(hints.preferred);
    case hipMemRangeAttributeLastPrefetchLocation:
        return give(hints.prefetched);
    case hipMemRangeAttributeCoherencyMode:
        return give(hints.coarse ? hipMemRangeCoherencyModeCoarseGrain
                                 : hipMemRangeCoherencyModeFineGrain);
    case hipMemRangeAttributeAccessedBy: {
        require(bytes > 0 && bytes % sizeof(int) == 0, hipErrorInvalidValue);
        int *const list = static_cast<int *>(data);
        std::fill_n(list, bytes / sizeof(int), nowhere);
        size_t at = 0;
        for (const int device : hints.accessed_by)
            if (at < bytes / sizeof(int))
                list[at++] = device;
        return;
    }
    }
    fail(hipErrorInvalidValue);
}

} // namespace nw::hipsim

using namespace nw;
using namespace nw::hipsim;

extern "C" {

hipError_t hipMemAdvise(const void *pointer, size_t bytes, hipMemoryAdvise advice, int device) {
    return api(__func__, [&] {
        const Block block = managed_block(pointer, bytes);
        check_place(device);
        const std::lock_guard lock(all_hints().mutex);
        advise(all_hints().by_block[block.id], advice, device);
    });
}

hipError_t hipMemPrefetchAsync(const void *pointer, size_t bytes, int device, hipStream_t stream) {
    return api(__func__, [&] {
        const Block block = managed_block(pointer, bytes);
        check_place(device);
        enqueue(runtime().stream(stream), Nothing{});
        const std::lock_guard lock(all_hints().mutex);
        all_hints().by_block[block.id].prefetched = device;
    });
}

hipError_t hipMemRangeGetAttribute(void *data, size_t data_bytes, hipMemRangeAttribute which,
                                   const void *pointer, size_t bytes) {
    return api(__func__, [&] {
        const Block block = managed_block(pointer, bytes);
        require(data && data_bytes > 0, hipErrorInvalidValue);
        const std::lock_guard lock(all_hints().mutex);
        range_attribute(data, data_bytes, which, all_hints().by_block[block.id]);
    });
}

hipError_t hipMemRangeGetAttributes(void **data, size_t *data_bytes, hipMemRangeAttribute *which,
                                    size_t count, const void *pointer, size_t bytes) {
    return api(__func__, [&] {
        const Block block = managed_block(pointer, bytes);
        require(data && data_bytes && which && count > 0, hipErrorInvalidValue);
        const std::lock_guard lock(all_hints().mutex);
        for (size_t i = 0; i < count; ++i) {
            require(data[i] && data_bytes[i] > 0, hipErrorInvalidValue);
            range_attribute(data[i], data_bytes[i], which[i], all_hints().by_block[block.id]);
        }
    });
}

hipError_t hipStreamAttachMemAsync(hipStream_t stream_handle, void *pointer, size_t bytes,
                                   unsigned flags) {
    return api(__func__, [&] {
        const auto stream = runtime().stream(stream_handle);
        require(flags == hipMemAttachGlobal || flags == hipMemAttachHost ||
                    flags == hipMemAttachSingle,
                hipErrorInvalidValue);
        const auto block = runtime().blocks.find(pointer);
        require(block && block->kind == Block::Kind::managed &&
                    block->begin == reinterpret_cast<u64>(pointer) &&
                    (bytes == 0 || bytes == block->size),
                hipErrorInvalidValue);
    });
}
}
