// SPDX-License-Identifier: MIT
#include "sim/timing/cache.h"

#include <algorithm>

namespace nw::sim::timing {

namespace {

constexpr u32 flag_bits = 2 * line_sectors;

u64 line_of(u64 tag) { return tag >> flag_bits; }
Sectors dirty_of(u64 tag) { return tag >> line_sectors & all_sectors; }
u64 tag_of(u64 line, Sectors dirty, Sectors valid) {
    return line << flag_bits | u64{dirty} << line_sectors | valid;
}

} // namespace

Cache::Cache(u64 bytes, u32 ways, Replacement replacement)
    : sets_(std::max<u64>(1, bytes / line_bytes / ways)), ways_(bytes ? ways : 0),
      replacement_(replacement), tags_(sets_ * ways_) {}

Sectors Cache::use(u64 line) {
    if (!ways_)
        return 0;
    u64 *set = set_of(line), *end = set + ways_;
    u64 *found = set;
    while (found != end && (line_of(*found) != line || *found == 0))
        ++found;
    if (found == end)
        return 0;
    u64 tag = *found;
    std::move_backward(set, found, found + 1);
    *set = tag;
    return tag & all_sectors;
}

Cache::Evicted Cache::fill(u64 line, Sectors valid, Sectors dirty, Age age) {
    if (!ways_)
        return {line, dirty};
    u64 *set = set_of(line), *end = set + ways_;
    u64 tag = tag_of(line, dirty, valid);
    if (*set != 0 && line_of(*set) == line) {
        *set |= tag;
        return {};
    }
    u32 first = age == Age::middle ? ways_ / 2 : 0;
    u64 *place = set + first, *out = end - 1;
    if (replacement_ == Replacement::random && *out != 0)
        out = set + victim(first);
    u64 evicted = *out;
    std::move_backward(place, out, out + 1);
    *place = tag;
    return {line_of(evicted), dirty_of(evicted)};
}

// A random way from `first` on: lines placed in the middle leave the younger half alone.
u32 Cache::victim(u32 first) {
    random_ = random_ * 1664525 + 1013904223; // Numerical Recipes' generator
    return first + static_cast<u32>(u64{random_} * (ways_ - first) >> 32);
}

void Cache::drop(u64 line) {
    if (!ways_)
        return;
    u64 *set = set_of(line), *end = set + ways_;
    u64 *found = std::find_if(set, end, [&](u64 tag) { return tag && line_of(tag) == line; });
    if (found == end)
        return;
    std::move(found + 1, end, found);
    *(end - 1) = 0;
}

void Cache::clear() {
    std::fill(tags_.begin(), tags_.end(), 0);
    random_ = 1;
}

Arrivals::Pending Arrivals::pending(u64 line, Sectors wanted, u64 now) const {
    Pending pending;
    if (!wanted || now >= latest_)
        return pending;
    const Entry &entry = entries_[line % entries_.size()];
    if (entry.line != line)
        return pending;
    for (u32 s = 0; s < line_sectors; ++s)
        if (wanted >> s & 1 && entry.at[s] > now) {
            pending.sectors |= 1u << s;
            pending.until = std::max(pending.until, entry.at[s]);
        }
    return pending;
}

void Arrivals::expect(u64 line, Sectors sectors, u64 at) {
    Entry &entry = entries_[line % entries_.size()];
    if (entry.line != line)
        entry = {line, {}};
    for (u32 s = 0; s < line_sectors; ++s)
        if (sectors >> s & 1)
            entry.at[s] = at;
    latest_ = std::max(latest_, at);
}

} // namespace nw::sim::timing
