// SPDX-License-Identifier: MIT
#include "sim/hip/graph/graph_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>

#include "sim/hip/device/properties.h"
#include "sim/hip/memory/allocate.h"

namespace nw::hipsim {

namespace {

// hipGraphMemAttributeType: used and reserved bytes, and their high-water marks.
enum Attribute { used, used_high, reserved, reserved_high, attribute_count };

using Counters = std::array<std::atomic<u64>, attribute_count>;

Counters &counters(int device) {
    constexpr size_t most_devices = 1024;
    static auto *const made = new std::array<Counters, most_devices>{};
    return (*made)[static_cast<size_t>(device) % most_devices];
}

void count(int device, Attribute which, u64 more) {
    Counters &all = counters(device);
    const u64 now = all[which] += more;
    std::atomic<u64> &high = all[which + 1];
    for (u64 seen = high; seen < now && !high.compare_exchange_weak(seen, now);)
        ;
}

// Unused memory is not kept: what is reserved is in use.
void count_both(int device, u64 more) {
    count(device, used, more);
    count(device, reserved, more);
}

} // namespace

// All graph memory, so that nodes can be made for it before the first launch.
struct Planned {
    std::mutex mutex;
    std::map<u64, u64> bytes; // by begin
};

static Planned &planned() {
    static auto *const made = new Planned;
    return *made;
}

static void *storage(u64 bytes) {
    constexpr u64 alignment = 4096;
    require(bytes <= total_memory(), hipErrorOutOfMemory);
    void *const at = std::aligned_alloc(alignment, round_up(std::max<u64>(bytes, 1), alignment));
    require(at != nullptr, hipErrorOutOfMemory);
    return at;
}

static AllocationParams stored(AllocationParams params) {
    params.pointer = storage(params.bytes);
    return params;
}

static AllocationParams plain(const Device &device, u64 bytes) {
    AllocationParams params{};
    params.pool.allocType = hipMemAllocationTypePinned;
    params.pool.location = {hipMemLocationTypeDevice, device.ordinal};
    params.bytes = bytes;
    return params;
}

GraphMemory::GraphMemory(Device &device, u64 bytes) : GraphMemory(device, plain(device, bytes)) {}

GraphMemory::GraphMemory(Device &device, const AllocationParams &asked)
    : device(device), params(stored(asked)) {
    const std::lock_guard lock(planned().mutex);
    planned().bytes[reinterpret_cast<u64>(params.pointer)] = params.bytes;
}

GraphMemory::~GraphMemory() {
    {
        const std::lock_guard lock(planned().mutex);
        planned().bytes.erase(reinterpret_cast<u64>(params.pointer));
    }
    std::free(params.pointer);
}

u64 planned_left(u64 address) {
    const std::lock_guard lock(planned().mutex);
    const auto above = planned().bytes.upper_bound(address);
    if (above == planned().bytes.begin())
        return 0;
    const auto &[begin, bytes] = *std::prev(above);
    return address - begin < bytes ? bytes - (address - begin) : 0;
}

hipError_t run_free(void *pointer) noexcept {
    return guarded("a graph's free node", [&] {
        const Block block = block_at(pointer, Block::Kind::device);
        require(runtime().blocks.remove(block.begin), hipErrorInvalidValue);
        release_storage(block);
    });
}

hipError_t run_allocation(const std::shared_ptr<GraphMemory> &memory, bool again) noexcept {
    return guarded("a graph's allocation node", [&] {
        const bool lives = runtime().blocks.find(memory->params.pointer).has_value();
        if (lives && !again)
            fail(hipErrorInvalidValue, "its memory was not freed since the last launch");
        if (lives)
            require(run_free(memory->params.pointer) == hipSuccess, hipErrorInvalidValue);
        // Counts live memory: until the block, and with it this pointer, is released.
        const int device = memory->device.ordinal;
        count_both(device, memory->params.bytes);
        std::shared_ptr<void> living(memory->params.pointer, [memory, device](void *) {
            count_both(device, -memory->params.bytes);
        });
        runtime().sharing.publish({.begin = reinterpret_cast<u64>(memory->params.pointer),
                                   .size = memory->params.bytes,
                                   .kind = Block::Kind::device,
                                   .device = device,
                                   .borrowed = true,
                                   .storage = std::move(living)});
    });
}

} // namespace nw::hipsim

using namespace nw;
using namespace nw::hipsim;

extern "C" {

hipError_t get_memory(int device, int which, void *value) asm("hipDeviceGetGraphMemAttribute");
hipError_t get_memory(int device, int which, void *value) {
    return api("hipDeviceGetGraphMemAttribute", [&] {
        runtime().device(device);
        require(value && which >= 0 && which < attribute_count, hipErrorInvalidValue);
        *static_cast<u64 *>(value) = counters(device)[which];
    });
}

// Only the high-water marks can be set, and only to the current values.
hipError_t set_memory(int device, int which, void *value) asm("hipDeviceSetGraphMemAttribute");
hipError_t set_memory(int device, int which, void *value) {
    return api("hipDeviceSetGraphMemAttribute", [&] {
        runtime().device(device);
        require(value && (which == used_high || which == reserved_high), hipErrorInvalidValue);
        require(*static_cast<const u64 *>(value) == 0, hipErrorInvalidValue);
        counters(device)[which] = counters(device)[which - 1].load();
    });
}

// Unused memory is not kept.
hipError_t hipDeviceGraphMemTrim(int device) {
    return api(__func__, [&] { runtime().device(device); });
}
}
