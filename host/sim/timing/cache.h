// SPDX-License-Identifier: MIT
// The lines that a cache holds, and those in flight to it.
#pragma once
#include <vector>

#include "sim/timing/memory_units.h"

namespace nw::sim::timing {

// A set-associative array of tags that evicts what was used longest ago. Lines are filled, and
// written, by sectors.
class Cache {
public:
    // Of no bytes: a cache that never holds anything.
    Cache(u64 bytes, u32 ways);

    // The sectors of the line that are held. The line is now the one used last.
    Sectors use(u64 line);

    struct Evicted {
        u64 line;
        Sectors dirty; // of these the cache held the only copy
    };
    enum class Age : u8 { youngest, middle }; // middle: is evicted earlier
    // Adds sectors to the line, which use() was called for just before.
    Evicted fill(u64 line, Sectors valid, Sectors dirty = 0, Age age = Age::youngest);

    void drop(u64 line);
    void clear();
    bool exists() const { return ways_ != 0; }

private:
    // line << 4 | dirty << 2 | valid, the one used last first; 0 is nothing.
    u64 *set_of(u64 line) { return &tags_[line % sets_ * ways_]; }

    u64 sets_;
    u32 ways_;
    std::vector<u64> tags_;
};

// When sectors arrive that have been asked for: whoever wants one that is on its way shares its
// arrival. Holds the latest of the lines that share an entry, which is enough while entries are
// many more than requests on their way.
class Arrivals {
public:
    explicit Arrivals(u32 entries) : entries_(entries) {}

    // The sectors of the line that arrive after `now`, and when all of them will have.
    struct Pending {
        Sectors sectors = 0;
        u64 until = 0;
    };
    Pending pending(u64 line, Sectors wanted, u64 now) const;
    void expect(u64 line, Sectors sectors, u64 at);

private:
    struct Entry {
        u64 line = 0;
        u64 at[line_sectors] = {};
    };

    std::vector<Entry> entries_;
    u64 latest_ = 0;
};

} // namespace nw::sim::timing
