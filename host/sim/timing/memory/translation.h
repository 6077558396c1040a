// SPDX-License-Identifier: MIT
// Address translation (T-031): a small cache for each CU and for the scalar and instruction caches
// of a WGP (UTCL0), one for each shader array (UTCL1), one for the part (UTCL2), and the walk of
// the page table.
#pragma once
#include <algorithm>
#include <unordered_map>
#include <vector>

#include "sim/timing/constants/costs.h"
#include "sim/timing/constants/part.h"
#include "sim/timing/memory/memory_units.h"

namespace nw::sim::timing {

// Fully associative, LRU: pages, and when their translations are there.
class PageCache {
public:
    explicit PageCache(u32 entries) : entries_(entries) {}

    struct Entry {
        u64 page;
        u64 there; // ticks
    };
    // The page's entry, as the most recently used one; null: a miss.
    const Entry *use(u64 page) {
        if (!pages_.empty() && pages_.front().page == page)
            return &pages_.front();
        return use_older(page);
    }
    void fill(u64 page, u64 there); // use() must have missed just before
    void clear() { pages_.clear(); }

private:
    const Entry *use_older(u64 page);

    size_t entries_;
    std::vector<Entry> pages_; // most recently used first
};

class Translation {
public:
    Translation(const Part &part, const Costs &costs);

    PageCache utcl0() const { return PageCache(utcl0_entries_); }
    // When a request that leaves its cache at `at` has the line's address.
    u64 translated(PageCache &utcl0, u32 array, u64 line, u64 at) {
        const u64 page = line / page_lines;
        if (const PageCache::Entry *known = utcl0.use(page))
            return std::max(at, known->there);
        return miss(utcl0, array, page, at);
    }

    // All levels have the line's translation.
    void warm(PageCache &utcl0, u32 array, u64 line) {
        pages_[line / page_lines] = 0;
        translated(utcl0, array, line, 0);
    }

    // Other pages have been used since: UTCL2 alone still has these. It has as many as a model's
    // weights need.
    void forget_near();
    // The first use of every page is to come.
    void forget();

private:
    u64 miss(PageCache &utcl0, u32 array, u64 page, u64 at);

    // Fragments that the driver maps (T-031).
    static constexpr u64 page_lines = (u64{2} << 20) / line_bytes;

    const u32 utcl0_entries_;
    const u64 utcl1_, utcl2_, walk_;     // ticks
    std::vector<PageCache> arrays_;      // UTCL1
    std::unordered_map<u64, u64> pages_; // UTCL2: when a page's translation is there
    bool all_known_ = false;
};

} // namespace nw::sim::timing
