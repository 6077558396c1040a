// SPDX-License-Identifier: MIT
// Cache tags, and lines in flight to a cache.
#pragma once
#include <vector>

#include "sim/timing/memory/memory_units.h"

namespace nw::sim::timing {

// A set-associative tag array. Lines are filled and written by sectors. Replacement is LRU, or
// random as in the caches of the vector path (T-030).
class Cache {
public:
    enum class Replacement : u8 { lru, random };

    // With 0 bytes: a cache that never hits.
    Cache(u64 bytes, u32 ways, Replacement replacement = Replacement::lru);

    // Returns the valid sectors of the line, and makes it the most recently used.
    Sectors use(u64 line);

    struct Evicted {
        u64 line;
        Sectors dirty; // sectors whose only copy was evicted
    };
    enum class Age : u8 { youngest, middle }; // middle: is evicted earlier
    // Adds sectors to a line; use() must have been called for it just before.
    Evicted fill(u64 line, Sectors valid, Sectors dirty = 0, Age age = Age::youngest);

    void drop(u64 line);
    void clear();
    // Other lines in their places, as dirty, that are never asked for.
    void rename();
    // `lines` lines enter that are never accessed.
    void displace(u64 lines);
    bool exists() const { return ways_ != 0; }

    struct Contents {
        u64 lines = 0;  // that fit; 0: there is no such cache
        u64 held = 0;   // valid lines
        u64 dirty = 0;  // sectors
        u64 filled = 0; // lines that entered so far
    };
    const Contents &contents() const { return contents_; }

private:
    // line << 4 | dirty << 2 | valid, most recently used first; 0 is empty.
    u64 *set_of(u64 line) { return &tags_[line % sets_ * ways_]; }
    u32 victim(u32 first);
    u32 random();

    u64 sets_;
    u32 ways_;
    Replacement replacement_;
    u32 random_ = 1;
    std::vector<u64> tags_;
    Contents contents_;
};

// Arrival times of requested sectors: a request for a sector in flight shares its arrival. Lines
// that share an entry keep the latest time, which suffices while entries far outnumber requests in
// flight.
class Arrivals {
public:
    explicit Arrivals(u32 entries) : entries_(entries) {}

    // Sectors of the line that arrive after `now`, and when the last one does.
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
