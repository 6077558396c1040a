// SPDX-License-Identifier: MIT
#include "nw/tune/thin.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "runtime/choose.h"

namespace nw::cli {

namespace {

using Row = TunedShapes::value_type;

f64 gain(const Row *row) { return row->second.default_us / row->second.us - 1; }

// The nearest row, as choose() finds it; null: none is near enough.
const Row *nearest(const std::vector<const Row *> &rows, const Row *to) {
    const Row *found = nullptr;
    f64 least = farthest * farthest;
    for (const Row *row : rows) {
        const f64 dn = std::log2(row->first.first) - std::log2(to->first.first);
        const f64 dk = std::log2(row->first.second) - std::log2(to->first.second);
        if (const f64 d = dn * dn + dk * dk; d < least || (d == least && !found)) {
            least = d;
            found = row;
        }
    }
    return found;
}

// Whether this shape, without a row of its own, gets a kernel slower by less than least_gain.
bool served(const Row *row, const std::vector<const Row *> &by, f64 least_gain) {
    const TunedShape &own = row->second;
    const Row *const near = nearest(by, row);
    if (!near)
        return gain(row) < least_gain;
    return near->second.kernel == own.kernel ||
           (near->second.kernel == own.next && own.next_us / own.us - 1 < least_gain);
}

} // namespace

TunedShapes thinned(TunedShapes all, f64 least_gain) {
    std::vector<const Row *> kept;
    for (const Row &row : all)
        kept.push_back(&row);
    std::vector<const Row *> candidates = kept, removed;
    std::ranges::stable_sort(candidates, {}, gain); // the least first
    for (const Row *const row : candidates) {
        if (gain(row) >= least_gain)
            break;
        std::vector<const Row *> rest = kept, gone = removed;
        std::erase(rest, row);
        gone.push_back(row);
        if (std::ranges::all_of(gone,
                                [&](const Row *one) { return served(one, rest, least_gain); }))
            kept = std::move(rest), removed = std::move(gone);
    }
    for (const auto shape : [&] {
             std::vector<std::pair<u32, u32>> out;
             for (const Row *const row : removed)
                 out.push_back(row->first);
             return out;
         }())
        all.erase(shape);
    return all;
}

} // namespace nw::cli
