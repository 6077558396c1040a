// SPDX-License-Identifier: MIT
// Contention: a unit that serves one request at a time, and a queue with a fixed number of entries.
#pragma once
#include <vector>

#include "sim/timing/memory/memory_units.h"

namespace nw::sim::timing {

// Requests reserve their whole path at once, so they reach a port out of time order: a request
// delayed elsewhere must not delay earlier arrivals. Time is divided into slots, each with its
// remaining capacity; work goes to the first slots with room. Slots are short compared with typical
// queues, and long enough that few are visited.
class Port {
public:
    Port();

    // Reserves `work` ticks of the unit from `at` on. Returns the delay relative to an idle unit,
    // in ticks.
    u64 reserve(u64 at, u32 work);

    static constexpr u32 slot_ticks = 16 * ticks_per_cycle;
    static constexpr u32 slot_count = 2048; // how far reservations reach ahead of the present

private:
    struct Slot {
        u32 number;
        u32 used; // ticks
    };

    Slot &open(u64 number);
    u64 first_with_room(u64 number);

    std::vector<Slot> slots_;
    u64 newest_ = 0;
    u64 full_from_ = 0, full_to_ = 0; // full slots of the queue walked last
};

// A bounded queue: with all entries in flight, a request waits until the oldest releases its entry.
class Queue {
public:
    explicit Queue(u32 entries) : until_(entries) {}

    // When `count` requests that arrive at `at` get their entries. Call leave() right afterwards
    // with their release time.
    u64 enter(u64 at, u32 count) const;
    void leave(u64 at, u32 count);

private:
    size_t after(size_t n) const { return n + 1 == until_.size() ? 0 : n + 1; }

    std::vector<u64> until_;
    size_t next_ = 0;
};

} // namespace nw::sim::timing
