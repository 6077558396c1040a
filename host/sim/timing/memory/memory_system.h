// SPDX-License-Identifier: MIT
// Memory latency model: coalescing, L0, scalar and instruction caches, GL1, L2, MALL, DRAM.
//
// Requests are made in time order. Each reserves the resources on its path (ports, banks, channels,
// queue entries) and gets its completion time at once: there are no callbacks. Times are cycles of
// the shader clock.
#pragma once
#include <memory>
#include <span>

#include "base/types.h"
#include "sim/timing/constants/costs.h"
#include "sim/timing/constants/part.h"
#include "sim/timing/memory/cache.h"

namespace nw::sim::timing {

// Footprint of a vector memory instruction: runs of consecutive 64-byte sectors, in lane order. A
// sector's number is its address / 64.
struct SectorRun {
    u64 first : 48;
    u64 count : 16;
};

struct VectorRequest {
    enum class Kind : u8 { load, store, atomic, atomic_return };
    enum class Policy : u8 { normal, stream, device, system }; // from the cache policy bits
    Kind kind = Kind::load;
    Policy policy = Policy::normal;
    u32 cu = 0;         // compute unit of the part, 0-based; two to a WGP
    u32 lanes = 32;     // active ones
    u32 lane_bytes = 4; // accessed by each of them
    std::span<const SectorRun> runs;
};

struct Answer {
    u64 free = 0; // when the CU's address unit is available
    u64 done = 0; // load: all data in the registers; store: acknowledged
};

// Totals of a launch.
struct MemoryCounts {
    struct Cache {
        u64 hits = 0, misses = 0;
    };
    Cache l0, scalar, instruction, gl1, l2, mall;
    u64 dram_read = 0, dram_write = 0; // bytes
    u64 l2_write = 0;                  // bytes that L2 evicted
    u64 requests = 0, sectors = 0;     // of vector memory instructions
    u64 written = 0;                   // of these sectors, by stores and atomics

    // Traffic of MALL and DRAM.
    MemoryCounts moved_since(const MemoryCounts &before) const {
        MemoryCounts moved;
        moved.mall = {mall.hits - before.mall.hits, mall.misses - before.mall.misses};
        moved.dram_read = dram_read - before.dram_read;
        moved.dram_write = dram_write - before.dram_write;
        moved.l2_write = l2_write - before.l2_write;
        return moved;
    }
};

// Observes every vector and scalar request, for traces. `level`: the furthest one that answered.
struct MemoryWatcher {
    enum class Level : u8 { l0, gl1, l2, mall, dram };
    virtual ~MemoryWatcher() = default;
    virtual void answered(u64 sent, u64 done, u32 cu, Level level) = 0;
};

struct LastLevels {
    Cache::Contents l2, mall;
};

class MemorySystem {
public:
    MemorySystem(const Part &part, const Costs &costs);
    MemorySystem(const MemorySystem &); // with what its caches hold
    ~MemorySystem();

    Answer vector(u64 now, const VectorRequest &request);
    void touch(const VectorRequest &request);             // only its effect on caches and counts
    u64 scalar(u64 now, u32 wgp, u64 address, u32 bytes); // when it is in the SGPRs
    u64 instructions(u64 now, u32 wgp, u64 address);      // when its instructions can issue

    // Between launches L2, MALL and the instruction caches keep their contents, as on hardware; L0,
    // scalar caches and GL1 are invalidated at kernel start. Queues are empty, time starts at 0.
    void start_kernel();
    void forget();      // all caches empty
    void forget_data(); // the same, but of the instruction caches
    // L2 has this code, the instruction caches as much of its beginning as they hold.
    void warm_code(u64 address, u64 bytes);
    const MemoryCounts &counts() const; // since start_kernel()
    LastLevels last_levels() const;
    // L2 and MALL have as many other lines, as dirty as theirs, that nobody asks for.
    void rename_lines();
    // `l2_lines` and `mall_lines` of these enter L2 and MALL.
    void displace(u64 l2_lines, u64 mall_lines);
    void watch(MemoryWatcher *); // null: none

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace nw::sim::timing
