// SPDX-License-Identifier: MIT
// Which tuned shape stands for another one.
#pragma once
#include <cmath>
#include <optional>
#include <span>

#include "base/types.h"

namespace nw {

// Largest distance to a tuned shape that is still used, in octaves of n and k.
inline constexpr f64 farthest = 1;

// A shape as logarithms to the base 2.
struct LogShape {
    f64 n, k;
};
inline LogShape log_shape(u64 n, u64 k) {
    return {std::log2(static_cast<f64>(n)), std::log2(static_cast<f64>(k))};
}

struct NearShape {
    u64 index;
    f64 distance; // octaves
};

// The nearest one; of several the first; none if all are farther than `farthest`.
inline std::optional<NearShape> nearest_shape(std::span<const LogShape> shapes, LogShape to) {
    std::optional<NearShape> found; // with the square of the distance
    for (u64 i = 0; i < shapes.size(); ++i) {
        const f64 dn = shapes[i].n - to.n, dk = shapes[i].k - to.k, d = dn * dn + dk * dk;
        if (found ? d < found->distance : d <= farthest * farthest)
            found = {i, d};
    }
    if (found)
        found->distance = std::sqrt(found->distance);
    return found;
}

} // namespace nw
