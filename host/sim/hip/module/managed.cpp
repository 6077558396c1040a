// SPDX-License-Identifier: MIT
// Hints about managed memory. Memory never migrates here; hints are stored for queries.
#include <map>
#include <mutex>
#include <set>

#include "sim/hip/graph/capture.h"
#include "sim/hip/runtime.h"

namespace nw::hipsim {

namespace {

constexpr int nowhere = -2; // hipInvalidDeviceId
constexpr int cpu = -1;     // hipCpuDeviceId

struct Hints {
    bool read_mostly = false, coarse = false;
    int preferred = nowhere, prefetched = nowhere;
    std::set<int> accessed_by;
};

// Hints for the bytes from a key to the next one.
using Pieces = std::map<u64, Hints>;

struct AllHints {
    std::mutex mutex;
    std::map<u64, Pieces> by_block; // by Block::id, which is never used again
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

// The hints of [begin, begin + bytes), for changing: pieces are split at both ends.
static std::vector<Hints *> hints_of(const Block &block, u64 begin, u64 bytes) {
    Pieces &pieces = all_hints().by_block[block.id];
    pieces.try_emplace(block.begin);
    for (const u64 cut : {begin, begin + bytes})
        pieces.try_emplace(cut, std::prev(pieces.upper_bound(cut))->second);
    std::vector<Hints *> found;
    for (auto at = pieces.find(begin); at != pieces.end() && at->first < begin + bytes; ++at)
        found.push_back(&at->second);
    return found;
}

// A hint is for whole pages.
static std::vector<Hints *> hints_of(const Block &block, const void *pointer, u64 bytes) {
    constexpr u64 page = 4096;
    const u64 at = reinterpret_cast<u64>(pointer), first = at / page * page;
    const u64 begin = std::max(first, block.begin);
    const u64 end = std::min(round_up(at + bytes, page), block.begin + block.size);
    return hints_of(block, begin, end - begin);
}

// Hints that hold for the whole range, as HIP documents each attribute.
static Hints common(const std::vector<Hints *> &pieces) {
    Hints all = *pieces.front();
    for (const Hints *const piece : pieces) {
        all.read_mostly &= piece->read_mostly;
        all.coarse &= piece->coarse;
        if (piece->preferred != all.preferred)
            all.preferred = nowhere;
        if (piece->prefetched != all.prefetched)
            all.prefetched = nowhere;
        std::erase_if(all.accessed_by, [&](int d) { return !piece->accessed_by.contains(d); });
    }
    return all;
}

static int device_of(const hipMemLocation &location) {
    return location.type == hipMemLocationTypeDevice ? location.id : cpu;
}

static void check_place(int device) {
    if (device != cpu)
        runtime().device(device);
}

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
        for (Hints *const hints : hints_of(block, pointer, bytes))
            advise(*hints, advice, device);
    });
}

hipError_t hipMemPrefetchAsync(const void *pointer, size_t bytes, int device, hipStream_t stream) {
    return api(__func__, [&] {
        const Block block = managed_block(pointer, bytes);
        check_place(device);
        enqueue(runtime().stream(stream), Nothing{});
        const std::lock_guard lock(all_hints().mutex);
        for (Hints *const hints : hints_of(block, pointer, bytes))
            hints->prefetched = device;
    });
}

// Since HIP 7.1. A location of the host is one, whichever its kind.
hipError_t prefetch_to(const void *pointer, size_t bytes, hipMemLocation location, unsigned flags,
                       hipStream_t stream) asm("hipMemPrefetchAsync_v2");
hipError_t prefetch_to(const void *pointer, size_t bytes, hipMemLocation location, unsigned flags,
                       hipStream_t stream) {
    if (flags != 0)
        return remember(hipErrorInvalidValue);
    return hipMemPrefetchAsync(pointer, bytes, device_of(location), stream);
}

hipError_t advise_at(const void *pointer, size_t bytes, hipMemoryAdvise advice,
                     hipMemLocation location) asm("hipMemAdvise_v2");
hipError_t advise_at(const void *pointer, size_t bytes, hipMemoryAdvise advice,
                     hipMemLocation location) {
    return hipMemAdvise(pointer, bytes, advice, device_of(location));
}

// Since HIP 7.2: location n is for the ranges from its index on, to that of the next one.
hipError_t prefetch_batch(void **pointers, size_t *bytes, size_t count, hipMemLocation *locations,
                          size_t *first_ranges, size_t location_count, unsigned long long flags,
                          hipStream_t stream) asm("hipMemPrefetchBatchAsync");
hipError_t prefetch_batch(void **pointers, size_t *bytes, size_t count, hipMemLocation *locations,
                          size_t *first_ranges, size_t location_count, unsigned long long flags,
                          hipStream_t stream) {
    return api("hipMemPrefetchBatchAsync", [&] {
        runtime();
        require(pointers && bytes && locations && first_ranges && count > 0 && flags == 0 &&
                    location_count > 0 && location_count <= count && first_ranges[0] == 0,
                hipErrorInvalidValue);
        for (size_t n = 1; n < location_count; ++n)
            require(first_ranges[n] > first_ranges[n - 1] && first_ranges[n] < count,
                    hipErrorInvalidValue);
        for (size_t range = 0, n = 0; range < count; ++range) {
            n += n + 1 < location_count && first_ranges[n + 1] == range;
            const bool on_device = locations[n].type == hipMemLocationTypeDevice;
            const hipError_t error = hipMemPrefetchAsync(pointers[range], bytes[range],
                                                         on_device ? locations[n].id : cpu, stream);
            require(error == hipSuccess, error);
        }
    });
}

hipError_t hipMemRangeGetAttribute(void *data, size_t data_bytes, hipMemRangeAttribute which,
                                   const void *pointer, size_t bytes) {
    return api(__func__, [&] {
        require(data && data_bytes > 0, hipErrorInvalidValue);
        if (const auto on_device = runtime().blocks.find(pointer);
            on_device && on_device->kind == Block::Kind::device &&
            which == hipMemRangeAttributeCoherencyMode)
            return range_attribute(data, data_bytes, which, {.coarse = true});
        const Block block = managed_block(pointer, bytes);
        const std::lock_guard lock(all_hints().mutex);
        range_attribute(data, data_bytes, which, common(hints_of(block, pointer, bytes)));
    });
}

hipError_t hipMemRangeGetAttributes(void **data, size_t *data_bytes, hipMemRangeAttribute *which,
                                    size_t count, const void *pointer, size_t bytes) {
    return api(__func__, [&] {
        const Block block = managed_block(pointer, bytes);
        require(data && data_bytes && which && count > 0, hipErrorInvalidValue);
        const std::lock_guard lock(all_hints().mutex);
        const Hints hints = common(hints_of(block, pointer, bytes));
        for (size_t i = 0; i < count; ++i) {
            require(data[i] && data_bytes[i] > 0, hipErrorInvalidValue);
            range_attribute(data[i], data_bytes[i], which[i], hints);
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
