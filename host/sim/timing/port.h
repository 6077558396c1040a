// SPDX-License-Identifier: MIT
// A unit that serves one thing at a time, and a queue with a fixed number of entries: what makes
// requests wait for each other.
#pragma once
#include <vector>

#include "sim/timing/memory_units.h"

namespace nw::sim::timing {

// Requests are told their whole way at once, so they come to a port in no strict order of time: one
// that waited elsewhere must not hold up those that arrive before it. Time is cut into slots, each
// with the work that still fits; work goes to the first slots with room. A slot is short against
// the queues that build up, and long enough that few are visited.
class Port {
public:
    Port();

    // Takes `work` ticks of the unit's time from `at` on. Returns how many ticks later than an idle
    // unit it is done.
    u64 reserve(u64 at, u32 work);

    static constexpr u32 slot_ticks = 16 * ticks_per_cycle;
    static constexpr u32 slot_count = 2048; // as far as reservations reach ahead of the present

private:
    struct Slot {
        u32 number;
        u32 used; // ticks
    };

    Slot &open(u64 number);
    u64 first_with_room(u64 number);

    std::vector<Slot> slots_;
    u64 newest_ = 0;
    u64 full_from_ = 0, full_to_ = 0; // slots of a queue that was walked last: all of them are full
};

// As many requests as there are entries may be on their way: one more waits until the oldest has
// given its entry back.
class Queue {
public:
    explicit Queue(u32 entries) : until_(entries) {}

    // When `count` requests that come at `at` have their entries. Call leave() right afterwards,
    // with when they give them back.
    u64 enter(u64 at, u32 count) const;
    void leave(u64 at, u32 count);

private:
    size_t after(size_t n) const { return n + 1 == until_.size() ? 0 : n + 1; }

    std::vector<u64> until_;
    size_t next_ = 0;
};

} // namespace nw::sim::timing
