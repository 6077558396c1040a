// SPDX-License-Identifier: MIT
// The memory hierarchy shared by compute units: GL1, L2, MALL and DRAM.
#pragma once
#include <algorithm>

#include "sim/timing/core/port.h"
#include "sim/timing/memory/channels.h"
#include "sim/timing/memory/memory_system.h"

namespace nw::sim::timing {

class MemoryLevels {
public:
    MemoryLevels(const Part &part, const Costs &costs);

    using Level = MemoryWatcher::Level;
    using Policy = VectorRequest::Policy;

    // A miss: one line's request that leaves a cache of the CU.
    struct Miss {
        u64 at; // ticks, like all times here
        u64 line;
        Sectors sectors;
        u32 array; // shader array that it comes from
        Policy policy = Policy::normal;
        i64 sooner = 0; // latency that the requesting cache saves against a vector L0
    };
    struct Arrival {
        u64 at; // in the registers
        Level level;
    };
    Arrival load(const Miss &miss);
    Arrival atomic(const Miss &miss, u32 lanes); // with the result in the registers
    u64 store(const Miss &miss);                 // acknowledged

    void touch(const Miss &miss, VectorRequest::Kind kind); // only caches and counts

    void start_kernel(); // invalidates GL1
    void forget();       // also empties L2 and MALL
    void warm_l2(u64 line, Sectors sectors);
    void rename() {
        l2_.rename();
        mall_.rename();
    }
    void displace(u64 l2_lines, u64 mall_lines) {
        l2_.displace(l2_lines);
        mall_.displace(mall_lines);
    }
    LastLevels contents() const { return {l2_.contents(), mall_.contents()}; }
    MemoryCounts counts;

private:
    struct L2Channel {
        Port port;
        Queue misses;
    };
    struct DramChannel {
        Port dram, mall;
    };
    // A request on its way down: its arrival in the registers if the next level hits.
    struct Walk {
        const Miss &miss;
        Sectors missing;
        u64 delay = 0;  // queueing delay so far
        u64 answer = 0; // latest arrival of the sectors found
        Level level = Level::gl1;

        u64 reach(u64 latency) const { return miss.at + latency / 2 + delay; }
        u64 back(u64 latency) const {
            return std::max(miss.at, miss.at + latency + delay - miss.sooner);
        }
        void found(Sectors sectors, u64 at, Level where);
    };
    void visit_gl1(Walk &walk);
    void visit_l2(Walk &walk);
    void visit_memory(Walk &walk, L2Channel &channel);
    u64 leave_l2(const Cache::Evicted &evicted, u64 at);
    u64 leave_mall(const Cache::Evicted &evicted, u64 at);
    u64 write_l2(const Miss &miss, u64 at);
    void touch_memory(const Miss &miss, Sectors missing);
    void touch_write(const Miss &miss);
    void touch_evicted(Cache::Evicted evicted);

    struct Latency {
        u64 gl1, l2, mall, dram, store, atomic;
    } latency_;
    struct Work { // ticks per sector; atomics: per lane
        u32 gl1, l2, mall, dram, atomic;
    } work_;
    struct Gl1 {
        Cache cache;
        Arrivals arrivals;
        Port port;
    };
    std::vector<Gl1> gl1_; // per shader array; none on gfx12
    Cache l2_, mall_;
    Arrivals l2_arrivals_;
    Channels l2_map_, dram_map_;
    std::vector<L2Channel> l2_channels_;
    std::vector<DramChannel> dram_channels_;
};

} // namespace nw::sim::timing
