// SPDX-License-Identifier: MIT
#include "nw/tune/thin.h"

#include <algorithm>
#include <vector>

#include "runtime/nearest_shape.h"

namespace nw::cli {

namespace {

using Row = TunedShapes::value_type;

f64 gain(const Row *row) { return row->second.default_us / row->second.us - 1; }

// Whether all these shapes, without rows of their own, get kernels slower by less than least_gain:
// those of the nearest of the rows left, or the default.
bool served(const std::vector<const Row *> &shapes, const std::vector<const Row *> &rows,
            f64 least_gain) {
    std::vector<LogShape> at;
    for (const Row *row : rows)
        at.push_back(log_shape(row->first.first, row->first.second));
    return std::ranges::all_of(shapes, [&](const Row *shape) {
        const TunedShape &own = shape->second;
        const auto near = nearest_shape(at, log_shape(shape->first.first, shape->first.second));
        if (!near)
            return gain(shape) < least_gain;
        const std::string &kernel = rows[near->index]->second.kernel;
        return kernel == own.kernel ||
               (kernel == own.next && own.next_us / own.us - 1 < least_gain);
    });
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
        if (served(gone, rest, least_gain))
            kept = std::move(rest), removed = std::move(gone);
    }
    for (const Row *const row : removed)
        all.erase(all.find(row->first));
    return all;
}

} // namespace nw::cli
