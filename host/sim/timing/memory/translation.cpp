// SPDX-License-Identifier: MIT
#include "sim/timing/memory/translation.h"

namespace nw::sim::timing {

const PageCache::Entry *PageCache::use_older(u64 page) {
    const auto found = std::ranges::find(pages_, page, &Entry::page);
    if (found == pages_.end())
        return nullptr;
    std::rotate(pages_.begin(), found, found + 1);
    return &pages_.front();
}

void PageCache::fill(u64 page, u64 there) {
    if (pages_.size() == entries_)
        pages_.pop_back();
    pages_.insert(pages_.begin(), {page, there});
}

Translation::Translation(const Part &part, const Costs &costs)
    : utcl0_entries_(costs.utcl0_entries), utcl1_(ticks(costs.utcl1_latency)),
      utcl2_(ticks(costs.utcl2_latency)), walk_(ticks(part.cycles_of_ns(costs.page_walk))),
      arrays_(part.shader_arrays, PageCache(costs.utcl1_entries)) {}

u64 Translation::miss(PageCache &utcl0, u32 array, u64 page, u64 at) {
    u64 there;
    if (const PageCache::Entry *known = arrays_[array].use(page)) {
        there = std::max(at + utcl1_, known->there);
    } else {
        const u64 asked = at + utcl2_;
        const auto [entry, first] = pages_.try_emplace(page, all_known_ ? 0 : asked + walk_);
        there = std::max(asked, entry->second);
        arrays_[array].fill(page, there);
    }
    utcl0.fill(page, there);
    return there;
}

void Translation::forget_near() {
    for (PageCache &utcl1 : arrays_)
        utcl1.clear();
    pages_.clear();
    all_known_ = true;
}

void Translation::forget() {
    forget_near();
    all_known_ = false;
}

} // namespace nw::sim::timing
