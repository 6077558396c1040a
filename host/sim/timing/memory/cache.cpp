// SPDX-License-Identifier: MIT
#include "sim/timing/memory/cache.h"

#include <algorithm>
#include <cmath>

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
      replacement_(replacement), tags_(sets_ * ways_), contents_{.lines = tags_.size()} {}

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
        contents_.dirty += count(dirty & ~dirty_of(*set));
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
    ++contents_.filled;
    contents_.held += evicted == 0;
    contents_.dirty += count(dirty);
    contents_.dirty -= count(dirty_of(evicted));
    return {line_of(evicted), dirty_of(evicted)};
}

// A random way from `first` on: lines placed in the middle leave the younger half alone.
u32 Cache::victim(u32 first) {
    return first + static_cast<u32>(u64{random()} * (ways_ - first) >> 32);
}

u32 Cache::random() {
    random_ = random_ * 1664525 + 1013904223; // Numerical Recipes' generator
    return random_;
}

void Cache::drop(u64 line) {
    if (!ways_)
        return;
    u64 *set = set_of(line), *end = set + ways_;
    u64 *found = std::find_if(set, end, [&](u64 tag) { return tag && line_of(tag) == line; });
    if (found == end)
        return;
    --contents_.held;
    contents_.dirty -= count(dirty_of(*found));
    std::move(found + 1, end, found);
    *(end - 1) = 0;
}

void Cache::rename() {
    constexpr u64 elsewhere = u64{1} << 52; // no line's
    for (u64 &tag : tags_)
        tag |= tag ? elsewhere << flag_bits : 0;
}

void Cache::displace(u64 lines) {
    if (!ways_ || !lines)
        return;
    const f64 kept = std::pow(1 - 1.0 / ways_, static_cast<f64>(lines) / static_cast<f64>(sets_));
    for (u64 n = 0; n < sets_; ++n) {
        u64 *set = &tags_[n * ways_], *end = set + ways_;
        const u64 entering = lines / sets_ + (n < lines % sets_);
        u64 *const oldest = end - std::min<u64>(entering, ways_);
        const auto leaves = [&](u64 &tag) {
            return tag &&
                   (replacement_ == Replacement::lru ? &tag >= oldest : random() * 0x1p-32 > kept);
        };
        for (u64 *tag = set; tag != end; ++tag)
            if (leaves(*tag)) {
                --contents_.held;
                contents_.dirty -= count(dirty_of(*tag));
                *tag = 0;
            }
        std::stable_partition(set, end, [](u64 tag) { return tag != 0; });
    }
}

void Cache::clear() {
    std::fill(tags_.begin(), tags_.end(), 0);
    random_ = 1;
    contents_.held = contents_.dirty = 0;
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
